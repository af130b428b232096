/**
 * Lifecycle events: what the lifecycle surface shows of a session. Each is projected from its record alone, so that a
 * reader can begin anywhere; a record shows none, one, or a few in order.
 *
 *   E1. A turn begins with `session.status` `running`. It ends with `idle`, with the next message's `running` and no idle
 *       in between, or with a `session.error` and one status after it.
 *   E2. A message that waited and is not run ends with a `session.error` of its own.
 *   E3. Events of a turn name its message by the sequence that their record carries.
 */
import { assertNever } from '../assert-never.ts';
import { textOf, userMessage, type JsonValue, type Message, type ToolOutcome } from '../messages.ts';
import type { Sequence, SessionRecord, TurnFailureCode, Usage } from '../records.ts';
import type { LifecycleStatus } from './status.ts';

/** What each type of event says. */
export interface LifecycleData {
  'user.message': { readonly text: string; readonly key?: string };
  'session.status': { readonly status: LifecycleStatus };
  'session.error': { readonly code: string; readonly message: string };
  'assistant.message': { readonly text: string; readonly reasoning?: string; readonly usage?: Usage };
  /** A call is named by its `tool_call_started`. */
  'tool.call': { readonly started_sequence: Sequence; readonly name: string; readonly input: JsonValue };
  'tool.result': {
    readonly started_sequence: Sequence;
    readonly output: JsonValue;
    readonly is_error: boolean;
    readonly outcome: ToolOutcome;
  };
}

export type LifecycleEventType = keyof LifecycleData;

export type LifecycleEvent<T extends LifecycleEventType = LifecycleEventType> = {
  readonly [K in T]: {
    /** The record that it is projected from. */
    readonly sequence: Sequence;
    /** Its place among the record's events, from 0. */
    readonly index: number;
    /** Epoch milliseconds. */
    readonly recorded_at: number;
    readonly type: K;
    /** The `message_queued` whose turn, or whose end without one, this belongs to; absent where it belongs to none. */
    readonly input_sequence?: Sequence;
    readonly data: LifecycleData[K];
  };
}[T];

/** A place among a session's events: after one of them. `index` null: after all that the record shows. */
export interface LifecycleCursor {
  /** 0 is the start. */
  readonly sequence: Sequence;
  readonly index: number | null;
}

/** An event before it has its place. */
type Shown = {
  readonly [K in LifecycleEventType]: readonly [type: K, data: LifecycleData[K], input?: Sequence | undefined];
}[LifecycleEventType];

/** The events that a record shows, in order. */
export function lifecycleEventsOf(record: SessionRecord): readonly LifecycleEvent[] {
  const { sequence, recorded_at } = record;
  return shownBy(record).map(([type, data, input], index) => {
    const event = { sequence, index, recorded_at, type, ...(input === undefined ? {} : { input_sequence: input }), data };
    // Each pair of type and data is of one row: a map over the union loses that.
    return event as LifecycleEvent;
  });
}

/** Those of a record's events that a cursor is not past. */
export function lifecycleEventsAfter(record: SessionRecord, cursor: LifecycleCursor): readonly LifecycleEvent[] {
  const events = lifecycleEventsOf(record);
  if (record.sequence > cursor.sequence) return events;
  const { index } = cursor;
  if (record.sequence < cursor.sequence || index === null) return [];
  return events.filter((event) => event.index > index);
}

