/** What one record changed: the difference between the session before it and after it. */
import type { Sequence } from '../../../machines/records.ts';
import type { SessionState } from '../../../machines/replay.ts';
import { sameValue } from '../../../machines/value-equality.ts';
import { openEffectsOf, type OpenEffect, type RecordAt } from './moment.ts';

/** What is needed of the session before a record, kept since the state itself moves on. */
export interface Before {
  readonly state: string;
  readonly queue: readonly Sequence[];
  readonly open: SessionState['context']['open'];
  readonly transcriptLength: number;
  readonly lastMessages: ReturnType<SessionState['transcript']['messages']>;
  readonly keyValues: ReturnType<SessionState['keyValues']['snapshot']>['values'];
}

export interface Changes {
  readonly stateBefore: string;
  readonly queued: readonly Sequence[];
  /** Messages that are not in the queue any more. */
  readonly unqueued: readonly Sequence[];
  readonly opened: readonly Sequence[];
  readonly closed: readonly OpenEffect[];
  /** The first message of the transcript that is new or another; null where the transcript is what it was. */
  readonly transcriptFrom: number | null;
  /** How many messages the transcript had. */
  readonly transcriptLengthBefore: number;
  readonly keysSet: readonly string[];
  readonly keysDeleted: readonly string[];
}

export function beforeOf(state: SessionState): Before {
  return {
    state: state.state,
    queue: state.context.queue,
    open: state.context.open,
    transcriptLength: state.transcript.length,
    lastMessages: state.transcript.messages(),
    keyValues: state.keyValues.snapshot().values,
  };
}

export function changesSince(before: Before, state: SessionState, recordAt: RecordAt): Changes {
  const { queue, open } = state.context;
  const values = new Map(state.keyValues.snapshot().values);
  const valuesBefore = new Map(before.keyValues);
  return {
    stateBefore: before.state,
    queued: without(queue, before.queue),
    unqueued: without(before.queue, queue),
    opened: without(sequencesOf(open), sequencesOf(before.open)),
    closed: openEffectsOf(before.open, recordAt).filter(({ sequence }) => !sequencesOf(open).includes(sequence)),
    transcriptFrom: firstDifference(before.lastMessages, state.transcript.messages()),
    transcriptLengthBefore: before.transcriptLength,
    keysSet: [...values].filter(([key, value]) => !valuesBefore.has(key) || !sameValue(value, valuesBefore.get(key))).map(([key]) => key),
    keysDeleted: [...valuesBefore.keys()].filter((key) => !values.has(key)),
  };
}

function sequencesOf(open: Before['open']): readonly Sequence[] {
  return open.map(({ sequence }) => sequence);
}

function without(all: readonly Sequence[], some: readonly Sequence[]): readonly Sequence[] {
  return all.filter((sequence) => !some.includes(sequence));
}

/** Messages that did not change are the same objects, so that this costs next to nothing in a long conversation. */
function firstDifference(before: Before['lastMessages'], now: Before['lastMessages']): number | null {
  const most = Math.max(before.length, now.length);
  for (let index = 0; index < most; index += 1) {
    if (before[index] !== now[index] && !sameValue(before[index], now[index])) return index;
  }
  return null;
}
