/** What the lifecycle surface must show of a record: a small model of its own, without the words of errors. */
import type { WrittenRecord } from './journal-bytes.ts';
import { expectThat, same } from './violation.ts';

export interface ShownEvent {
  readonly sequence: number;
  readonly index: number;
  readonly recorded_at: number;
  readonly type: string;
  readonly input_sequence?: number;
  readonly data: object;
}

export interface ShownCursor {
  readonly sequence: number;
  /** Null: past all of the record. */
  readonly index: number | null;
}

type Said = readonly [type: string, data: object, input: number | undefined];

function lifecycleOf(record: WrittenRecord): readonly ShownEvent[] {
  const { sequence, recorded_at } = record;
  return saidOf(record).map(([type, data, input_sequence], index) => ({ sequence, index, recorded_at, type, data, ...(input_sequence === undefined ? {} : { input_sequence }) }));
}

/** The first event that a reader at a cursor has not been shown. */
export function nextLifecycle(records: readonly WrittenRecord[], { sequence, index }: ShownCursor): ShownEvent | null {
  for (const record of records.slice(Math.max(0, sequence - 1))) {
    for (const event of lifecycleOf(record)) {
      if (event.sequence > sequence || (event.sequence === sequence && index !== null && event.index > index)) return event;
    }
  }
  return null;
}

export function expectSameEvent(event: ShownEvent, expected: ShownEvent | null, what: string): void {
  expectThat(same(withoutWords(event), expected), 8, () => `${what} shows ${JSON.stringify(event)}, and the records say ${JSON.stringify(expected)}`);
}

function withoutWords(event: ShownEvent): ShownEvent {
  return event.type === 'session.error' ? { ...event, data: { ...event.data, message: undefined } } : event;
}

function saidOf({ sequence, type, state, data }: WrittenRecord): readonly Said[] {
  const input = data['message_sequence'] as number | undefined;
  const status = (name: string): Said => ['session.status', { status: name }, input];
  switch (type) {
    case 'message_queued':
      return [['user.message', { text: data['input'], key: data['key'] }, sequence]];
    case 'message_failed':
      return [['session.error', { code: 'conflict' }, input]];
    case 'message_withdrawn':
      return [['session.error', { code: 'withdrawn' }, input]];
    case 'turn_started':
      return [status('running')];
    case 'turn_ended':
      return data['next'] === null && data['end'] === false ? [status('idle')] : [];
    case 'turn_failed': {
      const isStopped = data['code'] === 'cancelled' || data['code'] === 'closed';
      const error: Said = ['session.error', { code: isStopped ? 'conflict' : data['code'] }, input];
      if (data['end'] === true) return [error];
      const isHeld = state === 'interrupted' || state === 'failed';
      return [error, status(data['code'] === 'cancelled' ? 'interrupted' : 'failed'), ...(isHeld ? [] : [['session.status', { status: 'idle' }, undefined] satisfies Said])];
    }
    case 'model_call_ended': {
      const { content } = data['message'] as { readonly content: readonly { readonly type: string; readonly text?: string }[] };
      const text = content.flatMap((block) => (block.type === 'text' ? (block.text ?? '') : [])).join('');
      return text === '' ? [] : [['assistant.message', { text, usage: data['usage'] }, input]];
    }
    case 'tool_call_started': {
      const text = data['input_text'] as string;
      return [['tool.call', { started_sequence: sequence, name: data['tool'], input: text === '' ? {} : (JSON.parse(text) as unknown) }, input]];
    }
    case 'tool_call_ended': {
      const { started_sequence, output, is_error, outcome } = data;
      return [['tool.result', { started_sequence, output, is_error, outcome }, input]];
    }
    case 'session_failed':
      return [['session.error', { code: data['code'] }, undefined], status('closed')];
    case 'session_resumed':
      return [status('idle')];
    case 'session_ending':
      return [status('closed')];
    default:
      return [];
  }
}
