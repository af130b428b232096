/**
 * Follows a session's events for as long as it has any, over as many connections as it takes.
 *
 *   F1. A new connection begins after the last event that was handed on and has a cursor: none is missed or repeated.
 *   F2. A connection that brings no byte for a while is dead, whatever the sockets say: it is given up for another.
 *   F3. It ends when the session has no more to say, and throws only what another try would meet again.
 *   F4. Nothing is read ahead of its consumer, and while that one is at work nothing counts as silence.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { BrainConnectionError, BrainError } from './errors.ts';
import type { OpenRequest } from './open-request.ts';
import { mayPass, type Transport } from './transport.ts';
import { afterWallTime } from './wall-timer.ts';

// Brain says something every 15 seconds: three of these in a row went missing.
export const SILENCE_MS = 50_000;
const PAUSE_FIRST_MS = 250;
const PAUSE_MS_MAX = 15_000;

export interface StreamSource<E> {
  /** The address of what comes after a cursor. */
  pathAfter(cursor: string): string;
  eventIn(message: EventSourceMessage): E;
}

/** The data of a frame. */
export function jsonIn(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (error) {
    throw new BrainConnectionError('an event is no JSON: what answers does not speak as Brain does', { status: 200, cause: error });
  }
}

export async function* follow<E>(
  transport: Transport,
  source: StreamSource<E>,
  { after, signal }: { readonly after: string; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<E, void, void> {
  const following = transport.begin(signal);
  let cursor = after;
  let failures = 0;
  try {
    for (;;) {
      const connection = transport.begin(following.signal);
      try {
        const body = await connect(transport, connection, source.pathAfter(cursor));
        if (body === null) return;
        for await (const message of messagesIn(transport, connection, body)) {
          failures = 0;
          yield source.eventIn(message);
          if (message.id !== undefined) cursor = message.id;
        }
        // It ended by itself: the next answer says whether there is more.
        if (failures > 0) await transport.pause(following, pauseMs(transport, failures));
      } catch (error) {
        if (following.signal.aborted) throw following.signal.reason;
        if (!isPassing(error)) throw error;
        const askedMs = error instanceof BrainError ? (error.retryAfterMs ?? 0) : 0;
        await transport.pause(following, Math.max(askedMs, pauseMs(transport, failures)));
      } finally {
        connection.release();
      }
      failures += 1;
    }
  } finally {
    following.release();
  }
}

/** Null: there is nothing more to come. */
async function connect(transport: Transport, connection: OpenRequest, path: string): Promise<ReadableStream<Uint8Array> | null> {
  const response = await withinSilence(transport, connection, transport.open(connection, { method: 'GET', path, headers: { Accept: 'text/event-stream' } }));
  if (response.status === 204 || response.body === null) return null;
  if (response.headers.get('Content-Type')?.startsWith('text/event-stream') === true) return response.body;
  throw new BrainConnectionError('what answered does not speak as Brain does', { status: response.status });
}

async function* messagesIn(
  transport: Transport,
  connection: OpenRequest,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<EventSourceMessage, void, void> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void messages.push(message) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await withinSilence(transport, connection, read(connection, reader));
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    yield* messages.splice(0);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

async function read(connection: OpenRequest, reader: Reader): ReturnType<Reader['read']> {
  try {
    return await connection.race(reader.read());
  } catch (error) {
    if (connection.signal.aborted) throw connection.signal.reason;
    throw new BrainConnectionError('the connection was lost', { cause: error });
  }
}

async function withinSilence<T>({ ports: { clock } }: Transport, connection: OpenRequest, coming: Promise<T>): Promise<T> {
  const cancel = afterWallTime(clock, SILENCE_MS, () => {
    connection.stop(new BrainConnectionError(`nothing came for ${SILENCE_MS} ms`));
  });
  try {
    return await coming;
  } finally {
    cancel();
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof BrainError ? error.retryable : mayPass(error);
}

/** Longer with each failure, and not the same for all who were cut off at once. */
function pauseMs({ ports }: Transport, failures: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_FIRST_MS * 2 ** Math.min(failures, 10)) * (0.5 + ports.random() / 2);
}
