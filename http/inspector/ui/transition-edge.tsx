import type { Edge, EdgeProps } from '@xyflow/react';
import { LABEL_LINE_HEIGHT, labelLines, pathThrough, type EdgeLayout } from '../chart/chart-layout.ts';

export interface TransitionEdgeData extends Record<string, unknown> {
  readonly layout: EdgeLayout;
  readonly types: readonly string[];
  readonly isVisited: boolean;
  /** The record that took it just now; null where none did. */
  readonly taken: number | null;
}

/** A transition, drawn where ELK has put it, labelled with its records. */
export function TransitionEdge({ data, markerEnd }: EdgeProps<Edge<TransitionEdgeData>>) {
  if (data === undefined) return null;
  const { layout, types, isVisited, taken } = data;
  const { x, y, width } = layout.label;
  const path = pathThrough(layout.points);
  return (
    <g className="transition" data-taken={taken !== null} data-visited={isVisited}>
      <path className="transition-line" d={path} {...(markerEnd === undefined ? {} : { markerEnd })} />
      {/* Another record is another element: its animation begins anew. */}
      {taken !== null && <path key={taken} className="transition-run" d={path} pathLength={1} />}
      <text className="transition-label" textAnchor="middle">
        {labelLines(types).map((line, index) => (
          <tspan key={index} x={x + width / 2} y={y + 9 + index * LABEL_LINE_HEIGHT}>
            {line}
          </tspan>
        ))}
      </text>
    </g>
  );
}
