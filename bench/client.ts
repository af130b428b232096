/** HTTP as cheap as it gets here, since the client shares the processor with what it measures. */
import { Pool } from 'undici';

/** Connections that are opened as they are needed, up to this many. */
const CONNECTIONS_MAX = 256;

export interface CreateBody {
  readonly model: { readonly provider: 'openai'; readonly name: 'plain' | 'tools' | 'recorded' };
  readonly system?: string;
  readonly tools?: readonly string[];
  readonly idle_ttl_ms?: number;
}

export const PLAIN_SESSION: CreateBody = { model: { provider: 'openai', name: 'plain' } };
export const TOOL_SESSION: CreateBody = { model: { provider: 'openai', name: 'tools' }, tools: ['look'] };

/** What is said in every turn that is measured. */
export const INPUT = 'How long does it take to hear this?';

export class Client {
  readonly url: string;
  readonly #pool: Pool;

  constructor(url: string) {
    this.url = url;
    this.#pool = new Pool(url, { connections: CONNECTIONS_MAX, headersTimeout: 0, bodyTimeout: 0 });
  }

  async get(path: string): Promise<unknown> {
    return this.#call('GET', path, null);
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return this.#call('POST', path, body, headers);
  }

  async patch(path: string, body: unknown): Promise<unknown> {
    return this.#call('PATCH', path, body);
  }

  /** Answers its id. */
  async create(body: CreateBody = PLAIN_SESSION): Promise<string> {
    return fieldOf(await this.post('/v1/sessions', body), 'session_id');
  }

  /** Resolves when the turn is over; rejects where it did not end well. */
  async send(id: string, input: string): Promise<void> {
    const outcome = fieldOf(await this.post(`/v1/sessions/${id}/messages`, { input }), 'outcome');
    if (outcome !== 'ended') throw new Error(`a turn ended as ${outcome}`);
  }

  async submit(id: string, input: string): Promise<void> {
    await this.post(`/v1/sessions/${id}/messages`, { input }, { prefer: 'respond-async' });
  }

  /** On the other surface, where messages wait their turn. */
  async queue(id: string, text: string): Promise<void> {
    await this.post(`/sessions/${id}/events`, { type: 'user.message', text });
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #call(method: 'GET' | 'POST' | 'PATCH', path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const sent = body === null ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
    const answer = await this.#pool.request({ method, path, ...sent });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} was answered with ${answer.statusCode}: ${text}`);
    return text.startsWith('{') ? JSON.parse(text) : text;
  }
}

function fieldOf(answer: unknown, name: string): string {
  const value: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined;
  if (typeof value !== 'string') throw new Error(`an answer has no ${name}`);
  return value;
}
