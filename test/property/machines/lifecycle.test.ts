import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Draft, RefusedByChart } from '../../../machines/dry-run.ts';
import { brokenInvariants } from '../../../machines/invariants.ts';
import { modelRequestAt } from '../../../machines/projections/model-request.ts';
import { CHART_STATES } from '../../../machines/projections/status.ts';
import { isRemovalDue, recover } from '../../../machines/recover.ts';
import { ReplayError, SessionState } from '../../../machines/replay.ts';
import { RECORD_VISIBILITY, type NewRecord, type RecordType, type SessionRecord, type TurnFailureCode } from '../../../machines/records.ts';
import type { Message } from '../../../machines/messages.ts';
import { folded, snapshotOf, throughJson, type Story } from '../../support/session-story.ts';
import { VARIANTS } from '../../table/record-variants.ts';
import { makeMove, moves, settings, storyOf, type Move, type Settings } from './moves.ts';

const RUNS = { numRuns: 300 };
const RECORD_TYPES = Object.keys(RECORD_VISIBILITY) as readonly RecordType[];

function told(how: Settings, all: readonly Move[]): Story {
  const story = storyOf(how);
  for (const one of all) makeMove(story, one);
  return story;
}

/** A place in the journal where a process can have died: the end of some commit. */
function cutOf(story: Story, choice: number): number {
  return story.commits[choice % story.commits.length] ?? 0;
}

const anywhere = fc.nat(1_000);

