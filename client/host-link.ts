/**
 * The tie between this process and one host of the server: one stream that brings commands, and posts that answer them.
 *
 *   L1. A stream that is lost, ends or falls silent is made again, for as long as the link is open, with the same token. A
 *       token that counts no more is asked for anew, where that can be.
 *   L2. Where another process has the name, the link is over for good: it never takes the name back.
 *   L3. A result is posted until it is taken or refused. An event is posted once.
 *   L4. Nor is an answer waited for over a connection that is dead: what bears a repeat is given up after as long a silence.
 */
import { segmentOf } from './address.ts';
import { BrainAbortError, BrainClosedError, BrainError, BrainHostLostError, BrainTimeoutError } from './errors.ts';
import { connect, isPassing, jsonIn, messagesIn, pauseMs, SILENCE_MS } from './event-connection.ts';
import { failure, type CommandName, type HostNews, type HostReceipt } from './host-wire.ts';
import type { OpenRequest } from './open-request.ts';
import type { CallOptions, Transport } from './transport.ts';

// A setup waits ten seconds for its host: it is to be back well before that when the server is.
const PAUSE_MS_MAX = 4_000;
// A connection that lasted is no failure.
const STEADY_MS = 10_000;

export interface HostLinkParts {
  readonly host: string;
  readonly transport: Transport;
  /** Another token; null: there is no other. */
  readonly register: ((options: CallOptions) => Promise<string>) | null;
  /** The first token, where there is one already. */
  readonly token: string | null;
  hear(news: HostNews): void;
  /** The link is over and nobody asked for that. */
  onEnd(error: Error): void;
  /** Something was refused, and the link goes on. */
  onRefusal(error: Error): void;
}

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

export class HostLink {
  readonly #parts: HostLinkParts;
  readonly #waiting = new Set<Waiting>();
  #token: string | null;
  #state: 'idle' | 'connecting' | 'connected' | 'over' = 'idle';
  #lost: BrainHostLostError | null = null;
  #failures = 0;

  constructor(parts: HostLinkParts) {
    this.#parts = parts;
    this.#token = parts.token;
  }

  /** Resolves when commands can come. Rejects with what keeps them from coming, for now or for good. */
  async connected(): Promise<void> {
    this.#parts.transport.assertOpen();
    if (this.#lost !== null) throw this.#lost;
    if (this.#state === 'connected') return;
    const connected = new Promise<void>((resolve, reject) => this.#waiting.add({ resolve, reject }));
    if (this.#state !== 'connecting') void this.#run();
    await connected;
  }

  /** Never rejects. */
  async report(name: CommandName, receipt: HostReceipt): Promise<void> {
    let said = receipt;
    for (let failures = 0; this.#isOpen; failures += 1) {
      try {
        await this.#post('results', { ...name, receipt: said }, { timeoutMs: SILENCE_MS });
        return;
      } catch (error) {
        if (!this.#isOpen || (error instanceof BrainError && error.code === 'already_closed')) return;
        if (said === receipt && isTooMuch(error)) {
          said = failure('result_refused', `the call ended, but Brain does not take its result: ${(error as Error).message}`);
          continue;
        }
        if (!mayComeBack(error) && !isUnauthorized(error)) {
          this.#parts.onRefusal(error as Error);
          return;
        }
        await this.#pause(pauseMs(this.#parts.transport.ports, failures, PAUSE_MS_MAX, error));
      }
    }
  }

  async emit(name: CommandName, type: string, data: unknown): Promise<void> {
    await this.#post('emit', { ...name, type, data });
  }

  progress(name: CommandName, progress: { readonly message?: string; readonly fraction?: number }): void {
    // It is shown to whoever looks on. One that does not arrive is missed by nobody.
    this.#post('progress', { ...name, ...progress }).catch(() => undefined);
  }

  get #isOpen(): boolean {
    return this.#state !== 'over' && !this.#parts.transport.isClosed;
  }

  async #run(): Promise<void> {
    this.#state = 'connecting';
    while (this.#isOpen) {
      const error = await this.#connection();
      this.#state = 'connecting';
      const end = this.#endOf(error);
      if (end !== null) {
        this.#end(end);
        return;
      }
      if (error !== null) this.#settle((waiting) => waiting.reject(error));
      await this.#pause(pauseMs(this.#parts.transport.ports, this.#failures, PAUSE_MS_MAX, error));
      this.#failures += 1;
    }
    this.#settle((waiting) => waiting.reject(new BrainClosedError()));
  }

  /** Resolves when it is over: with what ended it, or null where that was the server, without a word. */
  async #connection(): Promise<Error | null> {
    const { transport, host, register } = this.#parts;
    let connection: OpenRequest | null = null;
    let steady = (): void => undefined;
    try {
      if (this.#token === null && register !== null) this.#token = await register({ timeoutMs: SILENCE_MS });
      connection = transport.begin(undefined);
      const body = await connect(transport, connection, { path: `/v1/hosts/${segmentOf(host)}/commands`, token: this.#token ?? '' });
      if (body === null) return null;
      this.#state = 'connected';
      this.#settle((waiting) => waiting.resolve());
      steady = transport.ports.clock.after(STEADY_MS, () => {
        this.#failures = 0;
      });
      for await (const { event, data } of messagesIn(transport, connection, body)) {
        this.#failures = 0;
        if (event === 'command' || event === 'cancel') this.#parts.hear({ type: event, ...(jsonIn(data) as object) } as HostNews);
      }
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      steady();
      connection?.release();
    }
  }

  /** Null: another connection may do better. */
  #endOf(error: Error | null): Error | null {
    if (error === null || !this.#isOpen) return null;
    if (error instanceof BrainError && error.code === 'conflict') return new BrainHostLostError(this.#parts.host);
    if (isUnauthorized(error) && this.#token !== null && this.#parts.register !== null) {
      this.#token = null;
      return null;
    }
    return mayComeBack(error) ? null : error;
  }

  #end(error: Error): void {
    this.#state = 'over';
    if (error instanceof BrainHostLostError) this.#lost = error;
    this.#settle((waiting) => waiting.reject(error));
    this.#parts.onEnd(error);
  }

  #settle(settle: (waiting: Waiting) => void): void {
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const waiting of all) settle(waiting);
  }

  #post(method: 'results' | 'emit' | 'progress', body: object, options: CallOptions = {}): Promise<unknown> {
    const { transport, host } = this.#parts;
    return transport.call({ method: 'POST', path: `/v1/hosts/${segmentOf(host)}/${method}`, body, ...options, ...(this.#token === null ? {} : { token: this.#token }) });
  }

  async #pause(ms: number): Promise<void> {
    const { transport } = this.#parts;
    if (transport.isClosed) return;
    const pausing = transport.begin(undefined);
    try {
      await transport.pause(pausing, ms);
    } catch (error) {
      // The client was closed meanwhile, which whoever goes on looks at first.
      if (!(error instanceof BrainClosedError || error instanceof BrainAbortError)) throw error;
    } finally {
      pausing.release();
    }
  }
}

/** Whether another try may do better, also where the silence of a connection was the trouble. */
function mayComeBack(error: unknown): boolean {
  return isPassing(error) || error instanceof BrainTimeoutError;
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof BrainError && error.status === 401;
}

/** Too long, nested too deeply, or otherwise no receipt. */
function isTooMuch(error: unknown): boolean {
  return error instanceof BrainError && (error.status === 400 || error.status === 413);
}
