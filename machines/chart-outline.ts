/**
 * The session chart as a list of its transitions, read out of the machine itself: what tables, pictures and tests of the
 * chart are made from, so that none of them can say something else than the chart does.
 */
import type { AnyStateNode } from 'xstate';
import type { ChartState } from './projections/status.ts';
import type { RecordType } from './records.ts';
import { sessionChart } from './session-chart.ts';

export interface ChartTransition {
  /** A state of the chart, or one that has states of its own: `running`. */
  readonly source: ChartState | 'running';
  readonly type: RecordType;
  /** The guards that must all hold, by name. Of the transitions of one source and type the first whose guards hold is taken. */
  readonly guards: readonly string[];
  /** Null where the record leaves the state as it is. */
  readonly target: ChartState | null;
}

/** In the order in which the chart tries them. */
export function chartTransitions(): readonly ChartTransition[] {
  return nodesBelow(sessionChart.root).flatMap((node) =>
    [...node.transitions].flatMap(([type, transitions]) =>
      transitions.map(({ guard, target }): ChartTransition => {
        const [targetNode] = target ?? [];
        return {
          source: nameOf(node) as ChartTransition['source'],
          type: type as RecordType,
          guards: guardNames(guard),
          target: targetNode === undefined ? null : (nameOf(leafOf(targetNode)) as ChartState),
        };
      }),
    ),
  );
}

function nodesBelow(node: AnyStateNode): readonly AnyStateNode[] {
  return Object.values(node.states).flatMap((child) => [child, ...nodesBelow(child)]);
}

/** The state that one enters who enters a node. */
export function leafOf(node: AnyStateNode): AnyStateNode {
  const first = node.type === 'compound' ? node.initial.target[0] : undefined;
  return first === undefined ? node : leafOf(first);
}

function nameOf(node: AnyStateNode): string {
  return node.path.join('.');
}

/** A guard is a name, or several names put together. */
function guardNames(guard: unknown): readonly string[] {
  if (guard === undefined) return [];
  if (typeof guard === 'string') return [guard];
  if (typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards)) return guard.guards.flatMap(guardNames);
  throw new Error('the session chart has a guard without a name');
}
