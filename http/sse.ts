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
 *   S7. A stream that waits is this object, its follower and its socket: nothing of the request, and no suspended function.
 */
import type { ServerResponse } from 'node:http';
import { EventBuffer } from 'better-sse';
import type { Context } from 'koa';
import { onceEach } from '../services/once-each.ts';
import type { Clock, Log, LogFacts } from '../services/ports.ts';
import { traceOf } from './errors.ts';
import { routeOf } from './failures.ts';
import { Keepalives, type Silent } from './keepalives.ts';
import { callerOf } from './routes.ts';

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

/** What all streams of a server share. */
interface Ports {
  readonly clock: Clock;
  readonly log: Log;
  readonly keepalives: Keepalives;
}

/** Answers requests with event streams. */
export class EventStreams {
  readonly #ports: Ports;

  constructor(ports: { readonly clock: Clock; readonly log: Log }) {
    this.#ports = { ...ports, keepalives: new Keepalives(ports.clock) };
  }

  /** Resolves when the stream has begun, and goes on by itself; or when there is nothing to follow, which is the answer then. */
  async answer<T>(context: Context, source: StreamSource<T>): Promise<void> {
    const stream = new EventStream<T>(context, this.#ports, source.ended ?? callerOf(context).ended);
    try {
      const { ended, items } = await source.follow(stream.signal);
      if (!ended) {
        context.respond = false;
        stream.begin(items, (item) => source.frameOf(item));
        return;
      }
      context.status = 204;
    } catch (error) {
      stream.close();
      throw error;
    }
    stream.close();
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

class EventStream<T> implements Silent {
  readonly #res: ServerResponse;
  readonly #ports: Ports;
  readonly #route: LogFacts;
  readonly #gone = new AbortController();
  /** As its signal says, which takes long to say it. */
  #isGone = false;
  /** Aborts when the stream is to end, whatever was to come: its token counts no more. */
  readonly #ended: AbortSignal | null;
  #items: AsyncIterator<T> | null = null;
  #frameOf: (item: T) => Frame | null = () => null;
  /** Nothing is asked for until the socket takes more. */
  #isPaused = false;

  constructor(context: Context, ports: Ports, ended: AbortSignal | null) {
    const { req, res } = context;
    this.#res = res;
    this.#ports = ports;
    this.#route = routeOf(context);
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
    this.#ports.keepalives.forget(this);
    this.#isGone = true;
    this.#gone.abort();
    // What ends the items is heard by asking for the next.
    if (this.#isPaused) this.#ask();
  };

  begin(items: AsyncIterable<T>, frameOf: (item: T) => Frame | null): void {
    this.#items = items[Symbol.asyncIterator]();
    this.#frameOf = frameOf;
    if (this.#isGone) {
      // Nobody else answers any more: who is still there, with a token that ended just now, would wait for ever.
      this.#res.destroy();
    } else {
      this.#res.writeHead(200, HEAD);
      // Without this the head would wait for the first event, and the reader not know that it is connected.
      this.#res.flushHeaders();
      this.#ports.keepalives.sent(this);
    }
    this.#ask();
  }

  readonly #ask = (): void => {
    this.#isPaused = false;
    this.#items?.next().then(this.#take, this.#fail);
  };

  readonly #take = (result: IteratorResult<T>): void => {
    if (result.done === true) {
      this.close();
      return;
    }
    try {
      if (this.#isGone) {
        void this.#items?.return?.();
        this.close();
        return;
      }
      const frame = this.#frameOf(result.value);
      if (frame !== null) this.#send(textOf(frame));
    } catch (error) {
      void this.#items?.return?.();
      this.#fail(error);
      return;
    }
    if (!this.#res.writableNeedDrain || this.#isGone) {
      this.#ask();
      return;
    }
    this.#isPaused = true;
    this.#res.once('drain', this.#ask);
  };

  readonly #fail = (error: unknown): void => {
    this.#ports.log.warn('stream_failed', { ...this.#route, trace: traceOf(error) });
    this.close();
  };

  #send(text: string): void {
    this.#res.write(text);
    this.#ports.keepalives.sent(this);
  }

  /** A reader that takes nothing would have these pile up. */
  sayAlive(): void {
    if (!this.#res.writableNeedDrain) this.#res.write(KEEPALIVE);
  }

  close(): void {
    this.#isPaused = false;
    this.#abort();
    this.#res.off('close', this.#abort);
    this.#res.off('drain', this.#ask);
    this.#ended?.removeEventListener('abort', this.#abort);
    if (!this.#res.headersSent || this.#res.writableEnded) return;
    this.#res.end();
    if (this.#ended?.aborted !== true || this.#res.closed) return;
    const cancel = this.#ports.clock.after(LAST_BYTES_MS, () => this.#res.destroy());
    this.#res.once('close', cancel);
  }
}
