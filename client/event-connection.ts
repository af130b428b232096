/**
 * One connection that brings a stream of events.
 *
 *   C1. A connection that brings no byte for a while is dead, whatever the sockets say: it is given up.
 *   C2. Nothing is read ahead of its consumer, and while that one is at work nothing counts as silence.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { BrainConnectionError, BrainError } from './errors.ts';
import type { OpenRequest } from './open-request.ts';
import type { ClientPorts } from './ports.ts';
import { mayPass, type Call, type Transport } from './transport.ts';
import { afterWallTime } from './wall-timer.ts';

// Brain says something every 15 seconds: three of these in a row went missing.
export const SILENCE_MS = 50_000;
const PAUSE_FIRST_MS = 250;

type Bytes = ReadableStream<Uint8Array>;

/** Null: there is nothing more to come. */
export async function connect(transport: Transport, connection: OpenRequest, call: Pick<Call, 'path' | 'token'>): Promise<Bytes | null> {
  const response = await withinSilence(transport, connection, transport.open(connection, { method: 'GET', ...call, headers: { Accept: 'text/event-stream' } }));
  if (response.status === 204 || response.body === null) return null;
  if (response.headers.get('Content-Type')?.startsWith('text/event-stream') === true) return response.body;
  throw new BrainConnectionError('what answered does not speak as Brain does', { status: response.status });
}

export async function* messagesIn(transport: Transport, connection: OpenRequest, body: Bytes): AsyncGenerator<EventSourceMessage, void, void> {
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

/** The data of a frame. */
export function jsonIn(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (error) {
    throw new BrainConnectionError('an event is no JSON: what answers does not speak as Brain does', { status: 200, cause: error });
  }
}

/** Whether another connection may do better. */
export function isPassing(error: unknown): boolean {
  return error instanceof BrainError ? error.retryable : mayPass(error);
}

/** Longer with each failure, and not the same for all who were cut off at once. As long as the server asks for at least. */
export function pauseMs(ports: ClientPorts, failures: number, msMax: number, error?: unknown): number {
  const ms = Math.min(msMax, PAUSE_FIRST_MS * 2 ** Math.min(failures, 10)) * (0.5 + ports.random() / 2);
  return Math.max(ms, error instanceof BrainError ? (error.retryAfterMs ?? 0) : 0);
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