describe('a session, whatever is asked of it', () => {
  it('is the same live, replayed from the start, and from a snapshot with the rest of its records', () => {
    fc.assert(
      fc.property(settings, moves, anywhere, (how, all, choice) => {
        const story = told(how, all);
        const cut = 1 + (choice % story.records.length);
        const saved = snapshotOf(folded(story.records.slice(0, cut)));
        const fromSnapshot = SessionState.from(throughJson(saved));
        for (const record of story.records.slice(cut)) fromSnapshot.apply(record);

        expect(snapshotOf(folded(story.records))).toEqual(snapshotOf(story.state));
        expect(snapshotOf(fromSnapshot)).toEqual(snapshotOf(story.state));
      }),
      RUNS,
    );
  });

  it('S-006, L-042: keeps every invariant at the end of every commit', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told(how, all);
        const broken = story.commits.map((cut) => brokenInvariants(story.records.slice(0, cut)));

        expect(broken.flat()).toEqual([]);
      }),
      RUNS,
    );
  });

  it('L-043: starts its messages in the order in which they came, and loses none', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told(how, all);
        story.recover();
        const queued = story.records.filter(({ type }) => type === 'message_queued').map(({ sequence }) => sequence);
        const started = messagesOf(story.records, 'turn_started');
        const others = [...messagesOf(story.records, 'message_withdrawn'), ...messagesOf(story.records, 'message_failed')];

        expect(started).toEqual(started.toSorted((left, right) => left - right));
        expect([...started, ...others].toSorted((left, right) => left - right)).toEqual(queued);
      }),
      RUNS,
    );
  });

  it('S-138: has after a recovery nothing open, nothing running and nothing waiting, and a second one adds nothing', () => {
    fc.assert(
      fc.property(settings, moves, anywhere, (how, all, choice) => {
        const story = told(how, all);
        const before = folded(story.records.slice(0, cutOf(story, choice)));
        const after = recovered(before);

        expect(after.state.state).toMatch(/^(idle|suspended|interrupted|failed|unusable|ended)$/);
        expect([after.state.context.open, after.state.context.queue, after.state.context.turn]).toEqual([[], [], null]);
        expect(recover(after.state.snapshot)).toEqual([]);
        expect(brokenInvariants([...story.records.slice(0, before.lastSequence), ...after.records])).toEqual([]);
      }),
      RUNS,
    );
  });

  it('S-140, S-143, S-144: closes by a recovery exactly what was open, as unknown, and fails the turn with the code of its cancel', () => {
    fc.assert(
      fc.property(settings, moves, anywhere, (how, all, choice) => {
        const story = told(how, all);
        const before = folded(story.records.slice(0, cutOf(story, choice)));
        const { open, turn } = before.context;
        const { records } = recovered(before);
        const closed = records.flatMap((record) => ('started_sequence' in record.data ? [record.data.started_sequence] : []));
        const outcomes = records.flatMap((record) => ('outcome' in record.data ? [record.data.outcome] : []));
        const failures = records.flatMap((record) => (record.type === 'turn_failed' ? [record.data.code] : []));

        expect(records.filter(({ type }) => type.endsWith('_started'))).toEqual([]);
        expect(closed.toSorted((left, right) => left - right)).toEqual(open.map(({ sequence }) => sequence));
        expect(outcomes.filter((outcome) => outcome !== 'unknown')).toEqual([]);
        expect(failures).toEqual(turn === null ? [] : [codeOfRecordedCancel(story.records, before.lastSequence, turn.message_sequence)]);
      }),
      RUNS,
    );
  });

  it('is not changed by a record that its chart refuses, and says which it was', () => {
    fc.assert(
      fc.property(settings, moves, fc.constantFrom(...RECORD_TYPES), anywhere, (how, all, type, choice) => {
        const { state } = told(how, all);
        const variants = VARIANTS[type](state.context);
        const data = variants[choice % variants.length];
        const record = { sequence: state.lastSequence + 1, recorded_at: 0, type, state: 'none', data } as unknown as SessionRecord;
        fc.pre(!isAccepted(state, record));
        const before = snapshotOf(state);
        const standing = state.state;

        expect(refusalOf(state, record)).toMatchObject({ sequence: record.sequence, type, state: standing });
        expect(snapshotOf(state)).toEqual(before);
      }),
      RUNS,
    );
  });

  it('S-064, S-067: has the transcript that a loop last set, by value, from deltas that begin at the first change', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = storyOf(how);
        for (const one of all) {
          const saved = story.state.transcript.messages();
          const known = story.records.length;
          const { kind, asked } = makeMove(story, one);
          if (one.do !== 'set transcript' || kind === 'refused' || asked === undefined) continue;

          expect(story.state.transcript.messages()).toEqual(asked);
          expect(folded(story.records).transcript.messages()).toEqual(asked);
          expect(story.records.slice(known).map(({ data }) => data)).toMatchObject(smallestDelta(saved, asked));
        }
      }),
      RUNS,
    );
  });

  it('S-080: can tell each model request exactly, whatever happened to the conversation since', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = storyOf(how);
        const requests = new Map<number, readonly Message[]>();
        for (const one of all) {
          const { kind, asked } = makeMove(story, one);
          if (one.do === 'call model' && kind === 'records' && asked !== undefined) requests.set(story.state.lastSequence, asked);
        }
        story.recover();
        story.command({ kind: 'resume' });

        for (const [sequence, messages] of requests) {
          expect(modelRequestAt(story.records, sequence)?.messages).toEqual(messages);
        }
      }),
      RUNS,
    );
  });

  it('L-095: goes back on resume to transcript and key values as the last completed turn left them', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = storyOf({ ...how, after_stop: 'hold' });
        let checkpoint = contentsOf(story.state);
        for (const one of all) {
          const known = story.records.length;
          makeMove(story, one);
          const types = story.records.slice(known).map(({ type }) => type);
          if (types.includes('turn_ended')) checkpoint = contentsOf(story.state);
          if (types.includes('session_resumed')) expect(contentsOf(story.state)).toEqual(checkpoint);
        }
      }),
      RUNS,
    );
  });

  it('S-071: reads each key as a plain map of the same puts and removals does, a stored null included', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told({ ...how, after_stop: 'idle' }, all);
        const expected = new Map<string, unknown>();
        for (const record of story.records) {
          if (record.type === 'kv_put') expected.set(record.data.key, record.data.value);
          if (record.type === 'kv_deleted') expected.delete(record.data.key);
        }

        for (const key of ['k', '__proto__', 'missing']) {
          const value = expected.get(key);
          const answer = expected.has(key) ? { found: true, value } : { found: false };
          expect(story.state.keyValues.read(key)).toEqual(answer);
        }
      }),
      RUNS,
    );
  });

  it('L-102: hides from loops the turns that a resume went back over, with their messages, and nothing else', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const { records, state } = told({ ...how, after_stop: 'hold' }, all);

        expect(records.filter(({ sequence }) => state.dropped.has(sequence)).map(({ sequence }) => sequence)).toEqual(
          goneOver(records),
        );
      }),
      RUNS,
    );
  });

  it('S-132, S-145, S-199: sets an environment up before it is ready and never again, and detaches it once it is ending and never again', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const { records } = told(how, all);
        const at = (type: RecordType): number => records.find((record) => record.type === type)?.sequence ?? Infinity;
        const setups = operationsOf(records, 'environment_setup_started');
        const detaches = operationsOf(records, 'environment_detach_started');

        expect(setups.map(([, sequence]) => sequence).filter((sequence) => sequence > at('session_ready'))).toEqual([]);
        expect(detaches.map(([, sequence]) => sequence).filter((sequence) => sequence < at('session_ending') || sequence > at('session_ended'))).toEqual([]);
        for (const names of [setups, detaches].map((of) => of.map(([name]) => name))) expect(names).toEqual([...new Set(names)]);
      }),
      RUNS,
    );
  });

  it('S-149, S-202: is due for removal where a delete was asked for and each environment is known to have nothing left, and nowhere else', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told(how, all);
        for (const cut of story.commits) {
          const records = story.records.slice(0, cut);
          const isDeleted = records.some(({ type }) => type === 'session_delete_requested');

          expect(isRemovalDue(folded(records))).toBe(isDeleted && standingEnvironments(records).length === 0);
        }
      }),
      RUNS,
    );
  });

  it('comes to every state and record that commands lead to, so that the properties above are about something', () => {
    const stories = fc.sample(fc.tuple(settings, moves), 1_000).map(([how, all]) => told(how, all));
    const records = stories.flatMap((story) => story.records);

    expect(new Set(stories.map(({ state }) => state.state))).toEqual(
      new Set(CHART_STATES.filter((state) => state !== 'none')),
    );
    expect(RECORD_TYPES.filter((type) => !records.some((record) => record.type === type))).toEqual([]);
  });
});

