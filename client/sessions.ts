/** The sessions of `/v1`: made, found and listed. */
import { pathWith, segmentOf } from './address.ts';
import { assertCallOptions, assertList } from './call-arguments.ts';
import { declareEnvironment, type HostEnvironment } from './environments.ts';
import type { Hosts } from './hosts.ts';
import { Session } from './session.ts';
import type { CreateSession, ListSessions, SessionAnswer, SessionListAnswer } from './session-types.ts';
import type { CallOptions, KeyedOptions, Transport } from './transport.ts';

export class Sessions {
  readonly #transport: Transport;
  readonly #hosts: Hosts;

  constructor(transport: Transport, hosts: Hosts) {
    this.#transport = transport;
    this.#hosts = hosts;
  }

  /** Declares what comes along and serves what runs here, then creates with names only: the same create is the same request. */
  async create(create: CreateSession = {}, options: KeyedOptions = {}): Promise<Session> {
    assertCallOptions(options);
    for (const name of ['environments', 'tools'] as const) if (create[name] !== undefined) assertList(create[name], name);
    const { idempotencyKey = this.#transport.ports.newKey(), ...rest } = options;
    const { idleTtlMs, afterStop, ...same } = create;
    const { environments, tools } = this.#withOwnTools(create);
    const hosted: HostEnvironment[] = [];
    const declared: (() => void)[] = [];
    try {
      for (const environment of environments ?? []) {
        if (typeof environment === 'string') continue;
        if (environment.driver === 'http') await declareEnvironment(this.#transport, environment, rest);
        else {
          declared.push(await this.#hosts.serve(environment, rest));
          hosted.push(environment);
        }
      }
      const names = environments?.map((environment) => (typeof environment === 'string' ? environment : environment.name));
      // What is undefined is left out of the JSON.
      const body = { ...same, environments: names, tools, idle_ttl_ms: idleTtlMs, after_stop: afterStop };
      const info = (await this.#transport.call({ method: 'POST', path: '/v1/sessions', body, idempotencyKey, ...rest })) as SessionAnswer;
      this.#hosts.bind(info.session_id, hosted);
      return new Session(this.#transport, info);
    } finally {
      for (const done of declared) done();
    }
  }

  /** Tools that no environment of the create has get one. */
  #withOwnTools({ environments, tools }: CreateSession): { readonly environments: CreateSession['environments']; readonly tools: readonly string[] | undefined } {
    const isElsewhere = (name: string): boolean =>
      environments?.some((environment) => typeof environment !== 'string' && environment.tools.some((tool) => tool.name === name)) === true;
    const own = (tools ?? []).filter((tool) => typeof tool !== 'string').filter(({ name }) => !isElsewhere(name));
    const all = own.length === 0 ? environments : [...(environments ?? []), this.#hosts.ownEnvironment(own)];
    return { environments: all, tools: tools?.map((tool) => (typeof tool === 'string' ? tool : tool.name)) };
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
