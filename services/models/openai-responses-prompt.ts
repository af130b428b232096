/**
 * A conversation as the items of OpenAI Responses, which keep nothing between two requests here.
 *
 *   R1. Outputs follow their calls, in the order of the calls, and before what the user says in the same message.
 *   R2. Reasoning goes back as the item that came, or not at all: without its encrypted content nobody can read it. None
 *       stands at the end of a message, where it would be reasoning for nothing.
 *   R3. A message goes back with its id where its reasoning goes with it. The id is what ties the two together, and without
 *       the one the other is asked for.
 *   R4. Arguments go back byte for byte.
 */
import type {
  Block,
  ContentBlock,
  JsonObject,
  JsonValue,
  Message,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../../machines/messages.ts';
import { keptWords, type MessageWords } from './message-words.ts';
import { fieldsOf, isObject } from './provider-fields.ts';
import { acceptedToolName, mediaOf, misplaced, NO_WORDS, UnsupportedContent } from './request-content.ts';
import { listJson } from './request-json.ts';
import { ID_CHARACTERS_MAX, withUniqueCallIds } from './tool-call-ids.ts';

type Item = JsonObject;

/** Each message as the text of its items' JSON; of some there is nothing to say. */
export const responsesWords = (): MessageWords<string> => keptWords((message) => itemsOf(message).map((item) => JSON.stringify(item)).join(','));

/** The text of the items' JSON. */
export function responsesInput(messages: readonly Message[], words: MessageWords<string>): string {
  const items = words(withUniqueCallIds(messages, acceptedId)).filter((text) => text !== '');
  return listJson(items.length === 0 ? [JSON.stringify(userItem([]))] : items);
}

function itemsOf(message: Message): readonly Item[] {
  return message.role === 'user' ? ofUser(message) : ofAssistant(message);
}

function ofUser(message: Message): readonly Item[] {
  const results = message.content.filter((block) => block.type === 'tool_result').map(outputItem);
  const said = message.content.flatMap((block) => userPart(message, block));
  return said.length === 0 && results.length > 0 ? results : [...results, userItem(said)];
}

function userItem(said: readonly JsonObject[]): Item {
  return { role: 'user', content: said.length === 0 ? [{ type: 'input_text', text: NO_WORDS }] : said };
}

function userPart(message: Message, block: Block): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [inputPart(block)];
    case 'image':
    case 'file':
      return [inputPart(block)];
    case 'tool_result':
      return [];
    case 'reasoning':
    case 'tool_use':
      throw misplaced(message, block);
  }
}

/** An output of words alone is a text, which every server takes. */
function outputItem({ tool_use_id: call_id, content }: ToolResultBlock): Item {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const output = texts.length === content.length ? texts.join('\n') : content.filter(isWorthSaying).map(inputPart);
  return { type: 'function_call_output', call_id, output };
}

function isWorthSaying(block: ContentBlock): boolean {
  return block.type !== 'text' || block.text !== '';
}

function inputPart(block: ContentBlock): JsonObject {
  if (block.type === 'text') return { type: 'input_text', text: block.text };
  const media = mediaOf(block);
  const { mediaType } = media;
  const url = media.kind === 'url' ? media.url : `data:${mediaType};base64,${media.base64}`;
  if (mediaType.startsWith('image/')) return { type: 'input_image', image_url: url };
  if (media.kind === 'url') return { type: 'input_file', file_url: url };
  const extension = EXTENSIONS[mediaType];
  if (extension === undefined) throw new UnsupportedContent(`a file of type ${mediaType}`);
  return { type: 'input_file', filename: `file.${extension}`, file_data: url };
}

// The provider tells what a file is by its name.
const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'text/html': 'html',
};

function ofAssistant(message: Message): readonly Item[] {
  const items: Item[] = [];
  let open: { readonly id: JsonValue | undefined; readonly parts: JsonObject[] } | null = null;
  for (const block of message.content.slice(0, message.content.findLastIndex(isSaid) + 1)) {
    if (block.type === 'text') {
      if (block.text === '') continue;
      const { id } = fieldsOf(block.provider);
      if (open === null || id === undefined || open.id !== id) {
        open = { id, parts: [] };
        items.push(messageItem(block, { content: open.parts, hasReasoning: items.some(({ type }) => type === 'reasoning') }));
      }
      open.parts.push(outputPart(block));
      continue;
    }
    open = null;
    items.push(...otherItems(message, block));
  }
  return items;
}

function isSaid(block: Block): boolean {
  return block.type === 'tool_use' || (block.type === 'text' && block.text !== '');
}

function otherItems(message: Message, block: Block): readonly Item[] {
  if (block.type === 'tool_use') return [callItem(block)];
  if (block.type !== 'reasoning') throw misplaced(message, block);
  const { item } = fieldsOf(block.provider);
  return isObject(item) && typeof item['encrypted_content'] === 'string' ? [item] : [];
}

function messageItem(
  { provider }: TextBlock,
  { content, hasReasoning }: { readonly content: readonly JsonObject[]; readonly hasReasoning: boolean },
): Item {
  const { id, phase } = fieldsOf(provider);
  return {
    type: 'message',
    role: 'assistant',
    ...(hasReasoning && typeof id === 'string' ? { id } : {}),
    ...(typeof phase === 'string' ? { phase } : {}),
    content,
  };
}

function outputPart({ text, provider }: TextBlock): JsonObject {
  return fieldsOf(provider)['refusal'] === true ? { type: 'refusal', refusal: text } : { type: 'output_text', text };
}

function callItem({ id: call_id, name, input_text }: ToolUseBlock): Item {
  return { type: 'function_call', call_id, name: acceptedToolName(name), arguments: input_text };
}

function acceptedId(id: string): string {
  return id === '' ? '_' : id.slice(0, ID_CHARACTERS_MAX);
}
