/** The HTTP layer on a real loopback socket, over a service that a test scripts. */
import { connect, type Socket } from 'node:net';
import { createHttpApp, type HttpApp } from '../../http/server.ts';
import type { Clock, Log, LogFacts } from '../../services/ports.ts';
import { systemClock } from '../../services/system.ts';
import type { BuiltPage } from '../../http/built-page.ts';
import { eventually } from './eventually.ts';
import { FakeCallbackService } from './fake-callback-service.ts';
import { FakeCredentialService } from './fake-credential-service.ts';
import { FakeEnvironmentService } from './fake-environment-service.ts';
import { NO_PAGE } from './fake-page.ts';
import { FakeSessionService } from './fake-session-service.ts';
import { FakeTokenService } from './fake-token-service.ts';
import { testHosts } from './test-hosts.ts';
import type { Hosts } from '../../services/environments/hosts.ts';
import type { ManualClock } from './manual-clock.ts';

export interface LogLine {
  readonly level: keyof Log;
  readonly event: string;
  readonly facts: LogFacts;
}

export interface StageOptions {
  readonly apiKey?: string;
  readonly bodyBytesMax?: number;
  readonly corsOrigins?: readonly string[];
  readonly clock?: Clock;
  readonly port?: number;
  /** Default: it is not built. */
  readonly page?: BuiltPage;
}

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly details?: { readonly field?: string };
  };
}

export class HttpStage {
  readonly sessions = new FakeSessionService();
  readonly credentials = new FakeCredentialService();
  readonly environments = new FakeEnvironmentService();
  readonly callbacks = new FakeCallbackService();
  readonly tokens = new FakeTokenService();
  readonly hosts: Hosts;
  readonly logged: LogLine[] = [];
  readonly #app: HttpApp;
  isDraining = false;
  port = 0;

  private constructor(options: StageOptions) {
    const clock = options.clock ?? systemClock;
    this.hosts = testHosts({ apiKey: options.apiKey, tokens: this.tokens, clock });
    this.#app = createHttpApp({
      sessions: this.sessions,
      credentials: this.credentials,
      environments: this.environments,
      callbacks: this.callbacks,
      hosts: this.hosts,
      tokens: this.tokens,
      page: options.page ?? NO_PAGE,
      clock,
      log: {
        debug: (event, facts = {}) => this.logged.push({ level: 'debug', event, facts }),
        info: (event, facts = {}) => this.logged.push({ level: 'info', event, facts }),
        warn: (event, facts = {}) => this.logged.push({ level: 'warn', event, facts }),
        error: (event, facts = {}) => this.logged.push({ level: 'error', event, facts }),
      },
      options: { apiKey: options.apiKey, bodyBytesMax: options.bodyBytesMax ?? 8 * 1024 * 1024, corsOrigins: options.corsOrigins ?? [] },
      isDraining: () => this.isDraining,
    });
  }

  static async open(options: StageOptions = {}): Promise<HttpStage> {
    const stage = new HttpStage(options);
    const { port } = await stage.#app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
    stage.port = port;
    return stage;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async request(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { method, ...init });
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.request('POST', path, {
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** A connection of its own, for what no client library would send. */
  connect(): RawConnection {
    return new RawConnection(connect(this.port, '127.0.0.1'));
  }

  async close(options: { readonly withinMs?: number } = { withinMs: 0 }): Promise<void> {
    await this.#app.close(options);
  }

  /** Closes on a clock that moves only when it is moved, and waits until no timer is left on it. */
  async closeOn(clock: ManualClock): Promise<void> {
    const closed = this.close();
    clock.advance(0);
    await closed;
    await eventually(async () => (clock.timerCount === 0 ? true : undefined), 'every timer to be stopped');
  }
}

export class RawConnection {
  readonly socket: Socket;
  received = Buffer.alloc(0);
  /** Resolves with all that came, once the other side has ended or reset the connection. */
  readonly closed: Promise<string>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => (this.received = Buffer.concat([this.received, bytes])));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve(this.text)));
  }

  get text(): string {
    return this.received.toString('utf8');
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The body of the only answer on this connection. */
  get body(): string {
    return this.text.slice(this.text.indexOf('\r\n\r\n') + 4);
  }
}

export async function errorOf(response: Response): Promise<ErrorBody['error']> {
  return ((await response.json()) as ErrorBody).error;
}
