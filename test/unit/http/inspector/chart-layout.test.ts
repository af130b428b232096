import ELK from 'elkjs/lib/elk.bundled.js';
import { describe, expect, it } from 'vitest';
import { chartGraph } from '../../../../http/inspector/chart/chart-graph.ts';
import { pathThrough, type NodeLayout } from '../../../../http/inspector/chart/chart-layout.ts';
import { layOut } from '../../../../http/inspector/chart/lay-out.ts';

describe('the drawing of the session chart', () => {
  it('has a place for every state and transition, and no two states in one place', async () => {
    const graph = chartGraph();

    const layout = await layOut(new ELK.default(), graph);

    expect(Object.keys(layout.nodes).toSorted()).toEqual(graph.nodes.map(({ id }) => id).toSorted());
    expect(Object.keys(layout.edges).toSorted()).toEqual(graph.edges.map(({ id }) => id).toSorted());
    const outer = graph.nodes.filter(({ parent }) => parent === null).map(({ id }) => layout.nodes[id]);
    expect(outer.flatMap((one, index) => outer.slice(index + 1).filter((other) => overlap(one, other)))).toEqual([]);
    for (const { label } of Object.values(layout.edges)) {
      expect(label.x + label.width).toBeLessThanOrEqual(layout.width);
      expect(label.y + label.height).toBeLessThanOrEqual(layout.height);
    }
  });

  it('draws a way with rounded corners from its first point to its last', () => {
    expect(pathThrough([{ x: 0, y: 0 }, { x: 0, y: 20 }, { x: 20, y: 20 }])).toBe('M0 0L0 14Q0 20 6 20L20 20');
  });
});

function overlap(one: NodeLayout | undefined, other: NodeLayout | undefined): boolean {
  if (one === undefined || other === undefined) return true;
  const apart = one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
  return !apart;
}
