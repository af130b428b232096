/**
 * A server to be sent anything: every answer is held against the OpenAPI document, no request may hang or end in a fault
 * of the server, and a refused one may change nothing.
 */
import { Agent, request } from 'node:http';
import { DescribedServer } from './described-server.ts';
import { CALLBACK_TOKEN } from './fake-callback-service.ts';
import { TENANT } from './living-brain.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { saying, ScriptedModel } from './scripted-model.ts';
import { quiescence } from './simulated-clock.ts';

// Nothing here takes longer than some milliseconds; whatever takes this long does not end.
const HANG_MS = 20_000;
// As fetch has it: these take no body, not even an empty one.
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

export interface Strange {
  readonly method: string;
  readonly path: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** The text of a body; none where it is left out. */
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export type Stand = 'idle' | 'ended' | 'held';

export class FuzzTarget {
  readonly #server: DescribedServer;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sessions: Readonly<Record<Stand, string>>;
  /** Of the host `known`. */
  readonly #hostToken: string;
  #standing: string;

  private constructor(server: DescribedServer, hostToken: string, sessions: Readonly<Record<Stand, string>>, standing: string) {
    this.#server = server;
    this.#hostToken = hostToken;
    this.#sessions = sessions;
    this.#standing = standing;
  }

  /** With a session in each of the places where it can be told something. */
  static async open(document: OpenApiDocument): Promise<FuzzTarget> {
    const model = new ScriptedModel((_call, index) => (index === 0 ? 'waits' : saying('hello')));
    const server = await DescribedServer.open({ model, document });
    const { sessions } = server.living;
    const held = await server.create({ after_stop: 'hold' });
    await sessions.submit(TENANT, held, 'wait');
    await model.calls.at(0);
    await sessions.cancel(TENANT, held);
    await server.living.atRest(held);
    const idle = await server.create({ metadata: { team: 'red' } });
    await sessions.send(TENANT, idle, 'hello');
    const ended = await server.create();
    await sessions.end(TENANT, ended);
    const { body } = await server.send('POST', '/v1/hosts', { body: { name: 'known', incarnation: 'first' } });
    return new FuzzTarget(server, (body as { readonly token: string }).token, { idle, ended, held }, await standingOf(server));
  }

  session(stand: Stand): string {
    return this.#sessions[stand];
  }

  /** Whether the request was accepted. Throws where the answer, or what came of it, is not as it may be. */
  async send(strange: Strange): Promise<boolean> {
    const what = JSON.stringify(strange).slice(0, 2_000);
    const answer = await this.#exchange(strange);
    if (answer.status >= 500) throw new Error(`${what} is a fault of the server: ${answer.status} ${answer.text}`);
    await this.#assertDescribed(strange, answer, what);
    await quiescence();
    const before = this.#standing;
    this.#standing = await standingOf(this.#server);
    const isRefused = answer.status >= 400;
    if (isRefused && this.#standing !== before) {
      throw new Error(`${what} was refused with ${answer.status} and changed something:\n${before}\n${this.#standing}`);
    }
    return !isRefused;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#server.close();
  }

  async #assertDescribed({ method, path }: Strange, { status, headers, text }: Answered, what: string): Promise<void> {
    const type = headers['content-type'];
    if (status >= 400 && type !== 'application/json; charset=utf-8') throw new Error(`${what} is refused with a body of type ${String(type)}`);
    const { document } = this.#server;
    const route = document.routeOf(method, path);
    // Where no route is known only the shape can be told.
    if (route === null || status === 417) {
      if (status < 400) throw new Error(`${what} is answered with ${status}, and no route is described`);
      const problem = document.problem({ $ref: '#/components/schemas/Error' }, JSON.parse(text));
      if (problem !== null) throw new Error(`${what} is refused as it is not described: ${problem}`);
      return;
    }
    const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]));
    const problem = await document.answerProblem(route, new Response(WITHOUT_BODY.has(status) ? null : text, { status, headers: entries }));
    if (problem !== null) throw new Error(`${what} is answered as it is not described: ${problem}`);
  }

  #exchange(strange: Strange): Promise<Answered> {
    const { method, path, body } = strange;
    const given = headersOf(strange, this.#hostToken);
    return new Promise<Answered>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#server.port, method, path, headers: given, agent: this.#agent, signal: AbortSignal.timeout(HANG_MS) };
      const sent = request(options, (response) => {
        const answer = { status: response.statusCode ?? 0, headers: response.headers };
        // A stream goes on; that it began is its answer.
        if (response.headers['content-type'] === 'text/event-stream') {
          response.destroy();
          resolve({ ...answer, text: '' });
          return;
        }
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => resolve({ ...answer, text: Buffer.concat(parts).toString('utf8') }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

/** A header that is named twice is sent twice, but for those of which a client sends one. A callback and a host show their tokens. */
function headersOf({ path, headers = [], body }: Strange, hostToken: string): Record<string, string | string[]> {
  const values = new Map<string, string[]>(body === undefined ? [] : [['content-type', ['application/json']]]);
  if (path.startsWith('/v1/callbacks/')) values.set('authorization', [`Bearer ${CALLBACK_TOKEN}`]);
  if (path.startsWith('/v1/hosts/')) values.set('authorization', [`Bearer ${hostToken}`]);
  for (const [name, value] of headers) {
    const isSingle = name === 'content-type' || name === 'host' || name === 'authorization';
    values.set(name, isSingle ? [value] : [...(values.get(name) ?? []), value]);
  }
  if (body !== undefined) values.set('content-length', [String(Buffer.byteLength(body))]);
  return Object.fromEntries([...values].map(([name, [first = '', ...more]]) => [name, more.length === 0 ? first : [first, ...more]]));
}

/**
 * All that a client could see of what is there, but for what is in memory and what is not. A journal only grows: its last
 * sequence tells of every record.
 */
async function standingOf({ living }: DescribedServer): Promise<string> {
  const { sessions } = await living.sessions.list(TENANT, { after: '', limit: 10_000 });
  const credentials = await living.brain.credentials.list(TENANT);
  const environments = await living.brain.environments.list(TENANT);
  return JSON.stringify({ sessions: sessions.map((session) => ({ ...session, resident: null })), credentials, environments });
}
