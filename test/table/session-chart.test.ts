import { describe, expect, it } from 'vitest';
import { transition, type AnyStateNode } from 'xstate';
import { chartTransitions, type ChartTransition } from '../../machines/chart-outline.ts';
import { stateOf, stepOf, type SessionSnapshot } from '../../machines/chart-step.ts';
import { RefusedByChart, snapshotAfter } from '../../machines/dry-run.ts';
import { CHART_STATES, type ChartState } from '../../machines/projections/status.ts';
import { RECORD_VISIBILITY, type NewRecord, type RecordType } from '../../machines/records.ts';
import { sessionChart } from '../../machines/session-chart.ts';
import { EXAMPLES, type Example } from './guarded-cells.ts';
import { VARIANTS } from './record-variants.ts';
import { cellOf, type Cell } from './session-chart-table.ts';
import { situation, SITUATIONS, type Situation } from './situations.ts';

const RECORD_TYPES = Object.keys(RECORD_VISIBILITY) as readonly RecordType[];

/** The state that a record leads to; `no` where the chart refuses it. */
function outcomeOf(snapshot: SessionSnapshot, record: NewRecord): ChartState | 'no' {
  try {
    return stateOf(snapshotAfter(snapshot, record));
  } catch (error) {
    if (error instanceof RefusedByChart) return 'no';
    throw error;
  }
}

function variantsIn({ snapshot }: Situation, type: RecordType): readonly NewRecord[] {
  const { context } = snapshot;
  return VARIANTS[type](context).map(
    (data) => ({ sequence: context.last_sequence + 1, type, data }) as unknown as NewRecord,
  );
}

/** Every record of the type in every situation of the state, with what came of it. */
function outcomesIn(state: ChartState, type: RecordType): readonly string[] {
  return SITUATIONS.filter((one) => one.state === state).flatMap((one) =>
    variantsIn(one, type).map((record) => `${one.name}: ${outcomeOf(one.snapshot, record)} ${JSON.stringify(record.data)}`),
  );
}

function titleOf({ situation: name, type, says, leads }: Example): string {
  return `${leads === 'no' ? 'refuses' : 'accepts'} in "${name}" ${type} ${says}${leads === 'no' ? '' : `, which leads to ${leads}`}`;
}

const cellsThatAre = (wanted: (cell: Cell) => boolean): readonly (readonly [ChartState, RecordType, Cell])[] =>
  CHART_STATES.flatMap((state) =>
    RECORD_TYPES.map((type) => [state, type, cellOf(type, state)] as const).filter(([, , cell]) => wanted(cell)),
  );

