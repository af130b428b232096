/**
 * Event streams: what a service lets follow, on a socket, at the pace of its reader. The frames and the stream's life
 * are better-sse's; the connection is our own, since the library's writes without looking at what is still unsent.
 *
 *   S1. The next item is asked for when the socket has taken the one before it: a reader that stalls holds its socket's
 *       buffer and nothing else, and misses nothing that is recorded.
 *   S2. Only what is recorded has an `id:`. A reader that reconnects from a live-only frame would skip events.
 *   S3. 15 seconds after the last byte a comment follows, however silent the session is.
 *   S4. Whatever ends the stream (its last item, its reader, a failure) aborts the follower and stops the timer, also
 *       when the reader is gone before the stream begins.
 *   S5. What fails before the first byte is an ordinary error answer; what fails later ends the stream.
 *   S6. The end of the caller's token ends the stream. A reader that does not take its end is cut off.
 */
import { Connection, createSession, EventBuffer } from 'better-sse';
import type { Context } from 'koa';
import type { Clock, Log } from '../services/ports.ts';
import { traceOf } from './errors.ts';
import { routeOf } from './failures.ts';
import { callerOf } from './routes.ts';

// Proxies cut a silent connection, the impatient ones after 20 seconds.
const KEEPALIVE_MS = 15_000;
// What is unsent by then will hardly be taken, and was not meant for long.
const LAST_BYTES_MS = 1_000;

/** What is on the journal has an id; what only passes by has none. */
export interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly data: unknown;
}

export interface StreamSource<T> {
  /** Ends the stream when it aborts. Left out: the end of the caller's token does. */
  readonly ended?: AbortSignal;
  follow(signal: AbortSignal): Promise<{ readonly ended: boolean; readonly items: AsyncIterable<T> }>;
  /** The frame of an item; null for one that this reader did not ask for. */
  frameOf(item: T): Frame | null;
}

export async function answerEventStream<T>(
  context: Context,
  ports: { readonly clock: Clock; readonly log: Log },
  source: StreamSource<T>,
): Promise<void> {
  const connection = new PacedConnection(context, ports.clock, source.ended ?? callerOf(context).ended);
  try {
    const following = await source.follow(connection.signal);
    if (following.ended) {
      context.status = 204;
      return;
    }
    context.respond = false;
    await createSession(connection, { keepAlive: null, retry: null, trustClientEventId: false });
    await sendAll(connection, following.items, source);
  } catch (error) {
    if (!context.headerSent) throw error;
    ports.log.warn('stream_failed', { ...routeOf(context), trace: traceOf(error) });
  } finally {
    connection.close();
  }
}

async function sendAll<T>(connection: PacedConnection, items: AsyncIterable<T>, source: StreamSource<T>): Promise<void> {
  for await (const item of items) {
    if (connection.signal.aborted) return;
    const frame = source.frameOf(item);
    if (frame === null) continue;
    connection.sendChunk(textOf(frame));
    await connection.drained();
  }
}

function textOf(frame: Frame): string {
  const buffer = new EventBuffer({ sanitizer: asFieldValue }).event(frame.type);
  if (frame.id !== undefined) buffer.id(frame.id);
  return buffer.data(frame.data).dispatch().read();
}

/** A field ends with its line. The space in front is the customary one, which readers take off. */
function asFieldValue(value: string): string {
  return ` ${value.replaceAll(/[\r\n]+/g, ' ')}`;
}

class PacedConnection extends Connection {
  readonly url: URL;
  readonly request: Request;
  readonly response: Response;
  readonly #context: Context;
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  /** Aborts when the stream is to end, whatever was to come: its token counts no more. */
  readonly #ended: AbortSignal | null;
  #lastByteAt = 0;
  #cancelKeepalive: () => void = () => undefined;
  #hasHead = false;
  #isClosed = false;

  constructor(context: Context, clock: Clock, ended: AbortSignal | null) {
    super();
    this.#context = context;
    this.#clock = clock;
    this.#ended = ended;
    // The library reads options of its own from the address: it is given one without any.
    this.url = new URL('http://localhost/');
    this.request = new Request(this.url, { signal: this.#gone.signal });
    this.response = new Response(null, {
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
      },
    });
    context.res.once('close', this.#abort);
    this.#ended?.addEventListener('abort', this.#abort);
    // The close of a connection that is gone already may have been announced before anybody listened.
    if (context.res.closed || context.req.socket.destroyed || this.#ended?.aborted === true) this.#abort();
  }

  /** Aborts when the reader is gone, when its token counts no more, and when the stream is over. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  readonly #abort = (): void => {
    this.#gone.abort();
  };

  sendHead(): void {
    if (this.signal.aborted) return;
    this.#hasHead = true;
    this.#context.res.writeHead(this.response.status, Object.fromEntries(this.response.headers));
    // Without this the head would wait for the first event, and the reader not know that it is connected.
    this.#context.res.flushHeaders();
    this.#lastByteAt = this.#clock.monotonic();
    this.#keepAliveAfter(KEEPALIVE_MS);
  }

  sendChunk(text: string): void {
    if (text === '' || this.signal.aborted) return;
    this.#context.res.write(text);
    this.#lastByteAt = this.#clock.monotonic();
  }

  /** Resolves when the socket takes more, or takes nothing ever again. */
  async drained(): Promise<void> {
    const { res } = this.#context;
    if (!res.writableNeedDrain || this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        res.off('drain', goOn);
        this.signal.removeEventListener('abort', goOn);
        resolve();
      };
      res.once('drain', goOn);
      this.signal.addEventListener('abort', goOn);
    });
  }

  /** Called by the library once the signal aborts, whoever aborts it. */
  cleanup(): void {
    this.#isClosed = true;
    this.#cancelKeepalive();
  }

  close(): void {
    const { res } = this.#context;
    res.off('close', this.#abort);
    this.#ended?.removeEventListener('abort', this.#abort);
    this.#gone.abort();
    if (!this.#hasHead) {
      // Nobody else answers any more: who is still there, with a token that ended just now, would wait for ever.
      if (this.#context.respond === false) res.destroy();
      return;
    }
    res.end();
    if (this.#ended?.aborted !== true || res.closed) return;
    const cancel = this.#clock.after(LAST_BYTES_MS, () => res.destroy());
    res.once('close', cancel);
  }

  /** One timer for the whole stream, set again for what is left: events cost it nothing. */
  #keepAliveAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#cancelKeepalive = this.#clock.after(ms, () => {
      const silentMs = this.#clock.monotonic() - this.#lastByteAt;
      if (silentMs < KEEPALIVE_MS) {
        this.#keepAliveAfter(KEEPALIVE_MS - silentMs);
        return;
      }
      // A reader that takes nothing would have these pile up.
      if (!this.#context.res.writableNeedDrain) {
        this.sendChunk(new EventBuffer({ sanitizer: asFieldValue }).comment('keepalive').dispatch().read());
      }
      this.#keepAliveAfter(KEEPALIVE_MS);
    });
  }
}
