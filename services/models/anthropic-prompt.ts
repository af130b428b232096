/**
 * A conversation as Anthropic Messages have it, as the text of its JSON: arguments stand in it byte for byte.
 *
 *   A1. Turns alternate and begin with the user: messages of one side that follow each other are one turn, and a turn has
 *       at least one block.
 *   A2. Results come first in their turn, in the order of the calls.
 *   A3. No text is without a word. A failure without output says so.
 *   A4. Reasoning goes back with its signature, exactly as it came, or not at all; and never at the end of a turn.
 *   A5. The arguments of a call are an object. What the model wrote instead goes back as text in one.
 *   A6. Ids are of letters, digits, `_` and `-`, and come once.
 */
import {
  toolUsesOf,
  type Block,
  type ContentBlock,
  type FileBlock,
  type ImageBlock,
  type Message,
  type ReasoningBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../machines/messages.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import { keptWords, type MessageWords } from './message-words.ts';
import { fieldsOf } from './provider-fields.ts';
import { acceptedToolName, mediaOf, misplaced, NO_WORDS, UnsupportedContent } from './request-content.ts';
import { listJson } from './request-json.ts';
import { withUniqueCallIds } from './tool-call-ids.ts';

/** What one side says: the JSON of its blocks, with commas between them. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly results: string;
  readonly blocks: string;
}

export const anthropicWords = (): MessageWords<Turn> => keptWords(turnOf);

/** The text of the turns' JSON. */
export function anthropicMessages(messages: readonly Message[], words: MessageWords<Turn>): string {
  const turns: Turn[] = [];
  for (const turn of words(withUniqueCallIds(messages, acceptedId))) {
    const last = turns.at(-1);
    if (turn.role === 'assistant' && turn.blocks === '') continue;
    if (last?.role === turn.role) {
      turns[turns.length - 1] = { role: turn.role, results: joined(last.results, turn.results), blocks: joined(last.blocks, turn.blocks) };
    } else {
      turns.push(turn);
    }
  }
  const started = turns[0]?.role === 'user' ? turns : [NOTHING_SAID, ...turns];
  return listJson(started.map(jsonOf));
}

function joined(left: string, right: string): string {
  return left === '' || right === '' ? left + right : `${left},${right}`;
}

/** The names of the tools that a conversation uses: a request that has calls in it must offer tools. */
export function toolNamesIn(messages: readonly Message[]): readonly string[] {
  return [...new Set(messages.flatMap(toolUsesOf).map(({ name }) => acceptedToolName(name)))];
}

const NOTHING_SAID: Turn = { role: 'user', results: '', blocks: '' };

function jsonOf({ role, results, blocks }: Turn): string {
  const content = joined(results, blocks);
  return `{"role":"${role}","content":[${content === '' ? textJson(NO_WORDS) : content}]}`;
}

function turnOf(message: Message): Turn {
  const { role, content } = message;
  if (role === 'assistant') return { role, results: '', blocks: assistantBlocks(message).join(',') };
  const results = content.filter((block) => block.type === 'tool_result').map(resultJson);
  return { role, results: results.join(','), blocks: content.flatMap((block) => userBlock(message, block)).join(',') };
}

function userBlock(message: Message, block: Block): readonly string[] {
  switch (block.type) {
    case 'text':
    case 'image':
    case 'file':
      return contentJson(block);
    case 'tool_result':
      return [];
    case 'reasoning':
    case 'tool_use':
      throw misplaced(message, block);
  }
}

function assistantBlocks(message: Message): readonly string[] {
  const { content } = message;
  const spoken = content.findLastIndex((block) => block.type === 'tool_use' || (block.type === 'text' && hasWords(block.text)));
  return content.slice(0, spoken + 1).flatMap((block) => assistantBlock(message, block));
}

function assistantBlock(message: Message, block: Block): readonly string[] {
  switch (block.type) {
    case 'text':
      return contentJson(block);
    case 'reasoning':
      return reasoningJson(block);
    case 'tool_use':
      return [toolUseJson(block)];
    case 'image':
    case 'file':
    case 'tool_result':
      throw misplaced(message, block);
  }
}

function reasoningJson({ text: thinking, provider }: ReasoningBlock): readonly string[] {
  const { signature, redacted_data: data } = fieldsOf(provider);
  if (typeof signature === 'string') return [JSON.stringify({ type: 'thinking', thinking, signature })];
  if (typeof data === 'string') return [JSON.stringify({ type: 'redacted_thinking', data })];
  return [];
}

function toolUseJson({ id, name, input_text }: ToolUseBlock): string {
  const head = JSON.stringify({ type: 'tool_use', id, name: acceptedToolName(name) });
  return `${head.slice(0, -1)},"input":${inputJson(input_text)}}`;
}

function inputJson(text: string): string {
  const parsed = parseToolArguments(text);
  if (parsed.kind === 'invalid' || typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value)) {
    // The name is the one that the provider's documentation gives for arguments that are not.
    return JSON.stringify({ INVALID_JSON: text });
  }
  const clean = JSON.stringify(parsed.value);
  // Half a character can be written as an escape, and no other parser takes it.
  return text !== '' && JSON.stringify(JSON.parse(text)) === clean ? text : clean;
}

function resultJson({ tool_use_id, content, is_error }: ToolResultBlock): string {
  const said = content.flatMap(contentJson);
  const shown = said.length === 0 && is_error ? [textJson('The tool failed and said nothing more.')] : said;
  const head = JSON.stringify({ type: 'tool_result', tool_use_id, ...(is_error ? { is_error } : {}) });
  return shown.length === 0 ? head : `${head.slice(0, -1)},"content":[${shown.join(',')}]}`;
}

function contentJson(block: ContentBlock): readonly string[] {
  if (block.type === 'text') return hasWords(block.text) ? [textJson(block.text)] : [];
  return [mediaJson(block)];
}

function textJson(text: string): string {
  return JSON.stringify({ type: 'text', text });
}

function mediaJson(block: ImageBlock | FileBlock): string {
  const media = mediaOf(block);
  const { mediaType: media_type } = media;
  const isImage = media_type.startsWith('image/');
  if (isImage || media_type === 'application/pdf') {
    const source =
      media.kind === 'url' ? { type: 'url', url: media.url } : { type: 'base64', media_type, data: media.base64 };
    return JSON.stringify({ type: isImage ? 'image' : 'document', source });
  }
  if (media.kind === 'url' || !media_type.startsWith('text/')) throw new UnsupportedContent(`a file of type ${media_type}`);
  const data = Buffer.from(media.base64, 'base64').toString('utf8');
  return JSON.stringify({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } });
}

function hasWords(text: string): boolean {
  return text.trim() !== '';
}

function acceptedId(id: string): string {
  return id === '' ? '_' : id.replace(/[^A-Za-z0-9_-]/g, '_');
}
