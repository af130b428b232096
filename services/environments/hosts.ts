/**
 * Hosts: processes of the user's own that carry out the operations of their environments. They call this server, and this
 * server calls none: each takes its commands from a stream, and posts what came of them. What a process may see and
 * answer is what was written to it; `host.ts` has the rules.
 */
import type { JsonValue } from '../../machines/messages.ts';
import type { Sequence } from '../../machines/records.ts';
import type { HostFiles } from '../../storage/host-files.ts';
import { ServiceError } from '../errors.ts';
import type { Clock, Log } from '../ports.ts';
import { serviceError } from '../session-refusals.ts';
import { commandKey } from './host-command.ts';
import type { HostStream } from './host-stream.ts';
import { HostTokens, type HostHolder, type HostTokensParts } from './host-tokens.ts';
import { KnownHosts } from './known-hosts.ts';
import type { EnvironmentDriver, OperationCall, OperationListener, Receipt, SentOperation } from './operation.ts';
import { Registrations } from './registrations.ts';

/** Names a command. */
export interface CommandName {
  readonly session_id: string;
  readonly sequence: Sequence;
}

export interface RegisteredHost {
  readonly host: string;
  readonly token: string;
  /** Whether the process took the name, or had it already. */
  readonly isNew: boolean;
}

/** What `http/` calls. Everything rejects with a `ServiceError` and nothing else. */
export interface HostService {
  /** Resolves when it is durable. `caller`: by the name of its token. Null where that counts no more. */
  register(
    caller: { readonly tenant: string; readonly tokenId: string },
    process: { readonly name: string; readonly incarnation: string },
  ): Promise<RegisteredHost | null>;
  /** Null for what is no token of a host, or one that counts no more. */
  holderOf(token: string): Promise<HostHolder | null>;
  /** What the process is told until the signal aborts. It is the only stream of its host from now on. */
  commands(holder: HostHolder, signal: AbortSignal): HostStream;
  /** Resolves when the record of it is durable. */
  result(holder: HostHolder, result: CommandName & { readonly receipt: Receipt }): Promise<void>;
  /** Resolves when it is durable. */
  emit(holder: HostHolder, event: CommandName & { readonly type: string; readonly data: JsonValue }): Promise<void>;
  progress(holder: HostHolder, progress: CommandName & { readonly message?: string; readonly fraction?: number }): void;
}

export interface HostsParts extends HostTokensParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: HostFiles;
}

export class Hosts implements EnvironmentDriver, HostService {
  readonly #parts: HostsParts;
  readonly #tokens: HostTokens;
  readonly #hosts: KnownHosts;
  readonly #registrations: Registrations;
  readonly #leave = new Set<() => void>();
  #isClosed = false;

  constructor(parts: HostsParts) {
    this.#parts = parts;
    this.#tokens = new HostTokens(parts);
    this.#hosts = new KnownHosts(parts.clock);
    this.#registrations = new Registrations(parts.files);
  }

  send(call: OperationCall): SentOperation {
    const { tenant, environment } = call;
    if (environment.driver !== 'host') throw new TypeError('an operation of another driver was sent to a host');
    return this.#hosts.of(tenant, environment.host).send(call);
  }

