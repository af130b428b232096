/** The sessions of `/v1`: made, found and listed. */
import { pathWith, segmentOf } from './address.ts';
import { declareEnvironments } from './environments.ts';
import { Session } from './session.ts';
import type { CreateSession, ListSessions, SessionAnswer, SessionListAnswer } from './session-types.ts';
import type { CallOptions, KeyedOptions, Transport } from './transport.ts';

export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Declares what comes along, then creates with names only: the same create is the same request. */
  async create(create: CreateSession = {}, options: KeyedOptions = {}): Promise<Session> {
    const { idempotencyKey = this.#transport.ports.newKey(), ...rest } = options;
    const { environments, idleTtlMs, afterStop, ...same } = create;
    const names = environments === undefined ? undefined : await declareEnvironments(this.#transport, environments, rest);
    // What is undefined is left out of the JSON.
    const body = { ...same, environments: names, idle_ttl_ms: idleTtlMs, after_stop: afterStop };
    const info = await this.#transport.call({ method: 'POST', path: '/v1/sessions', body, idempotencyKey, ...rest });
    return new Session(this.#transport, info as SessionAnswer);
  }

  async get(id: string, options: CallOptions = {}): Promise<Session> {
    const info = await this.#transport.call({ method: 'GET', path: `/v1/sessions/${segmentOf(id)}`, ...options });
    return new Session(this.#transport, info as SessionAnswer);
  }

  /** A page by id. `after`: the `next_cursor` of the page before. */
  async list({ after, limit, status, metadata = {} }: ListSessions = {}, options: CallOptions = {}): Promise<SessionListAnswer> {
    const filters = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value]));
    const path = pathWith('/v1/sessions', { after, limit, status, ...filters });
    return (await this.#transport.call({ method: 'GET', path, ...options })) as SessionListAnswer;
  }
}
