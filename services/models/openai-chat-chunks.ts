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

/** The provider's own error in a chunk; null where there is none. */
export function errorInChunk(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'error' in raw ? (raw.error ?? null) : null;
}

/** Throws where it cannot be read: passing over a piece would make the message another one. */
export function parseChatChunk(raw: unknown): ChatChunk {
  const { choices, usage = null } = fieldsIn(raw);
  const choice = fieldsOrNull(listIn(choices)[0]);
  const delta = fieldsOrNull(choice?.['delta']);
  const finishReason = textOrNull(choice?.['finish_reason']);
  return { ...(delta === null ? NOTHING : deltaIn(delta)), finishReason, usage };
}

type ChatDelta = Omit<ChatChunk, 'finishReason' | 'usage'>;

const NOTHING: ChatDelta = { words: [], reasoningField: null, isRefusal: false, calls: [] };
const NO_CALLS: readonly ToolCallPiece[] = [];

function deltaIn({ role, reasoning_content, reasoning, content, refusal, tool_calls }: Fields): ChatDelta {
  // Some servers leave it empty. What another role says is no answer.
  if (![null, '', 'assistant'].includes(textOrNull(role))) throw unreadable();
  const words: ChatWords[] = [];
  const say = (type: ChatWords['type'], text: string | null): void => {
    if (text !== null && text !== '') words.push({ type, text });
  };
  const usual = textOrNull(reasoning_content);
  const other = textOrNull(reasoning);
  say('reasoning', usual ?? other);
  if (typeof content === 'string') say('text', content);
  else for (const part of listOrNull(content) ?? []) sayPart(fieldsIn(part), say);
  // Some servers say `false` where there is none.
  const refused = typeof refusal === 'string' ? refusal : '';
  say('text', refused);
  return {
    words,
    reasoningField: usual !== null ? 'reasoning_content' : other === null || other === '' ? null : 'reasoning',
    isRefusal: refused !== '',
    calls: listOrNull(tool_calls)?.map((piece) => callPieceIn(fieldsIn(piece))) ?? NO_CALLS,
  };
}

/** Some servers give a content in parts, and what the model thought among them. */
function sayPart({ type, text, thinking }: Fields, say: (type: ChatWords['type'], text: string) => void): void {
  if (textIn(type) === 'text' && typeof text === 'string') say('text', text);
  if (type !== 'thinking' || !Array.isArray(thinking)) return;
  for (const thought of thinking as readonly unknown[]) {
    const fields = fieldsIn(thought);
    if (fields['type'] === 'text' && typeof fields['text'] === 'string') say('reasoning', fields['text']);
  }
}

function callPieceIn({ index, id, function: called, extra_content }: Fields): ToolCallPiece {
  if (index !== undefined && index !== null && typeof index !== 'number') throw unreadable();
  const fields = fieldsOrNull(called);
  return { index: index ?? null, id: textOrNull(id), name: textOrNull(fields?.['name']), input: textOrNull(fields?.['arguments']) ?? '', extra_content };
}
