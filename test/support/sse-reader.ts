/** Reads an event stream as it comes off the socket, with each frame's own id and name, and can stop reading. */
import { request, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { Arrivals } from './arrivals.ts';

export interface Frame {
  /** Absent where this very frame has no `id:` line. */
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

export interface ReaderOptions {
  readonly lastEventId?: string;
  /** Reads nothing until `resume`, so that the socket fills up. */
  readonly stalled?: boolean;
  /** Called with each frame as it is read. */
  readonly onFrame?: (frame: Frame) => void;
}

export class SseReader {
  readonly #response: IncomingMessage;
  readonly #frames = new Arrivals<Frame>('frames');
  readonly comments = new Arrivals<string>('comments');
  /** Resolves when the server has ended the stream, or the connection is gone. */
  readonly ended: Promise<void>;

  private constructor(response: IncomingMessage, onFrame: ReaderOptions['onFrame']) {
    this.#response = response;
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        const frame = { ...(id === undefined ? {} : { id }), ...(event === undefined ? {} : { event }), data };
        this.#frames.add(frame);
        onFrame?.(frame);
      },
      onComment: (comment) => this.comments.add(comment),
    });
    this.ended = new Promise((resolve) => {
      response.once('close', resolve);
    });
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('data', (text: string) => parser.feed(text));
  }

  static async open(url: string, options: ReaderOptions = {}): Promise<SseReader> {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (options.lastEventId !== undefined) headers['last-event-id'] = options.lastEventId;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // A connection of its own: a shared one would be kept, and be closed by somebody else.
      request(url, { headers, agent: false }, resolve).once('error', reject).end();
    });
    const reader = new SseReader(response, options.onFrame);
    if (options.stalled === true) response.pause();
    return reader;
  }

  get status(): number {
    return this.#response.statusCode ?? 0;
  }

  get headers(): Readonly<Record<string, string | string[] | undefined>> {
    return this.#response.headers;
  }

  get frames(): readonly Frame[] {
    return this.#frames.all;
  }

  /** The events that are in the journal: those with an id. */
  get recorded(): readonly unknown[] {
    return this.frames.filter(({ id }) => id !== undefined).map(({ data }): unknown => JSON.parse(data));
  }

  async next(isWanted: (frame: Frame) => boolean, wanted: string, waitMs?: number): Promise<Frame> {
    return this.#frames.first(isWanted, wanted, waitMs);
  }

  async nextOf(event: string, waitMs?: number): Promise<Frame> {
    return this.next((frame) => frame.event === event, event, waitMs);
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#response.destroy();
  }
}
