/** The HTTP layer on a real loopback socket, over the services as the server composes them, on a simulated disk and clock. */
import { createHttpApp, type HttpApp } from '../../http/server.ts';
import type { CallbackService } from '../../services/environments/callbacks.ts';
import { systemClock } from '../../services/system.ts';
import type { HostService } from '../../services/environments/hosts.ts';
import type { TokensByName, TokenService } from '../../services/tokens.ts';
import { FakeCallbackService } from './fake-callback-service.ts';
import { SMALL_PAGE } from './fake-page.ts';
import { FakeTokenService } from './fake-token-service.ts';
import { LivingBrain, type LivingBrainOptions } from './living-brain.ts';
import { testHosts } from './test-hosts.ts';

export interface Doors {
  readonly apiKey?: string;
  /** Default: there are none. */
  readonly tokens?: TokenService & TokensByName;
  /** Default: a fake one, of which nothing comes. */
  readonly callbacks?: CallbackService;
  /** Default: one for which there are no operations. */
  readonly hosts?: HostService;
}

export interface LivingServerOptions extends LivingBrainOptions, Doors {}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export class LivingServer {
  readonly living: LivingBrain;
  readonly port: number;
  readonly #app: HttpApp;

  private constructor(living: LivingBrain, app: HttpApp, port: number) {
    this.living = living;
    this.#app = app;
    this.port = port;
  }

  static async open(options: LivingServerOptions = {}): Promise<LivingServer> {
    return LivingServer.over(await LivingBrain.start(options), options);
  }

  /** Another server over services that run already: those of a process that was started again. */
  static async over(living: LivingBrain, doors: Doors = {}): Promise<LivingServer> {
    const { apiKey, tokens = new FakeTokenService(), callbacks = new FakeCallbackService() } = doors;
    const app = createHttpApp({
      sessions: living.brain.sessions,
      credentials: living.brain.credentials,
      environments: living.brain.environments,
      callbacks,
      hosts: doors.hosts ?? testHosts({ apiKey, tokens, clock: living.clock }),
      tokens,
      page: SMALL_PAGE,
      // The sockets are real, and so are the bounds on them.
      clock: systemClock,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      options: { apiKey, bodyBytesMax: 1024 * 1024, corsOrigins: [] },
      isDraining: () => living.brain.isDraining,
    });
    const { port } = await app.listen({ host: '127.0.0.1', port: 0 });
    return new LivingServer(living, app, port);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** A body that is text is sent as it is, and everything else as its JSON. */
  send(method: string, path: string, { body, headers = {} }: Sent = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(`${this.url}${path}`, {
      method,
      headers: { ...type, ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
  }

  async create(body: unknown = {}): Promise<string> {
    const response = await this.send('POST', '/v1/sessions', { body });
    if (response.status !== 201) throw new Error(`a create was answered with ${response.status}: ${await response.text()}`);
    return ((await response.json()) as { readonly session_id: string }).session_id;
  }

  async close(): Promise<void> {
    await this.#app.close({ withinMs: 0 });
  }
}
