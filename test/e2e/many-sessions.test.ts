/** What many sessions at rest cost: memory, and the time to start. */
import { describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { megabytes } from '../support/journal-size.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runsLongForms, runsSlowTests } from '../support/slow-tests.ts';

// What shares the disk's flushes costs less.
const AT_ONCE = 64;

describe('many sessions at rest', () => {
  it('S-015, S-127, S-128: take little memory, and little time when the server starts', { timeout: 600_000 }, async () => {
    const count = runsSlowTests ? 10_000 : 1000;
    const server = await ServerProcess.start();
    try {
      // Busy enough for the heap to have its slack before memory is measured.
      const warmUp = await inParallel(Array.from({ length: count / 5 }), AT_ONCE, async () => sessionAtRest(server, true));
      const floor = await server.residentBytes();
      const ids = await inParallel(Array.from({ length: count - warmUp.length }), AT_ONCE, async (_, index) =>
        sessionAtRest(server, runsLongForms || index % 10 === 0),
      );
      const grown = (await server.residentBytes()) - floor;
      expect(await server.stop()).toBe(0);
      await server.start();
      const { readyMs } = server;
      const memoryAtStart = await server.residentBytes();
      console.log(
        `${count} sessions: grown by ${megabytes(grown)}; started in ${Math.round(readyMs)} ms with ${megabytes(memoryAtStart)}`,
      );

      // A residue of a few kilobytes each is the catalog; an actor and its history would be tens. A few sessions are less
      // than what a heap varies by.
      if (runsSlowTests) expect(grown).toBeLessThan(40e6 + count * 6_000);
      // About a second, on a machine that does nothing else.
      expect(readyMs).toBeLessThan(5000);
      for (const id of [ids.at(0), ids.at(-1)]) {
        if (id === undefined) throw new Error('no session was made');
        expect(await server.api.session(id)).toMatchObject({ status: 'idle', resident: false });
        expect(await server.api.send(id, 'still there?')).toMatchObject({ outcome: 'ended' });
      }
      expect(await listedCount(server)).toBe(count);
    } finally {
      await server.dispose();
    }
  });
});

async function sessionAtRest(server: ServerProcess, hasTurn: boolean): Promise<string> {
  const { session_id: id } = await server.api.create();
  if (hasTurn) await server.api.send(id, 'hello');
  return id;
}

async function listedCount(server: ServerProcess): Promise<number> {
  let count = 0;
  for (let after: string | null = ''; after !== null; ) {
    const page = await server.api.sessions(`?limit=1000${after === '' ? '' : `&after=${after}`}`);
    count += page.sessions.length;
    after = page.next_cursor;
  }
  return count;
}
