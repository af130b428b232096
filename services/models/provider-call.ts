/**
 * A call of a model over its provider's protocol: one request, and the answer to it, event by event. What differs between
 * the protocols is the client.
 */
import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { ModelDelta, ModelOutcome, ModelProvider, ModelRequest } from './model-provider.ts';
import { CANCELLED, outcomeOf, refusalOf } from './provider-outcome.ts';
import type { AnswerListener, ProviderPost } from './provider-post.ts';
import { addressOf } from './request-content.ts';
import { MalformedStream } from './stream-errors.ts';

export interface ProviderSettings {
  /** Goes into the request's authorization. Without one, none is sent. */
  readonly apiKey: string | undefined;
  readonly post: ProviderPost;
}

/** An answer while it comes in. */
export interface StreamedAnswer {
  /** Takes the next event. Throws where the stream says that it failed, or cannot be understood. */
  take(event: unknown): void;
  /** Whether the stream has said its last word, so that nobody has to wait for it to close. */
  readonly isOver: boolean;
  /** What the stream came to, once it is over. */
  outcome(): ModelOutcome;
}

/** One protocol: its requests and its answers. It holds no key. */
export interface ProviderClient {
  /** Where it is called, below the address of a provider. */
  readonly path: string;
  readonly headers: (apiKey: string | undefined) => Readonly<Record<string, string>>;
  /** The body of the request. What the protocol cannot say it throws. */
  readonly body: (request: ModelRequest) => string;
  readonly answer: (onDelta: (delta: ModelDelta) => void) => StreamedAnswer;
}

export function modelProvider(client: ProviderClient, { apiKey, post }: ProviderSettings): ModelProvider {
  return {
    call: async (request, { signal, onDelta }) => {
      if (signal.aborted) return CANCELLED;
      const hearing = new Hearing(signal, client.answer(onDelta));
      try {
        const url = `${addressOf(request.model)}${client.path}`;
        const headers = { 'content-type': 'application/json', ...client.headers(apiKey) };
        await post({ url, headers, body: client.body(request) }, hearing);
        return hearing.outcome(apiKey);
      } catch (error) {
        const { isConnected, status } = hearing;
        return outcomeOf(error, { isCancelled: signal.aborted, isConnected, status, apiKey });
      }
    },
  };
}

/** The key as most protocols send it. */
export function bearerOf(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

// Far more than any provider says of an error. What is longer is a page, and says nothing.
const REFUSAL_CHARACTERS_MAX = 65_536;
const BYTE_ORDER_MARK = '\uFEFF';
// Some servers have something behind it. No JSON begins so.
const LAST_WORD = '[DONE]';

/** What is heard of a provider in one call. */
class Hearing implements AnswerListener {
  readonly signal: AbortSignal;
  readonly #answer: StreamedAnswer;
  readonly #events: EventSourceParser;
  isConnected = false;
  /** The status of the answer; null while there is none. */
  status: number | null = null;
  #reason = '';
  #refusal = '';
  #hasBegun = false;
  #isOver = false;

  constructor(signal: AbortSignal, answer: StreamedAnswer) {
    this.signal = signal;
    this.#answer = answer;
    this.#events = createParser({ onEvent: ({ data }) => this.#take(data) });
  }

  onConnected(): void {
    this.isConnected = true;
  }

  onStatus(status: number, reason: string): void {
    this.status = status;
    this.#reason = reason;
    if (!this.#isAnswer && !this.#isRefusal) throw new MalformedStream('it is none');
  }

  onText(text: string): boolean {
    if (this.#isRefusal) {
      this.#refusal += text;
      return this.#refusal.length < REFUSAL_CHARACTERS_MAX;
    }
    this.#events.feed(this.#hasBegun || !text.startsWith(BYTE_ORDER_MARK) ? text : text.slice(BYTE_ORDER_MARK.length));
    this.#hasBegun = true;
    return !this.#isOver;
  }

  outcome(apiKey: string | undefined): ModelOutcome {
    if (this.status === null || !this.#isRefusal) return this.#answer.outcome();
    return refusalOf(this.#refusal, { status: this.status, reason: this.#reason, apiKey });
  }

  get #isAnswer(): boolean {
    return this.status !== null && this.status >= 200 && this.status < 300;
  }

  get #isRefusal(): boolean {
    return this.status !== null && this.status >= 400;
  }

  #take(data: string): void {
    // One piece of text can have more events than the answer needs.
    if (this.#isOver) return;
    if (data.startsWith(LAST_WORD)) {
      this.#isOver = true;
      return;
    }
    this.#answer.take(parse(data));
    this.#isOver = this.#answer.isOver;
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new MalformedStream('an event that is no JSON', { cause: error });
  }
}
