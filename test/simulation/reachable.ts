/** What the simulation must reach, read out of the charts themselves, and what of it a run has not reached. */
import { chartTransitions, type ChartTransition } from '../../machines/chart-outline.ts';
import { pairName, transitionName, type Coverage } from './coverage.ts';

/** States in which no commit ends with nothing open: what leads in and what leads out stand in one then. */
const WITHIN_ONE_COMMIT = new Set(['none', 'creating', 'ending']);
/** What they ask for is that nothing is open. */
const CLOSING_GUARDS = new Set(['nothingOpen', 'turnMayEnd', 'turnMayFail']);
const RUNNING = ['running.working', 'running.cancelling'];

/** The pairs of a state and an effect that can be open in it, for a death to fall in. */
function reachablePairs(): readonly string[] {
  const transitions = chartTransitions().flatMap(spreadOverRunning);
  const pairs = new Set<string>();
  const add = (state: string, kind: string): void => {
    const pair = `${state} ${kind}`;
    if (pairs.has(pair)) return;
    pairs.add(pair);
    for (const { source, target, guards } of transitions) {
      if (source === state && target !== null && !guards.some((guard) => CLOSING_GUARDS.has(guard))) add(target, kind);
    }
  };
  for (const { type, source, target } of transitions) {
    const [, kind] = /^(activation|model_call|tool_call|environment_.*)_started$/.exec(type) ?? [];
    if (kind !== undefined) add(target ?? source, kind);
  }
  const states = new Set(transitions.flatMap(({ source, target }) => [source, target ?? source]));
  const restful = [...states].filter((state) => !WITHIN_ONE_COMMIT.has(state)).map((state) => pairName(state, 'nothing'));
  return [...restful, ...[...pairs].map((pair) => pairName(...(pair.split(' ') as [string, string])))].sort();
}

export function missedIn(coverage: Coverage): readonly string[] {
  return reachablePairs().filter((pair) => !coverage.deaths.has(pair));
}

export function coverageInWords(coverage: Coverage): string {
  const expected = new Set(chartTransitions().flatMap(spreadOverRunning).map(({ source, type, target }) => transitionName(source, type, target ?? source)));
  const missed = [...expected].filter((name) => !coverage.transitions.has(name)).sort();
  return [
    `transitions: ${expected.size - missed.length} of ${expected.size} that some service can bring about; never taken: ${missed.join('; ') || 'none'}`,
    `deaths by state and open effect: ${table(coverage.deaths)}`,
    `failures: ${table(coverage.failures)}`,
  ].join('\n');
}

/** A transition of `running` is one of each state in it. */
function spreadOverRunning(transition: ChartTransition): readonly (Omit<ChartTransition, 'source'> & { readonly source: string })[] {
  return transition.source === 'running' ? RUNNING.map((source) => ({ ...transition, source })) : [transition];
}

function table(counts: ReadonlyMap<string, number>): string {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`).join('; ');
}
