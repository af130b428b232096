/**
 * A session of `/v1`, as a handle: an address, and what the answers to its own calls last said.
 *
 *   H1. `info` and `status` change by answers to this handle's calls and by nothing else; what goes on in the background
 *       is read with `refresh`, or from the events.
 *   H2. `submit` and `send` are two requests with keys of their own; neither is ever sent in place of the other.
 */
import type { EventPageAnswer } from '../http/wire/answers.ts';
import type { LivingEvent, RecordedEvent } from '../http/wire/event-types.ts';
import { pathWith } from './address.ts';
import { assertCallOptions } from './call-arguments.ts';
import { sendUntilAborted, type Progress } from './cancelled-send.ts';
import { jsonIn } from './event-connection.ts';
import { follow } from './event-stream.ts';
import { PAGE_EVENTS, readPages, type EventPage } from './pages.ts';
import { sameJson } from './same-json.ts';
import type { Input, MetadataChanges, SessionAnswer, TranscriptAnswer, TurnAnswer, TurnReceipt } from './session-types.ts';
import { sendForOutput, type OutputRequest, type StructuredTurn } from './structured-output.ts';
import type { Call, CallOptions, KeyedOptions, Transport } from './transport.ts';

// How often the journal is asked whether a message that is to be cancelled has begun its turn.
const PROGRESS_PAUSE_MS = 100;

/** `signal`, once the message is sent: cancels its turn, and waits for the turn's end. */
export type SendOptions = KeyedOptions;

export interface OutputOptions<T> extends SendOptions {
  readonly output: OutputRequest<T>;
}

/** Answers are corrected by whoever waits for them: a submission cannot have a type. */
export interface SubmitOptions extends KeyedOptions {
  readonly output?: never;
}

export interface ReadOptions {
  /** Only these types of events. */
  readonly types?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface StreamOptions extends ReadOptions {
  /** The sequence of the last event that was handled. Default: the start. */
  readonly after?: number;
}

export class Session {
  readonly id: string;
  readonly #transport: Transport;
  #info: SessionAnswer;
  /** The last sequence that an answer to this handle named. */
  #lastSequence: number;

  constructor(transport: Transport, info: SessionAnswer) {
    this.#transport = transport;
    this.id = info.session_id;
    this.#info = info;
    this.#lastSequence = info.last_sequence;
  }

  /** The session as an answer last told it. */
  get info(): SessionAnswer {
    return this.#info;
  }

  get status(): SessionAnswer['status'] {
    return this.#info.status;
  }

  async refresh(options: CallOptions = {}): Promise<SessionAnswer> {
    return this.#learn(await this.#transport.call({ method: 'GET', path: this.#path(), ...options }));
  }

