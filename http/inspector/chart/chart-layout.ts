/** The places of what the chart is drawn of, in pixels of an unscaled drawing. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface NodeLayout extends Point {
  readonly width: number;
  readonly height: number;
}

export interface EdgeLayout {
  readonly points: readonly Point[];
  readonly label: NodeLayout;
}

export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  /** By state. A state inside of another is placed in that one. */
  readonly nodes: Readonly<Record<string, NodeLayout>>;
  /** By the edge's id. Points and labels are placed in the whole. */
  readonly edges: Readonly<Record<string, EdgeLayout>>;
}

export const LABEL_LINE_HEIGHT = 12;

/** The records of a transition as lines. Names are long, and labels stand side by side: each is broken after its first word. */
export function labelLines(types: readonly string[]): readonly string[] {
  return types.flatMap((type) => {
    const end = type.indexOf('_') + 1;
    return end === 0 ? [type] : [type.slice(0, end), type.slice(end)];
  });
}

const CORNER_RADIUS = 6;

/** A way through points as an SVG path, its corners rounded. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const steps = rest.map((point, index) => {
    const before = points[index] ?? first;
    const after = points[index + 2];
    if (after === undefined) return `L${point.x} ${point.y}`;
    const into = towards(point, before);
    const out = towards(point, after);
    return `L${into.x} ${into.y}Q${point.x} ${point.y} ${out.x} ${out.y}`;
  });
  return `M${first.x} ${first.y}${steps.join('')}`;
}

function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const share = length === 0 ? 0 : Math.min(CORNER_RADIUS, length / 2) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
