/** The chunks of a streamed chat completion, as far as Brain reads them: of each the first choice, and the counts. */
import type { ToolCallPiece } from './openai-chat-tool-calls.ts';
import { fieldsIn, fieldsOrNull, listIn, listOrNull, textIn, textOrNull, unreadable, type Fields } from './stream-events.ts';

/** Words, in the order in which a chunk has them. */
export interface ChatWords {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

export interface ChatChunk {
  readonly words: readonly ChatWords[];
  /** The name under which reasoning came; null where none did. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | null;
  /** Whether some of the words are the model's refusal. */
  readonly isRefusal: boolean;
  readonly calls: readonly ToolCallPiece[];
  readonly finishReason: string | null;
  /** What there is of counts; null where there is nothing. */
  readonly usage: unknown;
}

/** Throws where it cannot be read: passing over a piece would make the message another one. */
export function parseChatChunk(raw: unknown): ChatChunk {
  const { choices, usage } = fieldsIn(raw);
  const choice = fieldsOrNull(listIn(choices)[0]);
  const { role, reasoning_content, reasoning, content, refusal, tool_calls } = fieldsOrNull(choice?.['delta']) ?? NO_FIELDS;
  // Some servers leave it empty. What another role says is no answer.
  if (role !== 'assistant' && role !== undefined && role !== null && role !== '') throw unreadable();
  const usual = textOrNull(reasoning_content);
  const other = textOrNull(reasoning);
  // Some servers say `false` where there is none.
  const refused = typeof refusal === 'string' ? refusal : '';
  return {
    words: wordsIn(usual ?? other ?? '', content, refused),
    reasoningField: usual !== null ? 'reasoning_content' : other === null || other === '' ? null : 'reasoning',
    isRefusal: refused !== '',
    calls: listOrNull(tool_calls)?.map(callPieceIn) ?? NO_CALLS,
    finishReason: textOrNull(choice?.['finish_reason']),
    usage: usage ?? null,
  };
}

const NO_FIELDS: Fields = {};
const NO_CALLS: readonly ToolCallPiece[] = [];

function wordsIn(reasoning: string, content: unknown, refusal: string): readonly ChatWords[] {
  const words: ChatWords[] = [];
  if (reasoning !== '') words.push({ type: 'reasoning', text: reasoning });
  if (typeof content !== 'string') words.push(...(listOrNull(content) ?? []).flatMap(wordsOfPart));
  else if (content !== '') words.push({ type: 'text', text: content });
  if (refusal !== '') words.push({ type: 'text', text: refusal });
  return words;
}

/** Some servers give a content in parts, and what the model thought among them. */
function wordsOfPart(part: unknown): readonly ChatWords[] {
  const { type, text, thinking } = fieldsIn(part);
  if (textIn(type) === 'text' && typeof text === 'string' && text !== '') return [{ type: 'text', text }];
  if (type !== 'thinking' || !Array.isArray(thinking)) return [];
  return thinking.map(fieldsIn).flatMap((thought): readonly ChatWords[] =>
    thought['type'] === 'text' && typeof thought['text'] === 'string' && thought['text'] !== '' ? [{ type: 'reasoning', text: thought['text'] }] : [],
  );
}

function callPieceIn(piece: unknown): ToolCallPiece {
  const { index, id, function: called, extra_content } = fieldsIn(piece);
  if (index !== undefined && index !== null && typeof index !== 'number') throw unreadable();
  const fields = fieldsOrNull(called);
  return { index: index ?? null, id: textOrNull(id), name: textOrNull(fields?.['name']), input: textOrNull(fields?.['arguments']) ?? '', extra_content };
}
