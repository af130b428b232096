/**
 * A streamed chat completion, from the parts that the library makes of it to one whole message. A stream that does not
 * say how it finished, or says it in no way that is known, is no message.
 */
import { z } from 'zod';
import type { Block } from '../../machines/messages.ts';
import type { FinishReason, Usage } from '../../machines/records.ts';
import type { StreamedAnswer } from './library-call.ts';
import type { ModelDelta, ModelOutcome } from './model-provider.ts';
import { StreamedToolCalls } from './openai-chat-tool-calls.ts';
import type { ProviderStreamPart } from './provider-library.ts';
import { incompleteAnswer } from './provider-outcome.ts';
import { count, usageFrom } from './provider-usage.ts';
import { MalformedStream, messageOf, ProviderFailure } from './stream-errors.ts';
import { StreamedText } from './streamed-text.ts';

type FinishPart = Extract<ProviderStreamPart, { readonly type: 'finish' }>;

interface StreamedBlock {
  readonly type: 'text' | 'reasoning';
  readonly text: StreamedText;
}

/** What of a chunk the library leaves out or changes. */
const chunk = z.object({
  choices: z.array(
    z.object({
      delta: z
        .object({
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({
                index: z.number().nullish(),
                id: z.string().nullish(),
                function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
                extra_content: z.unknown().optional(),
              }),
            )
            .nullish(),
        })
        .nullish(),
    }),
  ),
});

const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
});

export class OpenAiChatAnswer implements StreamedAnswer {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #blocks: StreamedBlock[] = [];
  readonly #calls = new StreamedToolCalls();
  #reasoningField: 'reasoning' | 'reasoning_content' = 'reasoning_content';
  #finish: FinishPart | null = null;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  take(part: ProviderStreamPart): void {
    switch (part.type) {
      case 'raw':
        this.#takeChunk(part.rawValue);
        return;
      case 'text-start':
        this.#blocks.push({ type: 'text', text: new StreamedText() });
        return;
      case 'reasoning-start':
        this.#blocks.push({ type: 'reasoning', text: new StreamedText() });
        return;
      case 'text-delta':
      case 'reasoning-delta':
        this.#takeText(part.delta);
        return;
      // The provider's own errors were found in the chunk. That a stream has no finish, the part after this one tells.
      case 'error':
        if (isMissingFinish(part.error)) return;
        throw new MalformedStream('a chunk that cannot be read', { cause: part.error });
      case 'finish':
        this.#finish = part;
        return;
      // Tool calls are taken from the chunks; what else the library tells is not of the message.
      default:
        return;
    }
  }

  /** The counts may come after the finish, and the last word of all, `[DONE]`, is not among the parts. */
  get isOver(): boolean {
    return false;
  }

  outcome(): ModelOutcome {
    const usage = usageOf(this.#finish?.usage.raw);
    const reason = this.#finish === null ? null : finishReasonOf(this.#finish);
    if (reason === null) return incompleteAnswer(usage);
    const content = [...this.#blocks.flatMap((block) => this.#block(block)), ...this.#calls.blocks()];
    return { outcome: 'ended', message: { role: 'assistant', content }, finish_reason: reason, ...usage };
  }

  #takeText(piece: string): void {
    const block = this.#blocks.at(-1);
    if (block === undefined) throw new MalformedStream('text outside of any block');
    const text = block.text.push(piece);
    if (text !== '') this.#onDelta(block.type === 'text' ? { text } : { reasoning: text });
  }

  #takeChunk(raw: unknown): void {
    const said = errorIn(raw);
    if (said !== null) throw new ProviderFailure(messageOf(said));
    const parsed = chunk.safeParse(raw);
    // Passing over a piece would make the message another one.
    if (!parsed.success) throw new MalformedStream('a chunk that cannot be read', { cause: parsed.error });
    const delta = parsed.data.choices[0]?.delta;
    if (delta === undefined || delta === null) return;
    const hasUsualField = typeof delta.reasoning_content === 'string';
    if (!hasUsualField && typeof delta.reasoning === 'string' && delta.reasoning !== '') this.#reasoningField = 'reasoning';
    for (const piece of delta.tool_calls ?? []) {
      const tool_input = this.#calls.push(piece);
      if (tool_input !== '') this.#onDelta({ tool_input });
    }
  }

  #block({ type, text: streamed }: StreamedBlock): readonly Block[] {
    const { text } = streamed;
    if (text === '') return [];
    if (type === 'text' || this.#reasoningField === 'reasoning_content') return [{ type, text }];
    return [{ type, text, provider: { field: this.#reasoningField } }];
  }
}

function finishReasonOf({ finishReason }: FinishPart): FinishReason | null {
  switch (finishReason.unified) {
    case 'stop':
    case 'length':
      return finishReason.unified;
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    case 'error':
    case 'other':
      return null;
  }
}

/** The counts as the provider gave them. The library's own have zero for what was not given. */
function usageOf(raw: unknown): { readonly usage?: Usage } {
  const parsed = usageSchema.safeParse(raw);
  if (!parsed.success) return {};
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = parsed.data;
  return usageFrom({
    input_tokens: prompt_tokens,
    input_tokens_cache_read: prompt_tokens_details?.cached_tokens,
    output_tokens: completion_tokens,
    output_tokens_reasoning: completion_tokens_details?.reasoning_tokens,
  });
}

/** The provider's own error in a chunk; null where there is none. */
function errorIn(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'error' in raw ? (raw.error ?? null) : null;
}

function isMissingFinish(error: unknown): boolean {
  return error instanceof Error && error.name === 'AI_InvalidResponseDataError';
}
