/**
 * A streamed chat completion, from its chunks to one whole message. A stream that does not say how it finished, or says it
 * in no way that is known, is no message.
 */
import type { Block } from '../../machines/messages.ts';
import type { FinishReason } from '../../machines/records.ts';
import type { ModelDelta, ModelOutcome } from './model-provider.ts';
import { parseChatChunk, type ChatWords } from './openai-chat-chunks.ts';
import { StreamedToolCalls } from './openai-chat-tool-calls.ts';
import type { StreamedAnswer } from './provider-call.ts';
import { incompleteAnswer } from './provider-outcome.ts';
import { countIn, countsIn, usageFrom } from './provider-usage.ts';
import { messageOf, ProviderFailure } from './stream-errors.ts';
import { fieldsIn } from './stream-events.ts';
import { StreamedText } from './streamed-text.ts';

interface StreamedBlock {
  readonly type: ChatWords['type'];
  readonly text: StreamedText;
}

export class OpenAiChatAnswer implements StreamedAnswer {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #blocks: StreamedBlock[] = [];
  readonly #calls = new StreamedToolCalls();
  /** What words are added to; null where the next ones begin a block of their own. */
  #open: StreamedBlock | null = null;
  #reasoningField: 'reasoning' | 'reasoning_content' = 'reasoning_content';
  #isRefusal = false;
  #finishReason: string | null = null;
  #usage: unknown = null;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  /** The counts may come after the finish: `[DONE]` alone ends the stream. */
  get isOver(): boolean {
    return false;
  }

  take(event: unknown): void {
    const { error } = fieldsIn(event);
    if (error !== undefined && error !== null) throw new ProviderFailure(messageOf(error));
    const { words, reasoningField, isRefusal, calls, finishReason, usage } = parseChatChunk(event);
    if (reasoningField === 'reasoning') this.#reasoningField = reasoningField;
    for (const one of words) this.#say(one);
    if (isRefusal) this.#isRefusal = true;
    for (const piece of calls) {
      if (this.#open?.type === 'reasoning') this.#open = null;
      const tool_input = this.#calls.push(piece);
      if (tool_input !== '') this.#onDelta({ tool_input });
    }
    this.#finishReason = finishReason ?? this.#finishReason;
    this.#usage = usage ?? this.#usage;
  }

  outcome(): ModelOutcome {
    const usage = usageOf(this.#usage);
    const reason = finishReasonOf(this.#finishReason, this.#isRefusal);
    if (reason === null) return incompleteAnswer(usage);
    const content = [...this.#blocks.flatMap((block) => this.#block(block)), ...this.#calls.blocks()];
    return { outcome: 'ended', message: { role: 'assistant', content }, finish_reason: reason, ...usage };
  }

  #say({ type, text: piece }: ChatWords): void {
    const block = this.#open?.type === type ? this.#open : this.#begin(type);
    const text = block.text.push(piece);
    if (text !== '') this.#onDelta(type === 'text' ? { text } : { reasoning: text });
  }

  #begin(type: StreamedBlock['type']): StreamedBlock {
    const block = { type, text: new StreamedText() };
    this.#blocks.push(block);
    this.#open = block;
    return block;
  }

  #block({ type, text: streamed }: StreamedBlock): readonly Block[] {
    const { text } = streamed;
    if (text === '') return [];
    if (type === 'text' || this.#reasoningField === 'reasoning_content') return [{ type, text }];
    return [{ type, text, provider: { field: this.#reasoningField } }];
  }
}

function finishReasonOf(reason: string | null, isRefusal: boolean): FinishReason | null {
  switch (reason) {
    case 'stop':
      return isRefusal ? 'content_filter' : 'stop';
    case 'length':
    case 'content_filter':
    case 'tool_calls':
      return reason;
    case 'function_call':
      return 'tool_calls';
    default:
      return null;
  }
}

function usageOf(usage: unknown): ReturnType<typeof usageFrom> {
  const { prompt_tokens, prompt_tokens_details, completion_tokens, completion_tokens_details } = countsIn(usage);
  return usageFrom({
    input_tokens: countIn(prompt_tokens),
    input_tokens_cache_read: countIn(countsIn(prompt_tokens_details)['cached_tokens']),
    output_tokens: countIn(completion_tokens),
    output_tokens_reasoning: countIn(countsIn(completion_tokens_details)['reasoning_tokens']),
  });
}
