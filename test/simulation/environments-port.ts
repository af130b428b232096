/**
 * The environments of the simulated world, on both ways that lead to them: the network, and processes of hosts that take
 * their commands. They live on when the server dies, and forget nothing of what they were asked.
 */
import type { EnvironmentPost, EnvironmentTransport, PostOutcome } from '../../services/environments/environment-transport.ts';
import type { HostEvent, HostStream } from '../../services/environments/host-stream.ts';
import type { Operation, Receipt } from '../../services/environments/operation.ts';
import { codeOf } from './error-codes.ts';
import type { SimulatedServer } from './server-process.ts';

/** Told of everything that environments see, at the instant at which they do. */
export interface EnvironmentWatcher {
  posted(post: EnvironmentPost, operation: Operation): void;
  written(host: HostName, event: HostEvent): void;
}

/** A process of a host. */
export interface HostName {
  readonly tenant: string;
  readonly host: string;
  readonly incarnation: string;
}

/** A request on its way: not even a connection, until `arrive`. */
export interface PendingPost {
  readonly post: EnvironmentPost;
  readonly operation: Operation;
  hasArrived: boolean;
  readonly answer: (outcome: PostOutcome) => void;
}

export class EnvironmentsPort {
  readonly pending: PendingPost[] = [];
  /** What had a callback, by those that were asked: they may use it at any time. */
  readonly reporting: Operation[] = [];
  readonly hosts: HostProcess[] = [];
  readonly #watcher: EnvironmentWatcher;

  constructor(watcher: EnvironmentWatcher) {
    this.#watcher = watcher;
  }

  get watcher(): EnvironmentWatcher {
    return this.#watcher;
  }

  /** The network of a process that starts now: the connections of those before it are closed, as those of hosts are. */
  boot(): EnvironmentTransport {
    this.pending.length = 0;
    for (const host of this.hosts) host.lose();
    return {
      post: (post) =>
        new Promise<PostOutcome>((answer) => {
          const { operation } = JSON.parse(post.body) as { readonly operation: Operation };
          this.pending.push({ post, operation, hasArrived: false, answer });
          this.#watcher.posted(post, operation);
        }),
    };
  }

  /** Its first byte is written, and all of it arrives. */
  arrive(pending: PendingPost): void {
    if (pending.hasArrived) return;
    pending.hasArrived = true;
    pending.post.onSent();
    if (pending.operation.callback !== undefined) this.reporting.push(pending.operation);
  }

  answer(pending: PendingPost, outcome: PostOutcome): void {
    this.pending.splice(this.pending.indexOf(pending), 1);
    pending.answer(outcome);
  }
}

/** One process of a host: it comes, takes commands, vanishes, and may come back; another that has its name is another one. */
export class HostProcess implements HostName {
  readonly tenant: string;
  readonly host: string;
  readonly incarnation: string;
  /** What it was told to do, once each: what comes again it drops. */
  readonly commands = new Map<string, Operation>();
  status: 'away' | 'coming' | 'connected' = 'away';
  /** Where it takes only what a step lets it take. */
  isSlow = false;
  #token: string | null = null;
  #leave = new AbortController();
  #stream: AsyncIterator<HostEvent> | null = null;
  #isTaking = false;
  readonly #watcher: EnvironmentWatcher;

  constructor({ tenant, host, incarnation }: HostName, watcher: EnvironmentWatcher) {
    this.tenant = tenant;
    this.host = host;
    this.incarnation = incarnation;
    this.#watcher = watcher;
  }

  /** Registers, where it has no token or is to have another, and takes its stream. Resolves with what it is refused with. */
  async come(server: SimulatedServer, registersAnew: boolean): Promise<string | null> {
    this.lose();
    const { signal } = this.#leave;
    this.status = 'coming';
    try {
      const { host: name, incarnation, tenant } = this;
      if (registersAnew || this.#token === null) {
        const registered = await server.hosts.register({ tenant, tokenId: tenant }, { name, incarnation });
        if (registered === null) throw new Error('a caller that counts is told that it does not');
        this.#token = registered.token;
      }
      const holder = await server.hosts.holderOf(this.#token);
      if (holder === null) throw new Error('a token that counts is told that it does not');
      if (signal.aborted) return null;
      const stream = server.hosts.commands(holder, signal);
      this.#take(stream, signal);
      return null;
    } catch (error) {
      if (!signal.aborted) this.status = 'away';
      return codeOf(error);
    }
  }

  /** Its connection is gone, and what it was told is not. */
  lose(): void {
    this.#leave.abort();
    this.#leave = new AbortController();
    this.#stream = null;
    this.#isTaking = false;
    this.status = 'away';
  }

  /** Takes the next of what it is told, or waits for it. */
  async take(): Promise<void> {
    const stream = this.#stream;
    if (stream === null || this.#isTaking) return;
    this.#isTaking = true;
    const { value, done } = await stream.next();
    if (stream !== this.#stream) return;
    this.#isTaking = false;
    if (done === true) {
      this.lose();
      return;
    }
    this.#watcher.written(this, value);
    if (value.type === 'command') this.commands.set(`${value.operation.session_id}/${value.operation.sequence}`, value.operation);
    if (!this.isSlow) void this.take();
  }

  async report(server: SimulatedServer, { session_id, sequence }: Pick<Operation, 'session_id' | 'sequence'>, receipt: Receipt): Promise<string | null> {
    return this.#asking(server, (holder) => server.hosts.result(holder, { session_id, sequence, receipt }));
  }

  async emit(server: SimulatedServer, { session_id, sequence }: Operation, type: string): Promise<string | null> {
    return this.#asking(server, (holder) => server.hosts.emit(holder, { session_id, sequence, type, data: { by: this.incarnation } }));
  }

  async progress(server: SimulatedServer, { session_id, sequence }: Operation): Promise<string | null> {
    return this.#asking(server, (holder) => {
      server.hosts.progress(holder, { session_id, sequence, message: 'half', fraction: 0.5 });
      return Promise.resolve();
    });
  }

  /** Null: it was taken. */
  async #asking(server: SimulatedServer, ask: (holder: NonNullable<Awaited<ReturnType<SimulatedServer['hosts']['holderOf']>>>) => Promise<void>): Promise<string | null> {
    try {
      const holder = this.#token === null ? null : await server.hosts.holderOf(this.#token);
      if (holder === null) return 'not_found';
      await ask(holder);
      return null;
    } catch (error) {
      return codeOf(error);
    }
  }

  #take(stream: HostStream, signal: AbortSignal): void {
    this.status = 'connected';
    this.#stream = stream[Symbol.asyncIterator]();
    stream.ended.addEventListener('abort', () => {
      if (!signal.aborted) this.lose();
    });
    if (!this.isSlow) void this.take();
  }
}
