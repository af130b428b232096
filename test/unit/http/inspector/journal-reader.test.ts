/** How the page reads a journal from a server that does not behave. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JournalReader, type JournalListener } from '../../../../http/inspector/data/journal-reader.ts';
import { Server } from '../../../../http/inspector/data/server.ts';

const MINUTE_MS = 60_000;

let streams = 0;
let event = '';

beforeEach(() => {
  streams = 0;
  event = '';
  vi.useFakeTimers();
  vi.stubGlobal('fetch', (path: string, { headers }: { readonly headers: Readonly<Record<string, string>> }) => Promise.resolve(answerTo(path, headers['Accept'])));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('a reader of a journal', () => {
  it('asks less and less for a stream that ends each time without having brought anything', async () => {
    await readFor(MINUTE_MS);
    expect(streams).toBeGreaterThan(5);
    expect(streams).toBeLessThan(15);
  });

  it('comes back at once after a stream that brought something', async () => {
    event = 'event: model_delta\ndata: {"started_sequence":1,"text":"x"}\n\n';
    await readFor(MINUTE_MS);
    expect(streams).toBeGreaterThan(100);
  });
});

async function readFor(ms: number): Promise<void> {
  const closed = new AbortController();
  const running = new JournalReader(new Server(null), 'id', NOBODY, closed.signal).run();
  await vi.advanceTimersByTimeAsync(ms);
  closed.abort();
  await running;
}

function answerTo(path: string, accept: string | undefined): Response {
  if (accept === 'text/event-stream') {
    streams += 1;
    return new Response(event);
  }
  return Response.json(path.includes('/journal') ? { records: [], next_cursor: 0 } : { last_sequence: 0 });
}

const nothing = (): void => undefined;
const NOBODY: JournalListener = { onReadOnly: nothing, onTail: nothing, onRecords: nothing, onDelta: nothing, onConnection: nothing };
