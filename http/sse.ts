/**
 * Event streams: what a service lets follow, on a socket, at the pace of its reader. The frames are better-sse's; the
 * stream's life is our own, since the library's writes without looking at what is still unsent, and takes more memory for a
 * reader than all the rest of the stream.
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
import type { ServerResponse } from 'node:http';
import { EventBuffer } from 'better-sse';
import type { Context } from 'koa';
import { onceEach } from '../services/once-each.ts';
import type { Clock, Log } from '../services/ports.ts';
import { traceOf } from './errors.ts';
import { routeOf } from './failures.ts';
import { callerOf } from './routes.ts';

// Proxies cut a silent connection, the impatient ones after 20 seconds.
const KEEPALIVE_MS = 15_000;
// What is unsent by then will hardly be taken, and was not meant for long.
const LAST_BYTES_MS = 1_000;

const HEAD = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

const KEEPALIVE = new EventBuffer({ sanitizer: asFieldValue }).comment('keepalive').dispatch().read();

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
  /** The frame of an item; null for one that this reader did not ask for. Its text is made once, whoever gets it. */
  frameOf(item: T): Frame | null;
}

/** Resolves when the stream has begun. It goes on by itself, and keeps nothing of what the request passed on its way. */
export async function answerEventStream<T>(
  context: Context,
  ports: { readonly clock: Clock; readonly log: Log },
  source: StreamSource<T>,
): Promise<void> {
  const stream = new PacedStream(context, ports.clock, source.ended ?? callerOf(context).ended);
  const items = await begin(context, stream, source).catch((error: unknown) => {
    stream.close();
    throw error;
  });
  if (items === null) {
    stream.close();
    return;
  }
  const { log } = ports;
  const route = routeOf(context);
  sendAll(stream, items, source)
    .catch((error: unknown) => log.warn('stream_failed', { ...route, trace: traceOf(error) }))
    .finally(() => stream.close());
}

/** Null: there is nothing to follow, and that is the answer. */
async function begin<T>(context: Context, stream: PacedStream, source: StreamSource<T>): Promise<AsyncIterable<T> | null> {
  const { ended, items } = await source.follow(stream.signal);
  if (ended) {
    context.status = 204;
    return null;
  }
  context.respond = false;
  stream.sendHead();
  return items;
}

async function sendAll<T>(stream: PacedStream, items: AsyncIterable<T>, source: StreamSource<T>): Promise<void> {
  for await (const item of items) {
    if (stream.signal.aborted) return;
    const frame = source.frameOf(item);
    if (frame === null) continue;
    stream.sendText(textOf(frame));
    if (stream.isFull) await stream.drained();
  }
}

const textOf = onceEach((frame: Frame): string => {
  const buffer = new EventBuffer({ sanitizer: asFieldValue }).event(frame.type);
  if (frame.id !== undefined) buffer.id(frame.id);
  return buffer.data(frame.data).dispatch().read();
});

/** A field ends with its line. The space in front is the customary one, which readers take off. */
function asFieldValue(value: string): string {
  return ` ${value.replaceAll(/[\r\n]+/g, ' ')}`;
}

class PacedStream {
  readonly #res: ServerResponse;
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  /** Aborts when the stream is to end, whatever was to come: its token counts no more. */
  readonly #ended: AbortSignal | null;
  #lastByteAt = 0;
  #cancelKeepalive: () => void = () => undefined;

  constructor({ req, res }: Context, clock: Clock, ended: AbortSignal | null) {
    this.#res = res;
    this.#clock = clock;
    this.#ended = ended;
    res.once('close', this.#abort);
    ended?.addEventListener('abort', this.#abort);
    // The close of a connection that is gone already may have been announced before anybody listened.
    if (res.closed || req.socket.destroyed || ended?.aborted === true) this.#abort();
  }

  /** Aborts when the reader is gone, when its token counts no more, and when the stream is over. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  readonly #abort = (): void => {
    this.#cancelKeepalive();
    this.#gone.abort();
  };

  sendHead(): void {
    if (this.signal.aborted) {
      // Nobody else answers any more: who is still there, with a token that ended just now, would wait for ever.
      this.#res.destroy();
      return;
    }
    this.#res.writeHead(200, HEAD);
    // Without this the head would wait for the first event, and the reader not know that it is connected.
    this.#res.flushHeaders();
    this.#lastByteAt = this.#clock.monotonic();
    this.#keepAliveAfter(KEEPALIVE_MS);
  }

  sendText(text: string): void {
    if (this.signal.aborted) return;
    this.#res.write(text);
    this.#lastByteAt = this.#clock.monotonic();
  }

  get isFull(): boolean {
    return this.#res.writableNeedDrain && !this.signal.aborted;
  }

  /** Resolves when the socket takes more, or takes nothing ever again. */
  async drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        this.#res.off('drain', goOn);
        this.signal.removeEventListener('abort', goOn);
        resolve();
      };
      this.#res.once('drain', goOn);
      this.signal.addEventListener('abort', goOn);
    });
  }

  close(): void {
    this.#abort();
    this.#res.off('close', this.#abort);
    this.#ended?.removeEventListener('abort', this.#abort);
    if (!this.#res.headersSent) return;
    this.#res.end();
    if (this.#ended?.aborted !== true || this.#res.closed) return;
    const cancel = this.#clock.after(LAST_BYTES_MS, () => this.#res.destroy());
    this.#res.once('close', cancel);
  }

  /** One timer for the whole stream, set again for what is left: events cost it nothing. */
  #keepAliveAfter(ms: number): void {
    this.#cancelKeepalive = this.#clock.after(ms, () => {
      const silentMs = this.#clock.monotonic() - this.#lastByteAt;
      if (silentMs < KEEPALIVE_MS) {
        this.#keepAliveAfter(KEEPALIVE_MS - silentMs);
        return;
      }
      // A reader that takes nothing would have these pile up.
      if (!this.#res.writableNeedDrain) this.sendText(KEEPALIVE);
      if (!this.signal.aborted) this.#keepAliveAfter(KEEPALIVE_MS);
    });
  }
}