  async register(
    { tenant, tokenId }: { readonly tenant: string; readonly tokenId: string },
    { name, incarnation }: { readonly name: string; readonly incarnation: string },
  ): Promise<RegisteredHost | null> {
    await this.#recall(tenant, name);
    if (this.#hosts.of(tenant, name).isFormer(incarnation)) throw lostName(name);
    const issued = await this.#tokens.issue({ tenant, host: name, incarnation }, tokenId);
    if (issued === null) return null;
    await answering(() => this.#registrations.add(issued.incarnation));
    const taken = this.#hosts.of(tenant, name).take(issued.incarnation);
    if (taken === 'older') throw lostName(name);
    this.#parts.log.info('host_registered', { tenant, host: name, incarnation });
    return { host: name, token: issued.text, isNew: taken === 'taken' };
  }

  async holderOf(token: string): Promise<HostHolder | null> {
    const holder = await this.#tokens.holderOf(token);
    if (holder !== null) await this.#recall(holder.tenant, holder.host);
    return holder;
  }

  commands(holder: HostHolder, signal: AbortSignal): HostStream {
    if (this.#isClosed) throw new ServiceError('draining', 'the server is shutting down');
    const host = this.#hosts.of(holder.tenant, holder.host);
    if (host.take(holder) === 'older') throw lostName(holder.host);
    const stream = host.connect();
    const leave = (): void => {
      signal.removeEventListener('abort', leave);
      holder.ended?.removeEventListener('abort', leave);
      stream.ended.removeEventListener('abort', leave);
      this.#leave.delete(leave);
      host.disconnect(stream);
    };
    this.#leave.add(leave);
    signal.addEventListener('abort', leave);
    holder.ended?.addEventListener('abort', leave);
    stream.ended.addEventListener('abort', leave);
    if (signal.aborted || holder.ended?.aborted === true) leave();
    return stream;
  }

  async result(holder: HostHolder, { session_id, sequence, receipt }: CommandName & { readonly receipt: Receipt }): Promise<void> {
    const host = this.#hosts.of(holder.tenant, holder.host);
    const key = commandKey(session_id, sequence);
    const command = host.commandOf(holder.incarnation, key);
    if (command === undefined) {
      if (receipt.type !== 'accepted') host.stopped(holder.incarnation, key);
      throw alreadyClosed();
    }
    if (receipt.type === 'accepted' && command.isInvoke) {
      throw new ServiceError('invalid_request', '/receipt/type must be result, failure or unknown: a tool call that was taken on is not done', {
        details: { field: '/receipt/type' },
      });
    }
    const kept = await command.settle(receipt);
    if (kept !== 'recorded') throw kept === 'late' ? alreadyClosed() : kept;
  }

  async emit(holder: HostHolder, { type, data, ...name }: CommandName & { readonly type: string; readonly data: JsonValue }): Promise<void> {
    await this.#listenerOf(holder, name).emit(type, data);
  }

  progress(holder: HostHolder, { session_id, sequence, ...progress }: CommandName & { readonly message?: string; readonly fraction?: number }): void {
    this.#listenerOf(holder, { session_id, sequence }).progress(progress);
  }

  /** Ends every stream: their hosts are gone then. */
  close(): void {
    this.#isClosed = true;
    for (const leave of [...this.#leave]) leave();
  }

  /** A process is judged by all that were registered, and not only by those that this process of the server has seen. */
  async #recall(tenant: string, name: string): Promise<void> {
    const registration = await answering(() => this.#registrations.of(tenant, name));
    if (registration === null) return;
    this.#tokens.learn(registration.issued_at);
    this.#hosts.of(tenant, name).recall(registration);
  }

  #listenerOf(holder: HostHolder, { session_id, sequence }: CommandName): OperationListener {
    const command = this.#hosts.of(holder.tenant, holder.host).commandOf(holder.incarnation, commandKey(session_id, sequence));
    if (command === undefined) throw alreadyClosed();
    if (command.call.listener !== null) return command.call.listener;
    throw new ServiceError('invalid_request', 'this operation reports nothing but its result', { details: { field: '/sequence' } });
  }
}

function lostName(name: string): ServiceError {
  return new ServiceError('conflict', `another process took the name of the host ${name}`);
}

function alreadyClosed(): ServiceError {
  return new ServiceError('already_closed', 'this operation is over, or was never given to this process');
}

async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = serviceError(error);
    if (code !== 'journal_unavailable' && code !== 'disk_full') throw new ServiceError(code, message, { cause: error });
    throw new ServiceError(code, 'the disk failed; register, or show the token, again', { cause: error });
  }
}