type OperationStart = 'environment_setup_started' | 'environment_detach_started' | 'environment_teardown_started';

function operationsOf(records: readonly SessionRecord[], type: OperationStart): readonly (readonly [string, number])[] {
  return records.flatMap((record) => (record.type === type && 'environment' in record.data ? [[String(record.data.environment), record.sequence] as const] : []));
}

/** By the journal: those that neither refused their setup themselves nor said that they were torn down. */
function standingEnvironments(records: readonly SessionRecord[]): readonly string[] {
  const gone = new Set(
    records.flatMap((record) => {
      const isGone = record.type === 'environment_teardown_ended' || (record.type === 'environment_setup_failed' && record.data.outcome === 'failed');
      return isGone && 'started_sequence' in record.data ? [record.data.started_sequence] : [];
    }),
  );
  const asked = [...operationsOf(records, 'environment_setup_started'), ...operationsOf(records, 'environment_teardown_started')];
  const names = new Set(asked.map(([name]) => name));
  return [...names].filter((name) => !asked.some(([asks, sequence]) => asks === name && gone.has(sequence)));
}

function messagesOf(records: readonly SessionRecord[], type: 'turn_started' | 'message_withdrawn' | 'message_failed'): readonly number[] {
  return records.flatMap((record) => (record.type === type && 'message_sequence' in record.data ? [Number(record.data.message_sequence)] : []));
}

function recovered(before: SessionState): { readonly state: SessionState; readonly records: readonly SessionRecord[] } {
  const records: readonly SessionRecord[] = recover(before.snapshot).map((record) => ({ ...record, recorded_at: 1 }));
  const state = SessionState.from(snapshotOf(before));
  for (const record of records) state.apply(record);
  return { state, records };
}

/** As the journal tells it: the first cancel of the turn, but a caller's over a deadline's and a shutdown's. */
function codeOfRecordedCancel(records: readonly SessionRecord[], through: number, message: number): TurnFailureCode {
  const asked = records.flatMap((record) =>
    record.type === 'turn_cancel_requested' && record.sequence <= through && record.data.message_sequence === message
      ? [record.data.by]
      : [],
  );
  const [first] = asked;
  if (first === undefined) return 'interrupted_by_restart';
  if (first === 'close') return 'closed';
  if (asked.includes('caller')) return 'cancelled';
  return first === 'deadline' ? 'turn_timeout' : 'shutdown';
}

function isAccepted(state: SessionState, record: NewRecord): boolean {
  try {
    new Draft(state.snapshot).add(record.type, record.data);
    return true;
  } catch (error) {
    if (error instanceof RefusedByChart) return false;
    throw error;
  }
}

function refusalOf(state: SessionState, record: SessionRecord): unknown {
  try {
    state.apply(record);
    return 'accepted';
  } catch (error) {
    return error instanceof ReplayError ? error : `${String(error)}, which is no ReplayError`;
  }
}

/** The records' data that a change needs at least: none, or one delta that starts at the first message that differs. */
function smallestDelta(saved: readonly Message[], next: readonly Message[]): readonly object[] {
  const texts = [saved, next].map((messages) => messages.map((message) => JSON.stringify(message)));
  const [before = [], after = []] = texts;
  const from = before.findIndex((text, index) => text !== after[index]);
  const first = from < 0 ? before.length : from;
  if (first === before.length && first === after.length) return [];
  const messages = { length: after.length - first };
  return [first === before.length ? { from: first, messages } : { from: first, messages, replaces: before.length - first }];
}

function contentsOf(state: SessionState): object {
  return throughJson({
    messages: state.transcript.messages(),
    values: ['k', '__proto__'].map((key) => state.keyValues.read(key)),
    length: state.context.transcript_length,
  });
}

/** By the journal: what stands between a checkpoint and its resume, and the messages whose turns began or died there. */
function goneOver(records: readonly SessionRecord[]): readonly number[] {
  const gone = new Set<number>();
  for (const record of records) {
    if (record.type !== 'session_resumed') continue;
    for (const one of records) {
      if (one.sequence <= record.data.checkpoint_sequence || one.sequence >= record.sequence) continue;
      gone.add(one.sequence);
      const isMessageOver = one.type === 'turn_started' || one.type === 'message_withdrawn' || one.type === 'message_failed';
      if (isMessageOver) gone.add(one.data.message_sequence);
    }
  }
  return [...gone].toSorted((left, right) => left - right);
}
