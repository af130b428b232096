/**
 * A streamed message of Anthropic's, from its events to one whole message. A block or a piece that is not known is of the
 * message all the same, and passing over it would make the message another one.
 */
import type { Block } from '../../machines/messages.ts';
import { plainText } from '../../machines/plain-data.ts';
import type { FinishReason } from '../../machines/records.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import { parseAnthropicEvent, type AnthropicBlockStart, type AnthropicEvent, type AnthropicPiece } from './anthropic-events.ts';
import type { ModelDelta, ModelOutcome } from './model-provider.ts';
import type { StreamedAnswer } from './provider-call.ts';
import { incompleteAnswer } from './provider-outcome.ts';
import { countIn, countsIn, usageFrom } from './provider-usage.ts';
import { MalformedStream, messageOf, ProviderFailure } from './stream-errors.ts';
import { StreamedText } from './streamed-text.ts';

interface StreamedBlock {
  readonly index: number;
  readonly start: AnthropicBlockStart;
  /** The words, or the arguments. */
  readonly text: StreamedText;
  signature: string | null;
  isClosed: boolean;
}

export class AnthropicAnswer implements StreamedAnswer {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #blocks: StreamedBlock[] = [];
  #message: { readonly id: string | null } | null = null;
  #counts: Counts = {};
  #stopReason: string | null = null;
  #isOver = false;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  take(event: unknown): void {
    const taken = parseAnthropicEvent(event);
    if (taken !== null) this.#takeEvent(taken);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  outcome(): ModelOutcome {
    if (!this.#isOver) return incompleteAnswer({});
    const usage = usageOf(this.#counts);
    const reason = finishReasonOf(this.#stopReason);
    if (reason === null) return incompleteAnswer(usage);
    return { outcome: 'ended', message: { role: 'assistant', content: this.#blocks.flatMap(blockOf) }, finish_reason: reason, ...usage };
  }

  #takeEvent(taken: AnthropicEvent): void {
    if (taken.type === 'error') throw new ProviderFailure(messageOf(taken.error));
    if (taken.type === 'message_start') {
      this.#start(taken);
      return;
    }
    if (this.#message === null) throw new MalformedStream('it does not begin with its beginning');
    switch (taken.type) {
      case 'content_block_start':
        this.#open(taken.index, taken.block);
        return;
      case 'content_block_delta':
        this.#takePiece(this.#openBlock(taken.index), taken.piece);
        return;
      case 'content_block_stop':
        this.#openBlock(taken.index).isClosed = true;
        return;
      case 'message_delta':
        this.#stopReason = taken.stop_reason ?? this.#stopReason;
        this.#count(taken.usage);
        return;
      case 'message_stop':
        if (this.#blocks.some(({ isClosed }) => !isClosed)) throw new MalformedStream('a block does not end');
        this.#isOver = true;
    }
  }

  /** Some servers say it twice. */
  #start({ id, usage }: { readonly id: string | null; readonly usage: unknown }): void {
    if (this.#message !== null && this.#message.id !== id) throw new MalformedStream('two messages in one');
    this.#message = { id };
    this.#count(usage);
  }

  #open(at: number, start: AnthropicBlockStart): void {
    if (this.#blocks.some((block) => block.index === at)) throw new MalformedStream('two blocks at one place');
    const block: StreamedBlock = { index: at, start, text: new StreamedText(), signature: null, isClosed: false };
    this.#blocks.push(block);
    if (start.type === 'text') this.#show(block, start.text ?? '');
    if (start.type === 'thinking') {
      this.#show(block, start.thinking ?? '');
      block.signature = start.signature ?? null;
    }
  }

  #openBlock(at: number): StreamedBlock {
    const block = this.#blocks.find((one) => one.index === at);
    if (block === undefined || block.isClosed) throw new MalformedStream('a piece that belongs to no block');
    return block;
  }

  #takePiece(block: StreamedBlock, delta: AnthropicPiece): void {
    if (delta.type === 'citations_delta') return;
    if (!PIECES_OF[block.start.type].includes(delta.type)) throw new MalformedStream('a piece of another kind than its block');
    switch (delta.type) {
      case 'text_delta':
        this.#show(block, delta.text);
        return;
      case 'thinking_delta':
        this.#show(block, delta.thinking);
        return;
      case 'input_json_delta':
        this.#show(block, delta.partial_json);
        return;
      case 'signature_delta':
        block.signature = delta.signature;
    }
  }

  #show({ start: { type }, text }: StreamedBlock, came: string): void {
    const shown = text.push(came);
    if (shown === '') return;
    this.#onDelta(type === 'tool_use' ? { tool_input: shown } : type === 'text' ? { text: shown } : { reasoning: shown });
  }

  /** Later counts are of the whole message. What they leave out stands as it was. */
  #count(usage: unknown): void {
    const counts = countsIn(usage);
    const { input, cacheRead, cacheWrite, output, reasoning } = this.#counts;
    this.#counts = {
      input: countIn(counts['input_tokens']) ?? input,
      cacheRead: countIn(counts['cache_read_input_tokens']) ?? cacheRead,
      cacheWrite: countIn(counts['cache_creation_input_tokens']) ?? cacheWrite,
      output: countIn(counts['output_tokens']) ?? output,
      reasoning: countIn(countsIn(counts['output_tokens_details'])['thinking_tokens']) ?? reasoning,
    };
  }
}

interface Counts {
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

const PIECES_OF: Readonly<Record<AnthropicBlockStart['type'], readonly AnthropicPiece['type'][]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
};

function blockOf({ start, text: streamed, signature }: StreamedBlock): readonly Block[] {
  const { text } = streamed;
  switch (start.type) {
    case 'text':
      return text === '' ? [] : [{ type: 'text', text }];
    case 'thinking':
      // A signature of other words than these, or one that was changed itself, is refused for ever.
      if (signature !== null && signature !== '' && streamed.isExact && plainText(signature) === signature) {
        return [{ type: 'reasoning', text, provider: { signature } }];
      }
      return text === '' ? [] : [{ type: 'reasoning', text }];
    case 'redacted_thinking':
      return plainText(start.data) === start.data ? [{ type: 'reasoning', text: '', provider: { redacted_data: start.data } }] : [];
    case 'tool_use': {
      const input_text = text === '' ? givenAtOnce(start.input) : text;
      const parsed = parseToolArguments(input_text);
      const input = parsed.kind === 'parsed' ? { input: parsed.value } : {};
      return [{ type: 'tool_use', id: plainText(start.id), name: plainText(start.name), ...input, input_text }];
    }
  }
}

/** The arguments of a call come in pieces, but for those of servers that do not stream them. */
function givenAtOnce(input: unknown): string {
  const isGiven = typeof input === 'object' && input !== null && Object.keys(input).length > 0;
  return isGiven ? plainText(JSON.stringify(input)) : '';
}

function finishReasonOf(reason: string | null): FinishReason | null {
  switch (reason) {
    case 'end_turn':
    case 'stop_sequence':
      return 'stop';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'refusal':
      return 'content_filter';
    default:
      return null;
  }
}

/** What was read from a cache or written to one is counted apart here, and is input everywhere else. */
function usageOf({ input, cacheRead, cacheWrite, output, reasoning }: Counts): ReturnType<typeof usageFrom> {
  return usageFrom({
    input_tokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    input_tokens_cache_read: cacheRead,
    input_tokens_cache_write: cacheWrite,
    output_tokens: output,
    output_tokens_reasoning: reasoning,
  });
}
