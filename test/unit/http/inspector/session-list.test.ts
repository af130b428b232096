/** How often the page asks for sessions, and what it sees of them in between. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Server } from '../../../../http/inspector/data/server.ts';
import { SessionList } from '../../../../http/inspector/data/session-list.ts';

/** What a session costs a server in a list: a quarter of a millisecond. */
const MS_PER_SESSION = 0.25;

let queues: Map<string, number>;
let workMs = 0;
let list: SessionList;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', serverOf);
  workMs = 0;
});

afterEach(() => {
  list.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('the list of sessions', () => {
  it('keeps a server with ten thousand sessions busy for less than a fifteenth of the time', async () => {
    await open(10_000);
    workMs = 0;
    await vi.advanceTimersByTimeAsync(600_000);

    expect(workMs).toBeGreaterThan(600_000 / 50);
    expect(workMs).toBeLessThan(600_000 / 15);
  });

  it('of ten thousand shows what is in sight, and what is new, within three seconds, and the others in their turn', async () => {
    await open(10_000);
    for (const number of [5_000, 5_010, 20]) queues.set(idOf(number), 7);
    queues.set(idOf(10_001), 0);
    queues.delete(idOf(5_005));
    await vi.advanceTimersByTimeAsync(3_000);

    expect([5_000, 5_010, 20].map(queueShown)).toEqual([7, 7, 0]);
    expect(list.view().sessions.map(({ session_id }) => session_id)).toEqual([...queues.keys()].toSorted().toReversed());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(queueShown(20)).toBe(7);
  });

  it('of a few shows all within three seconds', async () => {
    await open(30);
    queues.set(idOf(1), 7);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(queueShown(1)).toBe(7);
  });
});

/** Reads all of them once; some in the middle are in sight. */
async function open(count: number): Promise<void> {
  queues = new Map(Array.from({ length: count }, (_, index) => [idOf(index + 1), 0]));
  list = new SessionList(new Server(null), { status: null, metadata: [] });
  await vi.advanceTimersByTimeAsync(count * MS_PER_SESSION + 100);
  expect(list.view()).toMatchObject({ isComplete: true, failure: null });
  list.look({ newest: idOf(5_020), oldest: idOf(5_000) });
}

async function serverOf(path: string): Promise<Response> {
  const { searchParams } = new URL(path, 'http://localhost');
  const after = searchParams.get('after') ?? '';
  const limit = Number(searchParams.get('limit'));
  const ids = [...queues.keys()].toSorted().filter((id) => id > after);
  const sessions = ids.slice(0, limit).map((id) => ({ session_id: id, queue_length: queues.get(id) }));
  const costMs = sessions.length * MS_PER_SESSION;
  workMs += costMs;
  await new Promise((resolve) => setTimeout(resolve, costMs));
  return Response.json({ sessions, next_cursor: ids.length > limit ? sessions.at(-1)?.session_id : null });
}

const idOf = (number: number): string => String(number).padStart(8, '0');

function queueShown(number: number): number | undefined {
  const session = list.view().sessions.find(({ session_id }) => session_id === idOf(number));
  return session !== undefined && 'queue_length' in session ? session.queue_length : undefined;
}
