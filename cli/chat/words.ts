/** What happens in a session, as a line for somebody at a terminal. */
import type { LivingEvent, RecordedEvent } from '../../client/index.ts';

const ENDS: Readonly<Record<string, string>> = {
  error: 'failed',
  timeout: 'ran out of time: whether it did anything outside is not known',
  cancelled: 'was cancelled: what it did outside by then stays done',
  unknown: 'is unknown: the server was stopped while it ran. It may have been carried out or not, and is not tried again',
};

/** Null: nothing that a reader of a conversation misses. */
export function wordsFor({ type, data }: RecordedEvent | LivingEvent): string | null {
  switch (type) {
    case 'tool_call_started':
      return `[${String(data.tool)} ${String(data.input_text)}]`;
    case 'tool_call_ended':
      return data.outcome === 'ok' ? `[${JSON.stringify(data.output)}]` : `[the call ${ENDS[data.outcome] ?? data.outcome}]`;
    case 'model_call_ended':
      return textOf(data.message.content);
    case 'turn_failed':
      return data.code === 'interrupted_by_restart' ? '(the turn was lost: the server was stopped while it ran, and has started again)' : `(the turn failed: ${data.code}, ${data.message})`;
    default:
      return null;
  }
}

function textOf(blocks: readonly { readonly type: string }[]): string | null {
  const text = blocks.map((block) => ('text' in block && block.type === 'text' ? String(block.text) : '')).join('');
  return text === '' ? null : text;
}
