/**
 * The events of Anthropic Messages that make up an answer, as far as Brain reads them. There are others, and there will be
 * more: the protocol asks to pass over what is not known.
 */
import { fieldsIn, indexIn, listOrNull, textIn, textOrNull, unreadable, type Fields } from './stream-events.ts';

export type AnthropicBlockStart =
  | { readonly type: 'text'; readonly text: string | null }
  | { readonly type: 'thinking'; readonly thinking: string | null; readonly signature: string | null }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

export type AnthropicPiece =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
  // Where a text was found, for texts that the request gave. It changes no word of the answer.
  | { readonly type: 'citations_delta' };

export type AnthropicEvent =
  | { readonly type: 'message_start'; readonly id: string | null; readonly usage: unknown }
  | { readonly type: 'content_block_start'; readonly index: number; readonly block: AnthropicBlockStart }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly piece: AnthropicPiece }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_delta'; readonly stop_reason: string | null; readonly usage: unknown }
  | { readonly type: 'message_stop' }
  | { readonly type: 'error'; readonly error: unknown };

/** Null where it is of no type that counts. Throws where it is, and cannot be read. */
export function parseAnthropicEvent(raw: unknown): AnthropicEvent | null {
  const event = fieldsIn(raw);
  switch (event['type']) {
    case 'content_block_delta':
      return { type: event['type'], index: indexIn(event['index']), piece: pieceIn(fieldsIn(event['delta'])) };
    case 'content_block_start':
      return { type: event['type'], index: indexIn(event['index']), block: blockIn(fieldsIn(event['content_block'])) };
    case 'content_block_stop':
      return { type: event['type'], index: indexIn(event['index']) };
    case 'message_start': {
      const { id, content, usage } = fieldsIn(event['message']);
      // Its blocks come with events of their own.
      if ((listOrNull(content)?.length ?? 0) > 0) throw unreadable();
      return { type: event['type'], id: textOrNull(id), usage };
    }
    case 'message_delta':
      return { type: event['type'], stop_reason: textOrNull(fieldsIn(event['delta'])['stop_reason']), usage: event['usage'] };
    case 'message_stop':
      return { type: event['type'] };
    case 'error':
      return { type: event['type'], error: event['error'] };
    default:
      return null;
  }
}

function pieceIn({ type, text, thinking, signature, partial_json }: Fields): AnthropicPiece {
  switch (type) {
    case 'text_delta':
      return { type, text: textIn(text) };
    case 'thinking_delta':
      return { type, thinking: textIn(thinking) };
    case 'signature_delta':
      return { type, signature: textIn(signature) };
    case 'input_json_delta':
      return { type, partial_json: textIn(partial_json) };
    case 'citations_delta':
      return { type };
    default:
      throw unreadable();
  }
}

function blockIn({ type, text, thinking, signature, data, id, name, input }: Fields): AnthropicBlockStart {
  switch (type) {
    case 'text':
      return { type, text: textOrNull(text) };
    case 'thinking':
      return { type, thinking: textOrNull(thinking), signature: textOrNull(signature) };
    case 'redacted_thinking':
      return { type, data: textIn(data) };
    case 'tool_use':
      return { type, id: textIn(id), name: textIn(name), input };
    default:
      throw unreadable();
  }
}
