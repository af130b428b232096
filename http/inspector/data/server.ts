/** The server that this page came from, with the token that the person gave. Whatever fails is a `ServerFailure`. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { failureOf, UNREACHABLE, type Failure } from '../model/failure.ts';

/** As `Allow` tells them of what is only looked at. */
const READ_ONLY_METHODS = 'GET, HEAD';

export class ServerFailure extends Error {
  override readonly name = 'ServerFailure';
  readonly failure: Failure;

  constructor(failure: Failure, cause?: unknown) {
    super(failure.text, { cause });
    this.failure = failure;
  }
}

export interface ServerEvent {
  readonly type: string;
  readonly data: unknown;
}

export class Server {
  readonly #token: string | null;
  #isReadOnly = false;

  constructor(token: string | null) {
    this.#token = token;
  }

  /** Whether it said that it takes no change at all, as a look without a server says with everything that it answers. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.#answered<T>(path, { headers: { Accept: 'application/json' }, signal: signal ?? null });
  }

  /** The key says that a repeat of this very request is the same one. */
  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const sent = { 'Content-Type': 'application/json', 'Idempotency-Key': randomKey(), ...headers };
    await this.#answered<unknown>(path, { method: 'POST', headers: sent, body: JSON.stringify(body) });
  }

  /** The events of a stream until it ends by itself. Null: it is over, and nothing more will come. */
  async follow(path: string, signal: AbortSignal): Promise<AsyncIterable<ServerEvent> | null> {
    const response = await this.#fetch(path, { headers: { Accept: 'text/event-stream' }, signal });
    if (response.status === 204 || response.body === null) return null;
    return eventsIn(response.body);
  }

  async #answered<T>(path: string, init: RequestInit): Promise<T> {
    const body = parsed(await bodyOf(await this.#fetch(path, init)));
    if (body === null) throw new ServerFailure({ kind: 'refused', text: 'What answers here does not speak as Brain does.' });
    return body as T;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const authorization: Record<string, string> = this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` };
    const response = await reached(fetch(path, { ...init, headers: { ...init.headers as Record<string, string>, ...authorization } }));
    this.#isReadOnly = response.headers.get('Allow') === READ_ONLY_METHODS;
    if (!response.ok) throw new ServerFailure(failureOf(response.status, parsed(await bodyOf(response))));
    return response;
  }
}

async function* eventsIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerEvent, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reached(reader.read());
      if (done) return;
      yield { type: value.event ?? 'message', data: parsed(value.data) };
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function bodyOf(response: Response): Promise<string> {
  return reached(response.text());
}

/** What the network does not bring. */
async function reached<T>(coming: Promise<T>): Promise<T> {
  try {
    return await coming;
  } catch (error) {
    throw new ServerFailure(UNREACHABLE, error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Not `randomUUID`, which pages that came over plain HTTP from another machine do not have. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
