/** A record as one line of a list: all that the list, the timeline and the slider need of it, without its contents. */
import { textOf, userMessage } from '../../../machines/messages.ts';
import { publicEventOf } from '../../../machines/projections/public-events.ts';
import type { RecordType, Sequence, SessionRecord } from '../../../machines/records.ts';

export const RECORD_KINDS = ['session', 'message', 'turn', 'activation', 'model_call', 'tool_call', 'environment', 'extension', 'transcript', 'kv', 'request'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

export interface RecordRow {
  readonly sequence: Sequence;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly type: RecordType;
  readonly kind: RecordKind;
  readonly state: string;
  readonly isPublic: boolean;
  /** What it is about, in a few words; empty where its type says all. */
  readonly subject: string;
  /** The record whose effect or turn this one ends; null where it ends none. */
  readonly ends: Sequence | null;
  /** Of a record that ends something: how. */
  readonly outcome: Outcome | null;
}

export type Outcome = 'ok' | 'failed' | 'unknown' | 'cancelled';

const SUBJECT_LENGTH_MAX = 160;

export function rowOf(record: SessionRecord): RecordRow {
  const { sequence, recorded_at, type, state } = record;
  return {
    sequence,
    recorded_at,
    type,
    kind: kindOf(type),
    state,
    isPublic: publicEventOf(record) !== null,
    subject: shortened(subjectOf(record)),
    ends: 'started_sequence' in record.data ? record.data.started_sequence : null,
    outcome: outcomeOf(record),
  };
}

function kindOf(type: RecordType): RecordKind {
  return RECORD_KINDS.find((kind) => type.startsWith(`${kind}_`)) ?? 'session';
}

function outcomeOf(record: SessionRecord): Outcome | null {
  switch (record.type) {
    case 'turn_ended':
    case 'activation_ended':
    case 'model_call_ended':
    case 'environment_setup_ended':
    case 'environment_detach_ended':
    case 'environment_teardown_ended':
      return 'ok';
    case 'turn_failed':
    case 'activation_failed':
      return record.data.code === 'cancelled' ? 'cancelled' : 'failed';
    case 'tool_call_ended':
      return outcomeOfTool(record.data.outcome);
    case 'model_call_failed':
    case 'environment_setup_failed':
    case 'environment_detach_failed':
    case 'environment_teardown_failed':
      return record.data.outcome;
    default:
      return null;
  }
}

function outcomeOfTool(outcome: SessionRecord<'tool_call_ended'>['data']['outcome']): Outcome {
  switch (outcome) {
    case 'ok':
    case 'unknown':
    case 'cancelled':
      return outcome;
    case 'error':
    case 'timeout':
      return 'failed';
  }
}

function subjectOf(record: SessionRecord): string {
  switch (record.type) {
    case 'session_created':
      return `${record.data.agentloop}, ${record.data.model.provider}/${record.data.model.name}`;
    case 'session_failed':
    case 'turn_failed':
    case 'activation_failed':
    case 'environment_setup_failed':
    case 'environment_detach_failed':
    case 'environment_teardown_failed':
    case 'model_call_failed':
      return `${record.data.code}: ${record.data.message}`;
    case 'session_metadata_changed':
      return Object.entries(record.data.metadata).map(([key, value]) => `${key}=${value}`).join(' ');
    case 'session_resumed':
      return `back to ${record.data.checkpoint_sequence}`;
    case 'session_end_requested':
      return record.data.mode;
    case 'message_queued':
      return textOf(userMessage(record.data.input));
    case 'message_withdrawn':
    case 'message_failed':
    case 'turn_started':
      return `message ${record.data.message_sequence}`;
    case 'turn_cancel_requested':
      return `by ${record.data.by}`;
    case 'activation_started':
      return record.data.agentloop;
    case 'model_call_started':
      return `${record.data.provider}/${record.data.model}`;
    case 'model_call_ended':
      return textOf(record.data.message) || record.data.message.content.map((block) => (block.type === 'tool_use' ? block.name : block.type)).join(', ');
    case 'tool_call_started':
      return `${record.data.tool} ${record.data.input_text}`;
    case 'tool_call_ended':
      return record.data.outcome === 'ok' || record.data.outcome === 'error' ? textual(record.data.output) : record.data.outcome;
    case 'environment_setup_started':
    case 'environment_detach_started':
    case 'environment_teardown_started':
      return record.data.environment;
    case 'extension_emitted':
      return record.data.name;
    case 'transcript_delta':
      return `${record.data.messages.length} from ${record.data.from}`;
    case 'kv_put':
    case 'kv_deleted':
      return record.data.key;
    default:
      return '';
  }
}

function textual(output: SessionRecord<'tool_call_ended'>['data']['output']): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function shortened(text: string): string {
  const line = text.slice(0, SUBJECT_LENGTH_MAX * 2).replaceAll(/\s+/g, ' ').trim();
  return line.length > SUBJECT_LENGTH_MAX ? `${line.slice(0, SUBJECT_LENGTH_MAX).toWellFormed()}…` : line;
}