  /** Says something, and answers when the turn is over. A turn that failed says so in its answer. */
  async send<T>(input: Input, options: OutputOptions<T>): Promise<StructuredTurn<T>>;
  async send(input: Input, options?: SendOptions): Promise<TurnAnswer>;
  async send(input: Input, options: SendOptions & { readonly output?: OutputRequest<unknown> } = {}): Promise<TurnAnswer> {
    assertCallOptions(options);
    const { output, idempotencyKey = this.#newKey(), ...rest } = options;
    if (output === undefined) return this.#send(input, { ...rest, idempotencyKey });
    return sendForOutput((next, key) => this.#send(next, { ...rest, idempotencyKey: key }), { input, output, idempotencyKey });
  }

  /** Says something, and answers when the turn's start is recorded. */
  async submit(input: Input, options: SubmitOptions = {}): Promise<TurnReceipt> {
    const { output, ...keyed } = options as SubmitOptions & { readonly output?: unknown };
    if (output !== undefined) throw new TypeError('submit takes no output: an answer is corrected by whoever waits for it; use send, or a tool or an agent loop on the server');
    const receipt = (await this.#post('/messages', { ...keyed, body: { input }, headers: { Prefer: 'respond-async' } })) as TurnReceipt;
    this.#lastSequence = Math.max(this.#lastSequence, receipt.sequence);
    return receipt;
  }

  /** What is recorded after a sequence, to the end of it. */
  events(after = 0, { types, signal }: ReadOptions = {}): AsyncGenerator<RecordedEvent, void, void> {
    return readPages(after, (cursor) => this.#eventPage(cursor, { types, signal }));
  }

  /** What is recorded after a sequence, then all that happens, until the session is over. */
  stream({ after = 0, types, signal }: StreamOptions = {}): AsyncGenerator<RecordedEvent | LivingEvent, void, void> {
    const source = {
      pathAfter: (cursor: string) => pathWith(this.#path('/events'), { after: cursor, types: types?.join() }),
      eventIn: ({ id, event: type, data }: { readonly id?: string | undefined; readonly event?: string | undefined; readonly data: string }) => {
        const said = jsonIn(data);
        // What is recorded comes whole; of what passes by the type is beside it.
        return (id === undefined ? { type, data: said } : said) as RecordedEvent | LivingEvent;
      },
    };
    return follow(this.#transport, source, { after: String(after), signal });
  }

  async transcript(options: CallOptions = {}): Promise<TranscriptAnswer> {
    return (await this.#transport.call({ method: 'GET', path: this.#path('/transcript'), ...options })) as TranscriptAnswer;
  }

  /** Asks for the cancellation of the running turn. The session is free for another one when that is over. */
  async interrupt(options: KeyedOptions = {}): Promise<void> {
    await this.#post('/cancel', options);
  }

  /** Goes back to the last completed turn, where a session holds after one that was stopped. */
  async resume(options: KeyedOptions = {}): Promise<SessionAnswer> {
    return this.#learn(await this.#post('/resume', options));
  }

  /** Takes no more messages, and answers when the running turn is over and the session has ended. */
  async end(options: KeyedOptions = {}): Promise<SessionAnswer> {
    return this.#learn(await this.#post('/end', options));
  }

  async changeMetadata(metadata: MetadataChanges, options: KeyedOptions = {}): Promise<SessionAnswer> {
    const { idempotencyKey = this.#newKey(), ...rest } = options;
    return this.#learn(await this.#transport.call({ method: 'PATCH', path: this.#path(), body: { metadata }, idempotencyKey, ...rest }));
  }

  /** Removes the session, which has ended or failed. */
  async delete(options: KeyedOptions = {}): Promise<void> {
    const { idempotencyKey = this.#newKey(), ...rest } = options;
    await this.#transport.call({ method: 'DELETE', path: this.#path(), idempotencyKey, ...rest });
  }

  async #send(input: Input, { signal, idempotencyKey, timeoutMs }: SendOptions & { readonly idempotencyKey: string }): Promise<TurnAnswer> {
    const bound = timeoutMs === undefined ? {} : { timeoutMs };
    const after = this.#lastSequence;
    const cancelKey = this.#newKey();
    const send = async (): Promise<TurnAnswer> => {
      const turn = (await this.#post('/messages', { body: { input }, idempotencyKey, ...bound })) as TurnAnswer;
      // A repeat under an old key tells of an old turn.
      if (turn.last_sequence > this.#info.last_sequence) this.#info = { ...this.#info, status: turn.status, last_sequence: turn.last_sequence };
      this.#lastSequence = Math.max(this.#lastSequence, turn.last_sequence);
      return turn;
    };
    if (signal === undefined) return send();
    return sendUntilAborted({
      signal,
      idempotencyKey,
      send,
      progress: () => this.#progressOf(input, after),
      cancel: () => this.interrupt({ idempotencyKey: cancelKey }),
      pause: () => new Promise((resolve) => void this.#transport.ports.clock.after(PROGRESS_PAUSE_MS, resolve)),
    });
  }

  /** Of a synchronous message that was sent after a sequence, to a session that nobody else sends to. */
  async #progressOf(input: Input, after: number): Promise<Progress> {
    let message: number | undefined;
    let progress: Progress = 'unknown';
    for await (const event of this.events(after, { types: ['message_queued', 'turn_started', 'turn_ended', 'turn_failed'] })) {
      if (event.type === 'message_queued') {
        if (message === undefined && event.data.mode === 'sync' && sameJson(event.data.input, input)) message = event.sequence;
      } else if (message === undefined) continue;
      else if (event.type === 'turn_started' && event.data.message_sequence === message) progress = 'running';
      else if ((event.type === 'turn_ended' || event.type === 'turn_failed') && event.data.message_sequence === message) progress = 'over';
    }
    return progress;
  }

  async #eventPage(after: number, { types, signal }: { readonly types: readonly string[] | undefined; readonly signal: AbortSignal | undefined }): Promise<EventPage<RecordedEvent, number>> {
    const path = pathWith(this.#path('/events'), { after, limit: PAGE_EVENTS, types: types?.join() });
    const page = (await this.#transport.call({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) })) as EventPageAnswer;
    return page as EventPage<RecordedEvent, number>;
  }

  #post(verb: string, { idempotencyKey = this.#newKey(), ...rest }: Omit<Call, 'method' | 'path'>): Promise<unknown> {
    return this.#transport.call({ method: 'POST', path: this.#path(verb), idempotencyKey, ...rest });
  }

  /** Answers may come in another order than they were asked for: the latest state counts. */
  #learn(answer: unknown): SessionAnswer {
    const info = answer as SessionAnswer;
    this.#lastSequence = Math.max(this.#lastSequence, info.last_sequence);
    if (info.last_sequence >= this.#info.last_sequence) this.#info = info;
    return info;
  }

  #path(rest = ''): string {
    return `/v1/sessions/${this.id}${rest}`;
  }

  #newKey(): string {
    return this.#transport.ports.newKey();
  }
}
