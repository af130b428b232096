/**
 * Messages as Brain keeps them: neutral between providers, and lossless.
 *
 * What a provider needs back unchanged (a reasoning signature, an encrypted block) rides in `provider` and is never
 * looked into. A tool call's arguments are kept as the provider's own text, since re-serialised JSON is another text.
 */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly provider?: JsonValue;
}

export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly text: string;
  readonly provider?: JsonValue;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  /** The provider's own id: not unique, so effects are keyed by sequence and results matched by position. */
  readonly id: string;
  readonly name: string;
  /** The parse of `input_text`; absent where that is no valid JSON. */
  readonly input?: JsonValue;
  /** The provider's exact text. The empty text stands for `{}`. */
  readonly input_text: string;
  readonly provider?: JsonValue;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly url: string;
  readonly media_type: string;
  readonly provider?: JsonValue;
}

export interface FileBlock {
  readonly type: 'file';
  readonly url: string;
  readonly media_type: string;
  readonly provider?: JsonValue;
}

/**
 * How a tool call ended. `timeout`, `cancelled` and `unknown` are always errors and never say that nothing happened
 * outside; `unknown` says that the call may have run and that no trustworthy end is known.
 */
export type ToolOutcome = 'ok' | 'error' | 'timeout' | 'cancelled' | 'unknown';

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: readonly ContentBlock[];
  readonly is_error: boolean;
  readonly outcome: ToolOutcome;
}

/** What a person or a tool can say. */
export type ContentBlock = TextBlock | ImageBlock | FileBlock;
export type Block = ContentBlock | ReasoningBlock | ToolUseBlock | ToolResultBlock;

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

/** What a client sends as a message: plain text, or blocks. */
export type UserInput = string | readonly ContentBlock[];

/** The message that a user's input is in a conversation. Empty text is no block. */
export function userMessage(input: UserInput): Message {
  return { role: 'user', content: typeof input === 'string' ? textBlocks(input) : input };
}

/** The text as blocks: none for the empty text. */
export function textBlocks(text: string): readonly TextBlock[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** The plain text of a message: its text blocks put together, without reasoning. */
export function textOf(message: Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The tool calls that a message asks for, in the order of the calls. */
export function toolUsesOf(message: Message): readonly ToolUseBlock[] {
  return message.content.filter((block) => block.type === 'tool_use');
}

/**
 * A tool's output as content for a model: nothing for null and the empty text, text as it is, content blocks as they
 * are, and any other value as its JSON.
 */
export function contentOf(output: JsonValue): readonly ContentBlock[] {
  if (output === null) return [];
  if (typeof output === 'string') return textBlocks(output);
  if (isContent(output)) return output;
  return textBlocks(JSON.stringify(output));
}

function isContent(output: JsonValue): output is readonly (JsonValue & ContentBlock)[] {
  return Array.isArray(output) && output.length > 0 && output.every(isContentBlock);
}

function isContentBlock(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  const block: JsonObject = value;
  if (block['type'] === 'text') return typeof block['text'] === 'string' && block['text'] !== '';
  return (
    (block['type'] === 'image' || block['type'] === 'file') &&
    typeof block['url'] === 'string' &&
    typeof block['media_type'] === 'string'
  );
}
