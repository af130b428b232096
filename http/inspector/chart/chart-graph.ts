/** The session chart as nodes and edges: read out of the machine, so that the picture cannot say something else. */
import { chartTransitions, type ChartTransition } from '../../../machines/chart-outline.ts';
import { CHART_STATES, type ChartState } from '../../../machines/projections/status.ts';
import type { RecordType } from '../../../machines/records.ts';

/** A state, or `running`, which holds the states of a turn. */
export type ChartNodeId = ChartTransition['source'];

export interface ChartNode {
  readonly id: ChartNodeId;
  /** The state that this one is inside of. */
  readonly parent: ChartNodeId | null;
  /** The records that it takes and stays as it is. */
  readonly stays: readonly RecordType[];
}

export interface ChartEdge {
  readonly id: string;
  readonly source: ChartNodeId;
  readonly target: ChartState;
  readonly types: readonly RecordType[];
}

export interface ChartGraph {
  readonly nodes: readonly ChartNode[];
  readonly edges: readonly ChartEdge[];
}

export function chartGraph(): ChartGraph {
  const transitions = chartTransitions();
  const ids: readonly ChartNodeId[] = [...CHART_STATES.filter((state) => !state.startsWith('running.')), 'running', ...CHART_STATES.filter((state) => state.startsWith('running.'))];
  const nodes = ids.map((id): ChartNode => {
    const stays = transitions.filter(({ source, target }) => source === id && (target === null || target === id));
    return { id, parent: id.startsWith('running.') ? 'running' : null, stays: distinct(stays.map(({ type }) => type)) };
  });
  const edges = new Map<string, ChartEdge>();
  for (const { source, target, type } of transitions) {
    if (target === null || target === source) continue;
    const id = `${source}>${target}`;
    const types = edges.get(id)?.types ?? [];
    edges.set(id, { id, source, target, types: distinct([...types, type]) });
  }
  return { nodes, edges: [...edges.values()] };
}

/** The edge that a record took; null where it left the state as it was. A record that `running` takes is drawn from there. */
export function edgeTaken({ edges }: ChartGraph, taken: { readonly from: string; readonly to: string; readonly type: RecordType }): string | null {
  if (taken.from === taken.to) return null;
  const found = edges.find(({ source, target, types }) => target === taken.to && types.includes(taken.type) && (source === taken.from || taken.from.startsWith(`${source}.`)));
  return found?.id ?? null;
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
