/** What the list of records, the timeline and the chart are made of. */
import { describe, expect, it } from 'vitest';
import { chartGraph, edgeTaken } from '../../../../http/inspector/chart/chart-graph.ts';
import { barsOf, turnAt } from '../../../../http/inspector/model/bars.ts';
import { durationsOf } from '../../../../http/inspector/model/durations.ts';
import { passing, placeOf } from '../../../../http/inspector/model/record-filter.ts';
import { rowOf } from '../../../../http/inspector/model/record-row.ts';
import { sequencesWith } from '../../../../http/inspector/model/record-search.ts';
import { placeIn, scaleOf, ticksOf } from '../../../../http/inspector/model/time-scale.ts';
import { visitedStates } from '../../../../http/inspector/model/visited.ts';
import { journalOfTurns } from '../../../../bench/journal-of-turns.ts';

const records = journalOfTurns(2);
const rows = records.map(rowOf);
const bars = barsOf(rows);

describe('the lines of a journal', () => {
  it('say what each record is about, and whether others see it', () => {
    expect(rows.find(({ type }) => type === 'message_queued')).toMatchObject({ kind: 'message', subject: 'question 0', isPublic: true, ends: null });
    expect(rows.find(({ type }) => type === 'transcript_delta')).toMatchObject({ kind: 'transcript', isPublic: false });
    expect(rows.find(({ type }) => type === 'tool_call_ended')).toMatchObject({ kind: 'tool_call', subject: 'seen 0', outcome: 'ok', ends: 10 });
  });

  it('keep a long text short', () => {
    const queued = records[2];
    if (queued?.type !== 'message_queued') throw new Error('the third record is a message');

    const { subject } = rowOf({ ...queued, data: { ...queued.data, input: `a\n${'b'.repeat(10_000)}` } });

    expect(subject).toMatch(/^a b{158}…$/);
  });

  it('pass by kind, by who sees them, and by what they hold', () => {
    const none = { kind: null, visibility: null, found: null };
    expect(passing(rows, none)).toBeNull();
    expect(passing(rows, { ...none, kind: 'kv' })).toEqual(records.filter(({ type }) => type === 'kv_put').map(({ sequence }) => sequence));
    expect(passing(rows, { ...none, visibility: 'private' })?.every((sequence) => !rows[sequence - 1]?.isPublic)).toBe(true);
    expect(passing([undefined, ...rows.slice(1)], { ...none, kind: 'session' })).toEqual([2]);
    const found = sequencesWith(records, 'QUESTION 1');
    expect(passing(rows, { ...none, found })).toEqual([18]);
    expect(placeOf([2, 4, 8], 4)).toBe(1);
    expect(placeOf([2, 4, 8], 5)).toBe(2);
  });
});

describe('the bars of a journal', () => {
  it('are its turns, and what ran in them, with their ends', () => {
    expect(bars.map(({ kind }) => kind)).toEqual(['turn', 'activation', 'model_call', 'tool_call', 'model_call', 'turn', 'activation', 'model_call', 'tool_call', 'model_call']);
    expect(bars[3]).toMatchObject({ name: 'look', sequence: 10, endSequence: 11, outcome: 'ok', turn: 4, depth: 2 });
    expect((bars[0]?.end ?? 0) - (bars[0]?.start ?? 0)).toBe(130);
    expect(turnAt(bars, 3)).toBeNull();
    expect(turnAt(bars, 18)).toBe(4);
    expect(turnAt(bars, 19)).toBe(19);
  });

  it('go on where no end is recorded, and are left out where no beginning is', () => {
    expect(barsOf(rows.slice(0, 10)).filter(({ end }) => end === null).map(({ kind }) => kind)).toEqual(['turn', 'activation', 'tool_call']);
    expect(barsOf(rows.slice(10, 17)).map(({ kind }) => kind)).toEqual(['model_call']);
  });

  it('pair beginnings with ends', () => {
    const pairs = durationsOf(bars);
    expect(pairs.get(10)).toEqual({ other: 11, isStart: true, milliseconds: 10 });
    expect(pairs.get(11)).toEqual({ other: 10, isStart: false, milliseconds: 10 });
    expect(durationsOf(barsOf(rows.slice(0, 10))).get(10)).toEqual({ other: null, isStart: true, milliseconds: null });
  });

  it('stand on a scale from the first beginning to the last end, now where something goes on', () => {
    const scale = scaleOf([{ start: 100, end: 200 }, { start: 150, end: null }], 500);
    expect(scale).toEqual({ start: 100, lengthMs: 400 });
    expect([placeIn(scale, 50), placeIn(scale, 300), placeIn(scale, 900)]).toEqual([0, 0.5, 1]);
    expect(ticksOf(scale).map(({ milliseconds }) => milliseconds)).toEqual([0, 100, 200, 300, 400]);
  });
});

describe('the chart of a session', () => {
  const graph = chartGraph();

  it('has each change of state that a journal makes as an edge', () => {
    let before = 'none';
    for (const row of rows) {
      const taken = edgeTaken(graph, { from: before, to: row.state, type: row.type });
      expect(taken === null, `${row.type} ${row.sequence}`).toBe(row.state === before);
      before = row.state;
    }
    expect(edgeTaken(graph, { from: 'running.cancelling', to: 'interrupted', type: 'turn_failed' })).toBe('running>interrupted');
  });

  it('knows the states that were visited up to a record', () => {
    expect([...visitedStates(rows, 3)]).toEqual(['none', 'creating', 'suspended']);
    expect([...visitedStates(rows, 4)]).toEqual(['none', 'creating', 'suspended', 'running.working', 'running']);
  });
});
