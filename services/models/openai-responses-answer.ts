/**
 * A streamed response of OpenAI's, from its events to one whole message. What an item came to, the event says that ends
 * it; the pieces before are for whoever watches, and count only where that event leaves out what they made.
 * An item that is not known is of the message all the same, and passing over it would make the message another one.
 */
import type { Block, JsonValue, ReasoningBlock, TextBlock, ToolUseBlock } from '../../machines/messages.ts';
import { plainData, plainText } from '../../machines/plain-data.ts';
import type { FinishReason } from '../../machines/records.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import type { ModelDelta, ModelOutcome } from './model-provider.ts';
import {
  parseResponsesEvent,
  parseResponsesItem,
  type ResponsesEnd,
  type ResponsesEvent,
  type ResponsesItem,
  type ResponsesItemType,
  type ResponsesPiece,
} from './openai-responses-events.ts';
import type { StreamedAnswer } from './provider-call.ts';
import { fieldsOf } from './provider-fields.ts';
import { incompleteAnswer } from './provider-outcome.ts';
import { countIn, countsIn, usageFrom } from './provider-usage.ts';
import { MalformedStream, messageOf, ProviderFailure } from './stream-errors.ts';
import { StreamedText } from './streamed-text.ts';

interface StreamedPart {
  readonly type: ResponsesPiece['type'];
  readonly place: number;
  readonly text: StreamedText;
}

interface StreamedItem {
  readonly index: number;
  readonly type: ResponsesItemType;
  readonly parts: StreamedPart[];
  /** What it came to; null while it goes on. */
  blocks: readonly Block[] | null;
}

export class OpenAiResponsesAnswer implements StreamedAnswer {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #items: StreamedItem[] = [];
  #end: ResponsesEnd | null = null;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  take(event: unknown): void {
    const taken = parseResponsesEvent(event);
    if (taken !== null) this.#takeEvent(taken);
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  outcome(): ModelOutcome {
    if (this.#end === null) return incompleteAnswer({});
    const usage = usageOf(this.#end);
    const items = this.#items.toSorted((left, right) => left.index - right.index);
    const content = items.flatMap(({ blocks }) => {
      if (blocks === null) throw new MalformedStream('an item does not end');
      return blocks;
    });
    const reason = finishReasonOf(this.#end, content);
    if (reason === null) return incompleteAnswer(usage);
    return { outcome: 'ended', message: { role: 'assistant', content }, finish_reason: reason, ...usage };
  }

  #takeEvent(taken: ResponsesEvent): void {
    switch (taken.type) {
      case 'response.output_item.added':
        this.#open(taken.output_index, taken.itemType);
        return;
      case 'response.output_item.done':
        this.#close(taken.output_index, taken.item);
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(taken);
        return;
      case 'error':
        throw new ProviderFailure(messageOf(taken.error));
      default:
        this.#takePiece(taken);
        return;
    }
  }

  #open(at: number, type: StreamedItem['type']): StreamedItem {
    if (this.#itemAt(at) !== undefined) throw new MalformedStream('two items at one place');
    const opened: StreamedItem = { index: at, type, parts: [], blocks: null };
    this.#items.push(opened);
    return opened;
  }

  #close(at: number, raw: unknown): void {
    const done = parseResponsesItem(raw);
    const open = this.#itemAt(at) ?? this.#open(at, done.type);
    if (open.type !== done.type || open.blocks !== null) throw new MalformedStream('an item ends as another');
    open.blocks = blocksOf(done, { raw, parts: open.parts });
  }

  /** Some servers give the items at the end alone. */
  #finish(end: ResponsesEnd): void {
    this.#end = end;
    for (const [at, raw] of end.output.entries()) {
      if ((this.#itemAt(at)?.blocks ?? null) === null) this.#close(at, raw);
    }
  }

  #takePiece({ type, output_index: at, place, delta }: ResponsesPiece): void {
    const open = this.#itemAt(at);
    if (open === undefined || open.blocks !== null || open.type !== ITEM_OF[type]) {
      throw new MalformedStream('a piece that belongs to no item');
    }
    const known = open.parts.find((part) => part.type === type && part.place === place);
    const part = known ?? { type, place, text: new StreamedText() };
    if (known === undefined) {
      if (open.type === 'reasoning' && open.parts.length > 0) this.#onDelta({ reasoning: BETWEEN_SUMMARIES });
      open.parts.push(part);
    }
    const shown = part.text.push(delta);
    if (shown !== '') this.#onDelta(deltaOf(open.type, shown));
  }

  #itemAt(at: number): StreamedItem | undefined {
    return this.#items.find((one) => one.index === at);
  }
}

