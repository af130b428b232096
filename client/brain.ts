/**
 * A client of one server, under one token.
 *
 *   B1. `close` ends what waits and lets go of every connection; what goes on at the server it leaves alone. It may be
 *       called again, and everything else rejects from then on.
 *   B2. A client made by `withToken` shares the address and nothing else: each is closed by itself.
 */
import { pathWith, segmentOf } from './address.ts';
import { LifecycleSession } from './lifecycle-session.ts';
import type { ClientClock, ClientPorts, Fetch } from './ports.ts';
import { Sessions } from './sessions.ts';
import type { CreateLifecycleSessionBody, LifecycleSessionAnswer, LifecycleSessionListAnswer } from './session-types.ts';
import { systemPorts } from './system.ts';
import { Transport, type CallOptions, type KeyedOptions } from './transport.ts';

export interface BrainOptions {
  /** Default: `http://127.0.0.1:8080`. */
  readonly baseUrl?: string;
  /** Left out or empty: the server asks for none. */
  readonly token?: string | undefined;
  /** Default: the one that Node and browsers have. */
  readonly fetch?: Fetch;
  /** Default: the machine's. */
  readonly clock?: ClientClock;
}

const BASE_URL = 'http://127.0.0.1:8080';

export class Brain {
  /** The sessions of `/v1`. */
  readonly sessions: Sessions;
  readonly #transport: Transport;
  readonly #options: BrainOptions;

  constructor(url: string, key?: string);
  constructor(options?: BrainOptions);
  constructor(where: string | BrainOptions = {}, key?: string) {
    this.#options = typeof where === 'string' ? { baseUrl: where, token: key } : where;
    const { baseUrl = BASE_URL, token, fetch, clock } = this.#options;
    const ports: ClientPorts = { ...systemPorts, ...(fetch === undefined ? {} : { fetch }), ...(clock === undefined ? {} : { clock }) };
    this.#transport = new Transport({ baseUrl, token, ports });
    this.sessions = new Sessions(this.#transport);
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

  /** Another client to the same server. */
  withToken(token: string | undefined): Brain {
    this.#transport.assertOpen();
    return new Brain({ ...this.#options, token });
  }

  async close(): Promise<void> {
    this.#transport.close();
  }
}
