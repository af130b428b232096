/** A session as it was right after one record, as plain data: what the page shows beside the chart. */
import type { JsonValue, Message } from '../../../machines/messages.ts';
import { explainedBy, explanationOf } from '../../../machines/projections/explanation.ts';
import type { Sequence, SessionRecord } from '../../../machines/records.ts';
import type { SessionState } from '../../../machines/replay.ts';
import type { EffectKind } from '../../../machines/session-context.ts';
import { rowOf } from './record-row.ts';

/** A conversation can have thousands of messages; who wants the ones before asks for more. */
export const SHOWN_MESSAGES = 30;

export interface QueuedMessage {
  readonly sequence: Sequence;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export interface OpenEffect {
  readonly sequence: Sequence;
  readonly kind: EffectKind;
  readonly subject: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Epoch milliseconds; null without a bound. */
  readonly deadline: number | null;
}

export interface Moment {
  readonly sequence: Sequence;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly state: string;
  /** The message of the running turn. */
  readonly turn: Sequence | null;
  readonly queue: readonly QueuedMessage[];
  readonly open: readonly OpenEffect[];
  readonly transcript: ShownTranscript;
  readonly keyValues: readonly (readonly [string, JsonValue])[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly explanation: string | null;
}

/** The end of the transcript. */
export interface ShownTranscript {
  readonly length: number;
  readonly from: number;
  readonly messages: readonly Message[];
}

export type RecordAt = (sequence: Sequence) => SessionRecord | undefined;

/** The state must hold at least one record. */
export function momentOf(state: SessionState, recordAt: RecordAt, shownMessages: number): Moment {
  const { context, facts } = state;
  return {
    sequence: state.lastSequence,
    recorded_at: facts.recorded_at,
    state: state.state,
    turn: context.turn?.message_sequence ?? null,
    queue: context.queue.map((sequence) => queuedMessage(sequence, recordAt)),
    open: openEffectsOf(context.open, recordAt),
    transcript: shownTranscript(state, shownMessages),
    keyValues: state.keyValues.snapshot().values.toSorted(([left], [right]) => (left < right ? -1 : 1)),
    metadata: facts.metadata,
    explanation: explanationAt(state, recordAt),
  };
}

function explanationAt(state: SessionState, recordAt: RecordAt): string | null {
  const explained = { state: state.state, context: state.context, stop: state.facts.stop };
  const named = new Map(explainedBy(explained).map((sequence) => [sequence, recordAt(sequence)]));
  return explanationOf(explained, (sequence) => named.get(sequence));
}

function queuedMessage(sequence: Sequence, recordAt: RecordAt): QueuedMessage {
  const record = recordAt(sequence);
  return { sequence, text: record === undefined ? '' : rowOf(record).subject, since: record?.recorded_at ?? 0 };
}

export function openEffectsOf(open: SessionState['context']['open'], recordAt: RecordAt): readonly OpenEffect[] {
  return open.map(({ sequence, kind }) => openEffect(sequence, kind, recordAt));
}

function openEffect(sequence: Sequence, kind: EffectKind, recordAt: RecordAt): OpenEffect {
  const record = recordAt(sequence);
  const deadline = record?.type === 'tool_call_started' ? record.data.deadline : null;
  return { sequence, kind, subject: record === undefined ? '' : rowOf(record).subject, since: record?.recorded_at ?? 0, deadline };
}

function shownTranscript({ transcript }: SessionState, shown: number): ShownTranscript {
  const from = Math.max(0, transcript.length - shown);
  return { length: transcript.length, from, messages: transcript.messages().slice(from) };
}
