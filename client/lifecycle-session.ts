/**
 * A session of `/sessions`, as a handle: messages wait their turn, a stopped turn holds the session, and events are told
 * in the words of a conversation. `info` and `status` change by answers to this handle's calls and by nothing else.
 */
import type { LivingToldEvent, ToldEvent } from '../http/wire/event-types.ts';
import { pathWith, segmentOf } from './address.ts';
import { jsonIn } from './event-connection.ts';
import { follow } from './event-stream.ts';
import { PAGE_EVENTS, readPages, type EventPage } from './pages.ts';
import type { LifecycleSessionAnswer, MetadataChanges, QueueAnswer } from './session-types.ts';
import type { Call, CallOptions, KeyedOptions, Transport } from './transport.ts';

export type QueuedEvent = Extract<ToldEvent, { readonly type: 'user.message' }>;

export interface QueueOptions extends CallOptions {
  /** Names the message for the session's life. Default: a new one. */
  readonly key?: string;
}

export class LifecycleSession {
  readonly id: string;
  readonly #transport: Transport;
  #info: LifecycleSessionAnswer;

  constructor(transport: Transport, info: LifecycleSessionAnswer) {
    this.#transport = transport;
    this.id = info.id;
    this.#info = info;
  }

  /** The session as an answer last told it. */
  get info(): LifecycleSessionAnswer {
    return this.#info;
  }

  get status(): LifecycleSessionAnswer['status'] {
    return this.#info.status;
  }

  /** Where a resume goes back to. */
  get checkpoint(): LifecycleSessionAnswer['checkpoint'] {
    return this.#info.checkpoint;
  }

  async refresh(options: CallOptions = {}): Promise<LifecycleSessionAnswer> {
    return this.#learn(await this.#transport.call({ method: 'GET', path: this.#path(), ...options }));
  }

  /** Says something. Its turn comes when those before it are over; the event's `id` is the `input_id` of all that follows. */
  async queue(text: string, { key = this.#transport.ports.newKey(), ...rest }: QueueOptions = {}): Promise<QueuedEvent> {
    // The key is in the body here. In the header it changes nothing, and a lost answer tells it.
    const answer = await this.#transport.call({ method: 'POST', path: this.#path('/events'), body: { type: 'user.message', text, key }, idempotencyKey: key, ...rest });
    return answer as QueuedEvent;
  }

  /** The messages that wait for their turn. */
  async waiting(options: CallOptions = {}): Promise<QueueAnswer['messages']> {
    return ((await this.#transport.call({ method: 'GET', path: this.#path('/queue'), ...options })) as QueueAnswer).messages;
  }

  /** Takes a message back that still waits. */
  async withdraw(inputId: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: this.#path(`/queue/${segmentOf(inputId)}`), ...options });
  }

  /** What is retained after a cursor, to the end of it. */
  events(after: string | number = '0', { signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<ToldEvent, void, void> {
    const options = signal === undefined ? {} : { signal };
    return readPages(String(after), async (cursor) => {
      const path = pathWith(this.#path('/events'), { after: cursor, limit: PAGE_EVENTS });
      return (await this.#transport.call({ method: 'GET', path, ...options })) as EventPage<ToldEvent, string>;
    });
  }

  /** What is retained after a cursor, then all that happens, until the session is closed. */
  stream({ after = '0', signal }: { readonly after?: string | number; readonly signal?: AbortSignal } = {}): AsyncGenerator<ToldEvent | LivingToldEvent, void, void> {
    const source = {
      pathAfter: (cursor: string) => pathWith(this.#path('/events'), { after: cursor }),
      eventIn: ({ data }: { readonly data: string }) => jsonIn(data) as ToldEvent | LivingToldEvent,
    };
    return follow(this.#transport, source, { after: String(after), signal });
  }

  /** Stops the running turn, and runs nothing of what waits. Without a turn it changes nothing. */
  async interrupt(options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'POST', path: this.#path('/events'), body: { type: 'user.interrupt' }, ...options });
  }

  /** Frees a session that was interrupted or failed: it goes back to its last completed turn. */
  async resume(options: KeyedOptions = {}): Promise<LifecycleSessionAnswer> {
    return this.#learn(await this.#keyed({ method: 'POST', path: this.#path('/resume'), ...options }));
  }

  /** Closes the session for good. */
  async close(options: KeyedOptions = {}): Promise<void> {
    await this.#keyed({ method: 'POST', path: this.#path('/close'), ...options });
  }

  async changeMetadata(metadata: MetadataChanges, options: KeyedOptions = {}): Promise<LifecycleSessionAnswer> {
    return this.#learn(await this.#keyed({ method: 'PATCH', path: this.#path(), body: { metadata }, ...options }));
  }

  #keyed(call: Call): Promise<unknown> {
    return this.#transport.call({ idempotencyKey: this.#transport.ports.newKey(), ...call });
  }

  #learn(answer: unknown): LifecycleSessionAnswer {
    this.#info = answer as LifecycleSessionAnswer;
    return this.#info;
  }

  #path(rest = ''): string {
    return `/sessions/${this.id}${rest}`;
  }
}
