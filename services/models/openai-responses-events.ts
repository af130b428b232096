/**
 * The events of OpenAI Responses that make up an answer, as far as Brain reads them. Events of another type are about how
 * the answer comes to be.
 */
import { fieldsIn, fieldsOrNull, indexIn, indexOrNull, listOrNull, textIn, textOrNull, unreadable, type Fields } from './stream-events.ts';

const PIECE_TYPES = [
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
  'response.function_call_arguments.delta',
] as const;

export type ResponsesItemType = ResponsesItem['type'];

export interface ResponsesPiece {
  readonly type: (typeof PIECE_TYPES)[number];
  readonly output_index: number;
  /** Which of the item's texts it goes on with. */
  readonly place: number;
  readonly delta: string;
}

export interface ResponsesEnd {
  readonly type: 'response.completed' | 'response.incomplete';
  readonly output: readonly unknown[];
  /** Why the answer is not complete; null where nothing says so. */
  readonly reason: string | null;
  readonly usage: unknown;
}

export type ResponsesEvent =
  | { readonly type: 'response.output_item.added'; readonly output_index: number; readonly itemType: ResponsesItemType }
  | { readonly type: 'response.output_item.done'; readonly output_index: number; readonly item: unknown }
  | ResponsesPiece
  | ResponsesEnd
  | { readonly type: 'error'; readonly error: unknown };

/** Null where it is of no type that counts. Throws where it is, and cannot be read. */
export function parseResponsesEvent(raw: unknown): ResponsesEvent | null {
  const event = fieldsIn(raw);
  switch (event['type']) {
    case 'response.output_item.added':
      return { type: event['type'], output_index: indexIn(event['output_index']), itemType: itemTypeIn(fieldsIn(event['item'])['type']) };
    case 'response.output_item.done':
      return { type: event['type'], output_index: indexIn(event['output_index']), item: event['item'] };
    case 'response.completed':
    case 'response.incomplete': {
      const { output, incomplete_details: details, usage } = fieldsIn(event['response']);
      return { type: event['type'], output: listOrNull(output) ?? [], reason: textOrNull(fieldsOrNull(details)?.['reason']), usage };
    }
    case 'response.failed':
      return { type: 'error', error: fieldsIn(event['response'])['error'] };
    case 'error':
      return { type: 'error', error: event['error'] ?? event };
    default:
      return pieceIn(event);
  }
}

function pieceIn(event: Fields): ResponsesPiece | null {
  const type = PIECE_TYPES.find((known) => known === event['type']);
  if (type === undefined) return null;
  const place = indexOrNull(event['content_index']) ?? indexOrNull(event['summary_index']) ?? 0;
  return { type, output_index: indexIn(event['output_index']), place, delta: textIn(event['delta']) };
}

interface Said {
  readonly text: string;
  readonly isRefusal: boolean;
}

export type ResponsesItem =
  | { readonly type: 'message'; readonly id: string | null; readonly phase: string | null; readonly content: readonly Said[] | null }
  | {
      readonly type: 'reasoning';
      readonly encrypted_content: string | null;
      readonly summary: readonly string[] | null;
      readonly content: readonly string[] | null;
    }
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string };

export function parseResponsesItem(raw: unknown): ResponsesItem {
  const item = fieldsIn(raw);
  const type = itemTypeIn(item['type']);
  switch (type) {
    case 'message':
      return { type, id: textOrNull(item['id']), phase: textOrNull(item['phase']), content: listOrNull(item['content'])?.map(saidIn) ?? null };
    case 'reasoning':
      return {
        type,
        encrypted_content: textOrNull(item['encrypted_content']),
        summary: listOrNull(item['summary'])?.map(thoughtIn) ?? null,
        content: listOrNull(item['content'])?.map(thoughtIn) ?? null,
      };
    case 'function_call':
      return { type, call_id: textIn(item['call_id']), name: textIn(item['name']), arguments: textIn(item['arguments']) };
  }
}

function itemTypeIn(type: unknown): ResponsesItemType {
  if (type !== 'message' && type !== 'reasoning' && type !== 'function_call') throw unreadable();
  return type;
}

function saidIn(part: unknown): Said {
  const { type, text, refusal } = fieldsIn(part);
  if (type === 'output_text') return { text: textIn(text), isRefusal: false };
  if (type === 'refusal') return { text: textIn(refusal), isRefusal: true };
  throw unreadable();
}

function thoughtIn(part: unknown): string {
  return textIn(fieldsIn(part)['text']);
}
