/**
 * A client of one server, under one token.
 *
 *   B1. `close` ends what waits and lets go of every connection; what goes on at the server it leaves alone. It may be
 *       called again, and everything else rejects from then on.
 *       Tools that run get their signals aborted, and are not waited for.
 *   B2. A client made by `withToken` shares the address and nothing else: each is closed by itself.
 */
import { pathWith, segmentOf } from './address.ts';
import { assertList, assertObject } from './call-arguments.ts';
import { LifecycleSession } from './lifecycle-session.ts';
import type { HostEnvironment } from './environments.ts';
import type { RegisteredHost } from './host-wire.ts';
import { Hosts, registerHost } from './hosts.ts';
import { Sessions } from './sessions.ts';
import type { CreateLifecycleSessionBody, LifecycleSessionAnswer, LifecycleSessionListAnswer } from './session-types.ts';
import { portsWith, type PortOptions } from './system.ts';
import { BASE_URL, Transport, type CallOptions, type KeyedOptions } from './transport.ts';

export interface BrainOptions extends PortOptions {
  /** Default: `http://127.0.0.1:8080`. */
  readonly baseUrl?: string;
  /** Left out or empty: the server asks for none. */
  readonly token?: string | undefined;
  /** The name under which this process serves tools, for environments that name none. Default: each environment's own name. */
  readonly host?: string;
  /** Told what goes wrong with the tools of this process while nobody waits. Default: it is printed. */
  readonly onError?: ((error: Error) => void) | undefined;
}

export class Brain {
  /** The sessions of `/v1`. */
  readonly sessions: Sessions;
  readonly #transport: Transport;
  readonly #hosts: Hosts;
  readonly #options: BrainOptions;

  constructor(url: string, key?: string);
  constructor(options?: BrainOptions);
  constructor(where: string | BrainOptions = {}, key?: string) {
    if (typeof where !== 'string') assertObject(where, 'what a client is made of, unless it is an address,');
    this.#options = typeof where === 'string' ? { baseUrl: where, token: key } : where;
    const { baseUrl = BASE_URL, token, host, onError } = this.#options;
    const ports = portsWith(this.#options);
    this.#transport = new Transport({ baseUrl, token, ports });
    this.#hosts = new Hosts({ transport: this.#transport, host, onError: onError ?? ((error) => ports.complain(error)) });
    this.sessions = new Sessions(this.#transport, this.#hosts);
  }

  /** A session of `/sessions`. */
  async create(body: CreateLifecycleSessionBody, options: KeyedOptions = {}): Promise<LifecycleSession> {
    const { idempotencyKey = this.#transport.ports.newKey(), ...rest } = options;
    const info = await this.#transport.call({ method: 'POST', path: '/sessions', body, idempotencyKey, ...rest });
    return new LifecycleSession(this.#transport, info as LifecycleSessionAnswer);
  }

  /** A page of `/sessions`, by id. `after`: the last id of the page before. */
  async list(after?: string, limit?: number, options: CallOptions = {}): Promise<LifecycleSessionListAnswer> {
    return (await this.#transport.call({ method: 'GET', path: pathWith('/sessions', { after, limit }), ...options })) as LifecycleSessionListAnswer;
  }

  /** A session of `/sessions`, or one of `/v1` as it reads there. */
  async get(id: string, options: CallOptions = {}): Promise<LifecycleSession> {
    const info = await this.#transport.call({ method: 'GET', path: `/sessions/${segmentOf(id)}`, ...options });
    return new LifecycleSession(this.#transport, info as LifecycleSessionAnswer);
  }

  /** Declares environments of this process and serves them, for sessions that are there or that others make. */
  async serve(environments: readonly HostEnvironment[], options: CallOptions = {}): Promise<void> {
    assertList(environments, 'what is served');
    for (const environment of environments) await this.#hosts.serve(environment, options);
  }

  /** A token with which another process serves tools: a page, for example, that is to have no other. */
  async registerHost(process: { readonly name: string; readonly incarnation: string }, options: CallOptions = {}): Promise<RegisteredHost> {
    return registerHost(this.#transport, process, options);
  }

  /** Another client to the same server. */
  withToken(token: string | undefined): Brain {
    this.#transport.assertOpen();
    return new Brain({ ...this.#options, token });
  }

  async close(): Promise<void> {
    this.#transport.close();
    this.#hosts.close();
  }
}
