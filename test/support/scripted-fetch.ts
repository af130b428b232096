/** A network that a test scripts: what the client sends, and what comes back. */
import type { Fetch } from '../../client/ports.ts';

export interface SentRequest {
  readonly method: string;
  /** With its query, without the server. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

export type FetchScript = (request: SentRequest, index: number) => Response | Promise<Response>;

export class ScriptedFetch {
  readonly sent: SentRequest[] = [];
  readonly script: FetchScript;

  constructor(script: FetchScript) {
    this.script = script;
  }

  get fetch(): Fetch {
    return async (url, init) => {
      const { pathname, search } = new URL(url);
      const request: SentRequest = {
        method: init.method ?? 'GET',
        path: `${pathname}${search}`,
        headers: new Headers(init.headers),
        body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined,
        signal: init.signal ?? new AbortController().signal,
      };
      return this.script(request, this.sent.push(request) - 1);
    };
  }

  get lines(): readonly string[] {
    return this.sent.map(({ method, path }) => `${method} ${path}`);
  }

  /** The key of each request, in order. */
  get keys(): readonly (string | null)[] {
    return this.sent.map(({ headers }) => headers.get('Idempotency-Key'));
  }
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });
}

export function refusal(code: string, status: number, more: { readonly retryable?: boolean; readonly details?: object } = {}): Response {
  return json({ error: { code, message: `it is ${code}`, retryable: false, ...more } }, status);
}

/** What `fetch` says of a connection that it lost. */
export function lost(): Promise<Response> {
  return Promise.reject(new TypeError('fetch failed'));
}

export function never(): Promise<Response> {
  return new Promise(() => undefined);
}

/** A stream that a test writes. */
export class ScriptedStream {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor() {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#controller = controller) });
    this.response = new Response(body, { status: 200, headers: { 'Content-Type': 'text/event-stream' } });
  }

  write(text: string | Uint8Array): this {
    this.#controller?.enqueue(typeof text === 'string' ? new TextEncoder().encode(text) : text);
    return this;
  }

  end(): void {
    this.#controller?.close();
  }

  fail(): void {
    this.#controller?.error(new TypeError('terminated'));
  }
}

/** An event of `/v1` as a frame. */
export function frame(sequence: number, type = 'turn_started', data: unknown = {}): string {
  return `event: ${type}\nid: ${sequence}\ndata: ${JSON.stringify({ sequence, recorded_at: 1, type, data })}\n\n`;
}

export const SESSION = {
  session_id: '019b7a5e6c00700080a1b2c3d4e5f607',
  status: 'idle',
  last_sequence: 2,
};
