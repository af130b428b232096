/**
 * Requests to one server under one token.
 *
 *   T1. What may change something is sent once for each call, and under a key where the server takes one. Only reads are
 *       sent again by themselves, a few times.
 *   T2. No redirect is followed: the token goes to no other place.
 *   T3. After `close` nothing is sent, and what waits rejects.
 */
import type { ErrorAnswer } from '../http/wire/answers.ts';
import { headerText, parseBaseUrl, parseToken } from './address.ts';
import { assertCallOptions, assertSignal } from './call-arguments.ts';
import { BrainClosedError, BrainConnectionError, BrainError, BrainTimeoutError } from './errors.ts';
import { OpenRequest } from './open-request.ts';
import type { ClientPorts } from './ports.ts';
import { afterWallTime } from './wall-timer.ts';

export const BASE_URL = 'http://127.0.0.1:8080';

/** How long to wait before a read is sent again. */
const READ_PAUSES_MS = [200, 1_000] as const;

export interface CallOptions {
  /** Ends the wait; what was sent goes on. */
  readonly signal?: AbortSignal;
  /** Default: no bound. */
  readonly timeoutMs?: number;
}

export interface KeyedOptions extends CallOptions {
  /** Names the request, so that it can be sent again. Default: a new one. */
  readonly idempotencyKey?: string;
}

export interface Call extends KeyedOptions {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** In the place of the client's own. */
  readonly token?: string;
}

export class Transport {
  readonly ports: ClientPorts;
  readonly #baseUrl: string;
  readonly #token: string | null;
  readonly #open = new Set<OpenRequest>();
  #isClosed = false;

  constructor({ baseUrl, token, ports }: { readonly baseUrl: string; readonly token: string | undefined; readonly ports: ClientPorts }) {
    this.#baseUrl = parseBaseUrl(baseUrl);
    this.#token = parseToken(token);
    this.ports = ports;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  assertOpen(): void {
    if (this.#isClosed) throw new BrainClosedError();
  }

  close(): void {
    this.#isClosed = true;
    for (const request of this.#open) request.stop(new BrainClosedError());
  }

  /** A request under way; whoever begins it releases it. */
  begin(signal: AbortSignal | undefined): OpenRequest {
    this.assertOpen();
    assertSignal(signal);
    const request = new OpenRequest(signal);
    this.#open.add(request);
    request.onRelease(() => {
      this.#open.delete(request);
    });
    return request;
  }

  /** The body of an answer; null where it has none. */
  async call(call: Call): Promise<unknown> {
    assertCallOptions(call);
    const request = this.begin(call.signal);
    this.#bound(request, call);
    try {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await this.#answerTo(request, call);
        } catch (error) {
          const pauseMs = call.method === 'GET' && mayPass(error) ? READ_PAUSES_MS[attempt] : undefined;
          if (pauseMs === undefined) throw error;
          await this.pause(request, pauseMs);
        }
      }
    } finally {
      request.release();
    }
  }

  /** An answer whose body the caller reads. Every other answer than a success throws. */
  async open(request: OpenRequest, call: Call): Promise<Response> {
    const { method, path, headers = {}, body, idempotencyKey } = call;
    const response = await this.#reached(
      request,
      call,
      this.ports.fetch(`${this.#baseUrl}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers, ...identity(this.#tokenOf(call), idempotencyKey) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'manual',
        credentials: 'omit',
        signal: request.signal,
      }),
    );
    if (response.ok) return response;
    throw refusalIn(response, await this.#reached(request, call, response.text()), idempotencyKey);
  }

  async pause(request: OpenRequest, ms: number): Promise<void> {
    let cancel: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      cancel = this.ports.clock.after(ms, resolve);
    });
    try {
      await request.race(over);
    } finally {
      cancel();
    }
  }

  async #answerTo(request: OpenRequest, call: Call): Promise<unknown> {
    const response = await this.open(request, { ...call, headers: { Accept: 'application/json', ...call.headers } });
    const text = await this.#reached(request, call, response.text());
    if (response.status === 204) return null;
    const answer = parsed(text);
    if (answer === undefined) throw notBrain(response, call.idempotencyKey);
    return answer;
  }

  /** What the network does not bring. */
  async #reached<T>(request: OpenRequest, call: Call, coming: Promise<T>): Promise<T> {
    try {
      return await request.race(coming);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      const { origin } = new URL(this.#baseUrl);
      const said = reasonOf(error);
      // A `fetch` of somebody else's may say all that it sent.
      const token = this.#tokenOf(call);
      const reason = token !== null && said.includes(token) ? 'what it said holds the key' : said;
      throw new BrainConnectionError(`Brain was not reached at ${origin}, or was lost before its answer (${reason})`, { idempotencyKey: call.idempotencyKey, cause: error });
    }
  }

  #tokenOf({ token }: Call): string | null {
    return token ?? this.#token;
  }

  #bound(request: OpenRequest, { timeoutMs, idempotencyKey }: Call): void {
    if (timeoutMs === undefined) return;
    const cancel = afterWallTime(this.ports.clock, timeoutMs, () => {
      request.stop(new BrainTimeoutError(`Brain did not answer within ${timeoutMs} ms`, { idempotencyKey }));
    });
    request.onRelease(cancel);
  }
}

/** In a word, where the innermost cause has one: `fetch` itself says only that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'for no reason that is known';
  const { cause, code, errors } = error as { readonly cause?: unknown; readonly code?: unknown; readonly errors?: readonly unknown[] };
  // Of the addresses that a name has, each failed for itself.
  const inner = cause ?? errors?.[0];
  if (inner instanceof Error) return reasonOf(inner);
  return typeof code === 'string' ? code : error.message;
}

function identity(token: string | null, idempotencyKey: string | undefined): Readonly<Record<string, string>> {
  return {
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': headerText(idempotencyKey) }),
  };
}

/** Whether the same read may succeed in a moment. */
export function mayPass(error: unknown): boolean {
  if (error instanceof BrainTimeoutError) return false;
  if (error instanceof BrainConnectionError) return error.status === undefined || error.status >= 500 || error.status === 429;
  return error instanceof BrainError && error.retryable && error.status >= 429;
}

function refusalIn(response: Response, text: string, idempotencyKey: string | undefined): Error {
  const error = errorIn(parsed(text));
  if (error === null) return notBrain(response, idempotencyKey);
  const { code, message, retryable, details } = error;
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
  return new BrainError({ code, message, status: response.status, retryable, details, retryAfterMs, idempotencyKey });
}

function errorIn(body: unknown): ErrorAnswer['error'] | null {
  if (typeof body !== 'object' || body === null || !('error' in body)) return null;
  const { error } = body;
  const isError = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && 'message' in error;
  return isError ? (error as ErrorAnswer['error']) : null;
}

/** A proxy in between, or another server. Whether Brain has the request nobody knows. */
function notBrain({ status }: Response, idempotencyKey: string | undefined): BrainConnectionError {
  return new BrainConnectionError(`what answered, with status ${status}, does not speak as Brain does`, { status, idempotencyKey });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