describe('the session chart', () => {
  it.each(CHART_STATES)('reaches %s', (state) => {
    const reached = SITUATIONS.filter((one) => one.state === state);

    expect(reached.length).toBeGreaterThan(0);
    expect(reached.map(({ snapshot }) => stateOf(snapshot))).toEqual(reached.map(() => state));
  });

  it.each(RECORD_TYPES)('takes every %s that it can take, and no other', (type) => {
    const answers = SITUATIONS.flatMap((one) =>
      variantsIn(one, type).map((record) => [one.name, record, one.snapshot.can(record), outcomeOf(one.snapshot, record) !== 'no'] as const),
    );

    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter(([, , can, taken]) => can !== taken)).toEqual([]);
  });

  it.each(cellsThatAre((cell) => cell === '·'))('refuses in %s every %s', (state, type) => {
    const outcomes = outcomesIn(state, type);

    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => !outcome.includes(': no '))).toEqual([]);
  });

  it.each(cellsThatAre((cell) => cell !== '·' && cell !== '?'))('accepts in %s every %s: %s', (state, type, cell) => {
    const target = cell === 'stays' ? state : cell;
    const outcomes = outcomesIn(state, type);

    expect(outcomes.length).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => !outcome.includes(`: ${target} `))).toEqual([]);
  });

  it.each(EXAMPLES.map((one) => [titleOf(one), one] as const))('%s', (_title, { situation: name, record, leads }) => {
    const { snapshot } = situation(name);

    expect(outcomeOf(snapshot, record(snapshot.context))).toBe(leads);
  });

  it('is shown on both sides of each guard of the table', () => {
    const lacking = cellsThatAre((cell) => cell === '?').flatMap(([state, type]) => {
      const here = EXAMPLES.filter((one) => one.type === type && situation(one.situation).state === state);
      const sides = [here.some(({ leads }) => leads !== 'no'), here.some(({ leads }) => leads === 'no')];
      return sides.every(Boolean) ? [] : [`${state} ${type}: accepted ${sides[0]}, refused ${sides[1]}`];
    });

    expect(lacking).toEqual([]);
  });

  it('has an example only where its table says that it depends', () => {
    const idle = EXAMPLES.filter((one) => cellOf(one.type, situation(one.situation).state) !== '?');

    expect(idle.map(titleOf)).toEqual([]);
  });

  it('takes each of its transitions in some example', () => {
    const taken = new Set([...examplesTaken(), ...stepsTaken(), ...unconditionalTaken()]);
    const all = chartTransitions().map(nameOfTransition);

    expect(all.filter((transition) => !taken.has(transition))).toEqual([]);
  });

  it('S-145, S-146: takes a detach only once the ending is recorded, and no message from there on', () => {
    const sourcesOf = (wanted: RecordType): readonly string[] =>
      chartTransitions().flatMap(({ source, type }) => (type === wanted ? [source] : []));

    expect(sourcesOf('environment_detach_started')).toEqual(['ending']);
    expect(sourcesOf('message_queued')).toEqual(['idle', 'suspended', 'running.working']);
  });

  it('S-148: takes a teardown only where a session is over, apart from its ending', () => {
    const sources = chartTransitions().flatMap(({ source, type }) => (type === 'environment_teardown_started' ? [source] : []));

    expect(sources).toEqual(['unusable', 'ended']);
  });

  it.each(RECORD_TYPES)('S3: is led by every %s where the own step of XState leads it, and nothing is done on the way', (type) => {
    const steps = SITUATIONS.flatMap((one) => variantsIn(one, type).map((record) => ({ before: one.snapshot, record })));

    for (const { before, record } of steps) {
      const after = stepOf(before, record);
      const [{ value, context, status }, actions] = transition(sessionChart, before, record);

      expect({ value: after.value, context: after.context, status: after.status }, JSON.stringify(record)).toEqual({ value, context, status });
      expect(actions).toEqual([]);
    }
  });

  it('S2: has nothing but what its steps take', () => {
    const nodes = nodesOf(sessionChart.root);

    for (const { entry, exit, invoke, always, after, tags, type } of nodes) {
      expect({ entry, exit, invoke, always, after, tags }).toEqual({ entry: [], exit: [], invoke: [], always: undefined, after: [], tags: [] });
      expect(['atomic', 'compound']).toContain(type);
    }
    for (const { actions, target, reenter } of nodes.flatMap(({ transitions }) => [...transitions.values()].flat())) {
      expect({ actions, reenter }).toEqual({ actions: ['evolve'], reenter: false });
      expect(target?.length ?? 0).toBeLessThan(2);
    }
  });

  it('leads nowhere from ended', () => {
    const leaving = chartTransitions().filter(({ source, target }) => source === 'ended' && target !== null);

    expect(leaving).toEqual([]);
  });
});

function nodesOf(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

function nameOfTransition({ source, type, guards, target }: ChartTransition): string {
  return `${source} ${type} [${guards.join(' & ')}] ${target ?? 'stays'}`;
}

/** The transition that the chart takes, found as XState finds it and named as the outline does. */
function transitionTaken(snapshot: SessionSnapshot, record: NewRecord): readonly string[] {
  const taken = sessionChart.getTransitionData(snapshot, record);
  return taken.flatMap((definition) => {
    const source = definition.source.path.join('.');
    const siblings = definition.source.transitions.get(record.type) ?? [];
    const index = siblings.findIndex((one) => one === definition);
    const named = chartTransitions().filter((one) => one.source === source && one.type === record.type)[index];
    return named === undefined ? [] : [nameOfTransition(named)];
  });
}

function examplesTaken(): readonly string[] {
  return EXAMPLES.filter(({ leads }) => leads !== 'no').flatMap(({ situation: name, record }) => {
    const { snapshot } = situation(name);
    return transitionTaken(snapshot, record(snapshot.context));
  });
}

function stepsTaken(): readonly string[] {
  return SITUATIONS.flatMap(({ steps }) =>
    steps.flatMap(({ before, type, data }) =>
      transitionTaken(before, { sequence: before.context.last_sequence + 1, type, data } as unknown as NewRecord),
    ),
  );
}

function unconditionalTaken(): readonly string[] {
  return cellsThatAre((cell) => cell !== '·' && cell !== '?').flatMap(([state, type]) =>
    SITUATIONS.filter((one) => one.state === state).flatMap((one) =>
      variantsIn(one, type).flatMap((record) => transitionTaken(one.snapshot, record)),
    ),
  );
}
