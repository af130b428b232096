/**
 * Messages as chat completions have them. What came from the provider goes back as it came: the arguments of a tool call
 * byte for byte, also where they are no JSON, and reasoning under the name that it came under.
 */
import type {
  Block,
  ContentBlock,
  JsonValue,
  Message,
  ReasoningBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../../machines/messages.ts';
import type { ProviderCallOptions } from './provider-library.ts';
import { acceptedToolName, mediaOf, misplaced, UnsupportedContent } from './request-content.ts';

type Prompt = ProviderCallOptions['prompt'];
type PromptMessage = Prompt[number];
type UserPart = Extract<PromptMessage, { readonly role: 'user' }>['content'][number];
type AssistantPart = Extract<PromptMessage, { readonly role: 'assistant' }>['content'][number];
type OwnField = NonNullable<NonNullable<PromptMessage['providerOptions']>[string][string]>;
type ToolPart = Extract<PromptMessage, { readonly role: 'tool' }>['content'][number];

/** Under this name the library takes fields for the request's own message, call or part. */
const OWN_FIELDS = 'openaiCompatible';

export function promptOf({ system, messages }: { readonly system?: string; readonly messages: readonly Message[] }): Prompt {
  const prompt = messages.flatMap((message) => (message.role === 'user' ? ofUser(message) : [ofAssistant(message)]));
  return system === undefined || system === '' ? prompt : [{ role: 'system', content: system }, ...prompt];
}

/** Results come first, as they must follow the calls at once. Their images come after all of them, with the user's words. */
function ofUser(message: Message): readonly PromptMessage[] {
  const { content } = message;
  const results = content.filter((block) => block.type === 'tool_result');
  const said = content.flatMap((block) => contentIn(message, block));
  const shown = results.flatMap((result) => result.content.filter(({ type }) => type !== 'text'));
  const introduction: readonly ContentBlock[] = shown.length === 0 ? [] : [{ type: 'text', text: 'What the tools returned besides:' }];
  const parts = [...introduction, ...shown, ...said].map(userPart);
  const answered: readonly PromptMessage[] = results.length === 0 ? [] : [{ role: 'tool', content: results.map(toolPart) }];
  if (parts.length > 0) return [...answered, { role: 'user', content: parts }];
  return answered.length > 0 ? answered : [{ role: 'user', content: [{ type: 'text', text: '' }] }];
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

/** An empty result is the empty text: it is an answer all the same. */
function toolPart({ tool_use_id, content }: ToolResultBlock): ToolPart {
  const value = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return { type: 'tool-result', toolCallId: givenId(tool_use_id), toolName: '', output: { type: 'text', value } };
}

function ofAssistant(message: Message): PromptMessage {
  const { content } = message;
  const reasoning = content.filter((block) => block.type === 'reasoning' && cameAsReasoning(block));
  const elsewhere = reasoning.map((block) => (block.type === 'reasoning' ? block.text : '')).join('');
  const parts = content.filter((block) => !reasoning.includes(block)).map((block) => assistantPart(message, block));
  if (elsewhere === '') return { role: 'assistant', content: parts };
  return { role: 'assistant', content: parts, providerOptions: { [OWN_FIELDS]: { reasoning: elsewhere } } };
}

function assistantPart(message: Message, block: Block): AssistantPart {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, text: block.text };
    case 'tool_use':
      return toolCallPart(block);
    case 'image':
    case 'file':
    case 'tool_result':
      throw misplaced(message, block);
  }
}

/** The library would write `input` anew, or in quotes where it is no JSON; a field of the call's own is written as it is. */
function toolCallPart({ id, name, input_text, provider }: ToolUseBlock): AssistantPart {
  const extra = fieldOf(provider, 'extra_content');
  const call = { function: { name: acceptedToolName(name), arguments: input_text }, ...(extra === undefined ? {} : { extra_content: copyOf(extra) }) };
  return { type: 'tool-call', toolCallId: givenId(id), toolName: name, input: {}, providerOptions: { [OWN_FIELDS]: call } };
}

/** Ids that repeat are taken as they are here; one has to be there. */
function givenId(id: string): string {
  return id === '' ? '_' : id;
}

/** Most providers say `reasoning_content`, which is what the library writes; some say `reasoning`. */
function cameAsReasoning({ provider }: ReasoningBlock | TextBlock): boolean {
  return fieldOf(provider, 'field') === 'reasoning';
}

function userPart(block: ContentBlock): UserPart {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const media = mediaOf(block);
  const { mediaType } = media;
  if (media.kind === 'data') return { type: 'file', mediaType, data: media.base64 };
  if (!mediaType.startsWith('image/')) throw new UnsupportedContent(`a file of type ${mediaType} that is not a data URL`);
  return { type: 'file', mediaType, data: new URL(media.url) };
}

/** The library's own type of JSON can be changed, and Brain's cannot: it is given a copy. */
function copyOf(value: JsonValue): OwnField {
  return JSON.parse(JSON.stringify(value)) as OwnField;
}

function fieldOf(provider: JsonValue | undefined, field: string): JsonValue | undefined {
  if (typeof provider !== 'object' || provider === null || !(field in provider)) return undefined;
  return (provider as Readonly<Record<string, JsonValue>>)[field];
}
