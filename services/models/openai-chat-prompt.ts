/**
 * Messages as chat completions have them. What came from the provider goes back as it came: the arguments of a tool call
 * byte for byte, also where they are no JSON, and reasoning under the name that it came under.
 */
import type { Block, ContentBlock, Message, ReasoningBlock, ToolResultBlock, ToolUseBlock } from '../../machines/messages.ts';
import { fieldsOf } from './provider-fields.ts';
import { acceptedToolName, mediaOf, misplaced, UnsupportedContent } from './request-content.ts';

/** The text of a message's JSON. A message can be several in the protocol's words, and is one at least. */
export function chatMessageJson(message: Message): string {
  if (message.role === 'assistant') return JSON.stringify(ofAssistant(message));
  return ofUser(message).map((one) => JSON.stringify(one)).join(',');
}

/** Results come first, as they must follow the calls at once. Their images come after all of them, with the user's words. */
function ofUser(message: Message): readonly object[] {
  const { content } = message;
  const results = content.filter((block) => block.type === 'tool_result');
  const said = content.flatMap((block) => contentIn(message, block));
  const shown = results.flatMap((result) => result.content.filter(({ type }) => type !== 'text'));
  const introduction: readonly ContentBlock[] = shown.length === 0 ? [] : [{ type: 'text', text: 'What the tools returned besides:' }];
  const parts = [...introduction, ...shown, ...said];
  const answered = results.map(toolMessage);
  return parts.length === 0 && answered.length > 0 ? answered : [...answered, userMessage(parts)];
}

function contentIn(message: Message, block: Block): readonly ContentBlock[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [block];
    case 'image':
    case 'file':
      return [block];
    case 'tool_result':
      return [];
    case 'reasoning':
    case 'tool_use':
      throw misplaced(message, block);
  }
}

/** Words alone are a text, which every server takes. */
function userMessage(parts: readonly ContentBlock[]): object {
  const [first] = parts;
  if (first === undefined) return { role: 'user', content: '' };
  return { role: 'user', content: parts.length === 1 && first.type === 'text' ? first.text : parts.map(userPart) };
}

/** An empty result is the empty text: it is an answer all the same. */
function toolMessage({ tool_use_id, content }: ToolResultBlock): object {
  const said = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return { role: 'tool', tool_call_id: givenId(tool_use_id), content: said };
}

function ofAssistant(message: Message): object {
  let text = '';
  const reasoning = { reasoning: '', reasoning_content: '' };
  const calls: object[] = [];
  for (const block of message.content) {
    switch (block.type) {
      case 'text':
        text += block.text;
        break;
      case 'reasoning':
        reasoning[fieldOfReasoning(block)] += block.text;
        break;
      case 'tool_use':
        calls.push(toolCall(block));
        break;
      case 'image':
      case 'file':
      case 'tool_result':
        throw misplaced(message, block);
    }
  }
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning.reasoning_content === '' ? {} : { reasoning_content: reasoning.reasoning_content }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reasoning.reasoning === '' ? {} : { reasoning: reasoning.reasoning }),
  };
}

/** Most providers say `reasoning_content`; some say `reasoning`. */
function fieldOfReasoning({ provider }: ReasoningBlock): 'reasoning' | 'reasoning_content' {
  return fieldsOf(provider)['field'] === 'reasoning' ? 'reasoning' : 'reasoning_content';
}

function toolCall({ id, name, input_text, provider }: ToolUseBlock): object {
  const { extra_content } = fieldsOf(provider);
  return {
    id: givenId(id),
    type: 'function',
    function: { name: acceptedToolName(name), arguments: input_text },
    ...(extra_content === undefined ? {} : { extra_content }),
  };
}

/** Ids that repeat are taken as they are here; one has to be there. */
function givenId(id: string): string {
  return id === '' ? '_' : id;
}

function userPart(block: ContentBlock): object {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const media = mediaOf(block);
  const { mediaType } = media;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url: media.kind === 'url' ? media.url : dataUrl(mediaType, media.base64) } };
  if (media.kind === 'url') throw new UnsupportedContent(`a file of type ${mediaType} that is not a data URL`);
  const { base64: data } = media;
  if (mediaType === 'application/pdf') return { type: 'file', file: { filename: 'document.pdf', file_data: dataUrl(mediaType, data) } };
  if (mediaType.startsWith('text/')) return { type: 'text', text: new TextDecoder().decode(Buffer.from(data, 'base64')) };
  const format = AUDIO_FORMATS[mediaType];
  if (format === undefined) throw new UnsupportedContent(`a file of type ${mediaType}`);
  return { type: 'input_audio', input_audio: { data, format } };
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/mp3': 'mp3', 'audio/mpeg': 'mp3' };

function dataUrl(mediaType: string, base64: string): string {
  // Nobody said which kind of image it is. Servers look at its bytes, and want to be told of one.
  return `data:${mediaType === 'image/*' ? 'image/jpeg' : mediaType};base64,${base64}`;
}