function shownBy(record: SessionRecord): readonly Shown[] {
  switch (record.type) {
    case 'message_queued': {
      const { input, key } = record.data;
      const text = textOf(userMessage(input));
      return [['user.message', key === undefined ? { text } : { text, key }, record.sequence]];
    }
    case 'message_failed':
      return [['session.error', { code: record.data.code, message: NOT_RUN.conflict }, record.data.message_sequence]];
    case 'message_withdrawn':
      return [['session.error', { code: 'withdrawn', message: NOT_RUN.withdrawn }, record.data.message_sequence]];

    case 'turn_started':
      return [['session.status', { status: 'running' }, record.data.message_sequence]];
    case 'turn_ended': {
      // What follows in the same commit says it: the next turn's start, or the session's end.
      const { message_sequence, next, end } = record.data;
      return next !== null || end ? [] : [['session.status', { status: 'idle' }, message_sequence]];
    }
    case 'turn_failed':
      return shownByFailure(record);

    case 'model_call_ended': {
      const { message, message_sequence, usage } = record.data;
      const text = textOf(message);
      const reasoning = reasoningOf(message);
      if (text === '' && reasoning === '') return [];
      const said = { text, ...(reasoning === '' ? {} : { reasoning }), ...(usage === undefined ? {} : { usage }) };
      return [['assistant.message', said, message_sequence]];
    }
    case 'tool_call_started': {
      const { tool, message_sequence, input_text, input } = record.data;
      const call = { started_sequence: record.sequence, name: tool, input: input === undefined ? parsed(input_text) : input };
      return [['tool.call', call, message_sequence]];
    }
    case 'tool_call_ended': {
      const { message_sequence, ...result } = record.data;
      return [['tool.result', result, message_sequence]];
    }

    case 'session_failed': {
      const { code, message } = record.data;
      return [['session.error', { code, message }], ['session.status', { status: 'closed' }]];
    }
    case 'session_resumed':
      return [['session.status', { status: 'idle' }]];
    case 'session_ending':
      return [['session.status', { status: 'closed' }, record.data.message_sequence]];

    case 'session_created':
    case 'session_ready':
    case 'session_metadata_changed':
    case 'session_suspended':
    case 'session_end_requested':
    case 'session_ended':
    case 'session_delete_requested':
    case 'turn_cancel_requested':
    case 'activation_started':
    case 'activation_ended':
    case 'activation_failed':
    case 'model_call_started':
    case 'model_call_failed':
    case 'environment_setup_started':
    case 'environment_setup_ended':
    case 'environment_setup_failed':
    case 'environment_detach_started':
    case 'environment_detach_ended':
    case 'environment_detach_failed':
    case 'environment_teardown_started':
    case 'environment_teardown_ended':
    case 'environment_teardown_failed':
    case 'extension_emitted':
    case 'transcript_delta':
    case 'kv_put':
    case 'kv_deleted':
    case 'request_answered':
      return [];
    default:
      return assertNever(record);
  }
}

const NOT_RUN = {
  conflict: 'the message was not run: the turn before it was stopped, or the session was closed',
  withdrawn: 'the message was withdrawn before its turn started',
} as const;

/** Codes that say who stopped a turn: the caller sees that its turn and another request were in conflict. */
const SHOWN_AS_CONFLICT: ReadonlySet<TurnFailureCode> = new Set(['cancelled', 'closed']);

function shownByFailure({ data, state }: SessionRecord<'turn_failed'>): readonly Shown[] {
  const { message_sequence, code, message, end } = data;
  const error: Shown = ['session.error', { code: SHOWN_AS_CONFLICT.has(code) ? 'conflict' : code, message }, message_sequence];
  // The session's end follows in the same commit, and shows `closed`.
  if (end) return [error];
  const status: Shown = ['session.status', { status: code === 'cancelled' ? 'interrupted' : 'failed' }, message_sequence];
  const isHeld = state === 'interrupted' || state === 'failed';
  return isHeld ? [error, status] : [error, status, ['session.status', { status: 'idle' }]];
}

function reasoningOf(message: Message): string {
  return message.content.map((block) => (block.type === 'reasoning' ? block.text : '')).join('');
}

/** The empty text is how some models write no arguments. Text that is no JSON is not called. */
function parsed(input_text: string): JsonValue {
  return input_text === '' ? {} : (JSON.parse(input_text) as JsonValue);
}