const ITEM_OF: Readonly<Record<ResponsesPiece['type'], StreamedItem['type']>> = {
  'response.output_text.delta': 'message',
  'response.refusal.delta': 'message',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'function_call',
};

const BETWEEN_SUMMARIES = '\n\n';

function deltaOf(type: StreamedItem['type'], shown: string): ModelDelta {
  switch (type) {
    case 'message':
      return { text: shown };
    case 'reasoning':
      return { reasoning: shown };
    case 'function_call':
      return { tool_input: shown };
  }
}

type Of<Type extends ResponsesItem['type']> = Extract<ResponsesItem, { readonly type: Type }>;

interface Came {
  readonly raw: unknown;
  readonly parts: readonly StreamedPart[];
}

function blocksOf(done: ResponsesItem, came: Came): readonly Block[] {
  switch (done.type) {
    case 'message':
      return textBlocks(done, came);
    case 'reasoning':
      return [reasoningBlock(done, came)];
    case 'function_call':
      return [toolUse(done)];
  }
}

function textBlocks({ id, phase, content }: Of<'message'>, { parts }: Came): readonly TextBlock[] {
  const said = content ?? parts.map(({ type, text: { text } }) => ({ text, isRefusal: type === 'response.refusal.delta' }));
  const tie = { ...given('id', id), ...given('phase', phase) };
  return said.flatMap(({ text: raw, isRefusal }): readonly TextBlock[] => {
    const text = plainText(raw);
    const provider = { ...tie, ...(isRefusal ? { refusal: true } : {}) };
    return text === '' ? [] : [{ type: 'text', text, ...(Object.keys(provider).length === 0 ? {} : { provider }) }];
  });
}

/** The item is kept whole, as it came, or not at all where a character of it cannot be kept. */
function reasoningBlock({ encrypted_content: encrypted, summary, content }: Of<'reasoning'>, { raw, parts }: Came): ReasoningBlock {
  const told = [summary, content].find((one) => one !== null && one.length > 0);
  const words = told ?? parts.map(({ text: { text } }) => text);
  const text = plainText(words.join(BETWEEN_SUMMARIES));
  const kept = plainData(raw);
  const isWhole = typeof encrypted === 'string' && encrypted !== '' && kept.ok && JSON.stringify(kept.value) === JSON.stringify(raw);
  return { type: 'reasoning', text, ...(isWhole ? { provider: { item: kept.value } } : {}) };
}

function toolUse({ call_id, name, arguments: raw }: Of<'function_call'>): ToolUseBlock {
  const input_text = plainText(raw);
  const parsed = parseToolArguments(input_text);
  const input: { readonly input?: JsonValue } = parsed.kind === 'parsed' ? { input: parsed.value } : {};
  return { type: 'tool_use', id: plainText(call_id), name: plainText(name), ...input, input_text };
}

function given(name: 'id' | 'phase', value: string | null) {
  return value === null ? {} : { [name]: plainText(value) };
}

function finishReasonOf({ type, reason }: ResponsesEnd, content: readonly Block[]): FinishReason | null {
  if (type === 'response.incomplete' || reason !== null) {
    switch (reason) {
      case 'max_output_tokens':
        return 'length';
      case 'content_filter':
        return 'content_filter';
      default:
        return null;
    }
  }
  if (content.some((block) => block.type === 'tool_use')) return 'tool_calls';
  return content.some(isRefusal) ? 'content_filter' : 'stop';
}

function isRefusal(block: Block): boolean {
  return block.type === 'text' && fieldsOf(block.provider)['refusal'] === true;
}

function usageOf({ usage }: ResponsesEnd): ReturnType<typeof usageFrom> {
  const { input_tokens, input_tokens_details, output_tokens, output_tokens_details } = countsIn(usage);
  const input = countsIn(input_tokens_details);
  return usageFrom({
    input_tokens: countIn(input_tokens),
    input_tokens_cache_read: countIn(input['cached_tokens']),
    input_tokens_cache_write: countIn(input['cache_write_tokens']),
    output_tokens: countIn(output_tokens),
    output_tokens_reasoning: countIn(countsIn(output_tokens_details)['reasoning_tokens']),
  });
}
