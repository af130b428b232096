/**
 * Follows a session's events for as long as it has any, over as many connections as it takes.
 *
 *   F1. A new connection begins after the last event that was handed on and has a cursor: none is missed or repeated.
 *   F2. A connection that brings no byte for a while is given up for another.
 *   F3. It ends when the session has no more to say, and throws only what another try would meet again.
 */
import type { EventSourceMessage } from 'eventsource-parser';
import { connect, isPassing, messagesIn, pauseMs } from './event-connection.ts';
import type { Transport } from './transport.ts';

const PAUSE_MS_MAX = 15_000;

export interface StreamSource<E> {
  /** The address of what comes after a cursor. */
  pathAfter(cursor: string): string;
  eventIn(message: EventSourceMessage): E;
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
        const body = await connect(transport, connection, { path: source.pathAfter(cursor) });
        if (body === null) return;
        for await (const message of messagesIn(transport, connection, body)) {
          failures = 0;
          yield source.eventIn(message);
          if (message.id !== undefined) cursor = message.id;
        }
        // It ended by itself: the next answer says whether there is more.
        if (failures > 0) await transport.pause(following, pauseMs(transport.ports, failures, PAUSE_MS_MAX));
      } catch (error) {
        if (following.signal.aborted) throw following.signal.reason;
        if (!isPassing(error)) throw error;
        await transport.pause(following, pauseMs(transport.ports, failures, PAUSE_MS_MAX, error));
      } finally {
        connection.release();
      }
      failures += 1;
    }
  } finally {
    following.release();
  }
}
