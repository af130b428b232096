/** Journals whose last bytes a crash took: each goes on from its last whole commit, and later turns are kept. */
import { open, readdir, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import type { BrainApi } from '../support/brain-api.ts';
import { faultsOf } from '../support/history.ts';
import { ServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
beforeEach(async () => {
  server = await ServerProcess.start();
});
afterEach(async () => server.dispose());

describe('a journal that lost the last bytes of its file', () => {
  it('S-018, S-173, S-174: keeps a prefix, is repaired on its own, and keeps every later turn', async () => {
    // More than the last commit is long, so that some cuts fall between two commits and some within the one before.
    const cuts = [...Array.from({ length: 32 }, (_, index) => index), ...Array.from({ length: 48 }, (_, index) => 40 + index * 23)];
    const sessions = await inParallel(cuts, 8, async (cut) => {
      const { session_id: id } = await server.api.create();
      await server.api.send(id, 'before the cut');
      return { id, cut, records: await server.api.journal(id) };
    });
    await server.kill();
    for (const { id, cut } of sessions) await cutOff(await lastSegment(id), cut);
    await server.start();

    for (const { id, cut, records } of sessions) {
      const found = await server.api.journal(id);
      const kept = found.filter((record, index) => JSON.stringify(record) === JSON.stringify(records[index])).length;
      expect(kept, `${cut} bytes cut`).toBeGreaterThan(0);
      if (cut === 0) expect(kept).toBe(records.length);
      else expect(kept, `${cut} bytes cut`).toBeLessThan(records.length);
      expect(faultsOf(found), `${cut} bytes cut`).toEqual([]);

      if (await isUsable(server.api, id)) await server.api.send(id, 'after the cut');
    }
    const histories = await Promise.all(sessions.map(async ({ id }) => server.api.journal(id)));
    await server.killAndStart();

    for (const [index, { id, cut }] of sessions.entries()) {
      expect(await server.api.journal(id), `${cut} bytes cut`).toEqual(histories[index]);
    }
  });

  it('S-018: is believed rather than a checkpoint that covers more than is left of it', async () => {
    const { session_id: id } = await server.api.create();
    const long = 'a long story '.repeat(20_000);
    await server.api.send(id, long);
    const records = await server.api.journal(id);
    await server.stop();
    expect((await stat(path.join(server.dataDirectory, 'sessions', id, 'checkpoint'))).size).toBeGreaterThan(long.length);
    await cutOff(await lastSegment(id), 10);
    await server.start();

    const found = await server.api.journal(id);
    expect(found.slice(0, -2)).toEqual(records.slice(0, found.length - 2));
    expect(found.slice(-2)).toMatchObject([{ type: 'activation_failed' }, { type: 'turn_failed' }]);
    expect(await server.api.session(id)).toMatchObject({ status: 'idle', last_sequence: found.length });
    expect(await server.api.send(id, 'and then?')).toMatchObject({ outcome: 'ended' });
    expect(faultsOf(await server.api.journal(id))).toEqual([]);
  });

  it('S-171: is refused where its bytes are there and wrong, and takes no other session with it', async () => {
    const { session_id: damaged } = await server.api.create();
    const { session_id: healthy } = await server.api.create();
    await server.api.send(damaged, 'hello');
    await server.kill();
    await flipBitInTheMiddle(await lastSegment(damaged));
    await server.start();

    expect(await server.api.request('GET', `/v1/sessions/${damaged}/events`)).toMatchObject({
      status: 500,
      body: { error: { code: 'journal_corrupt', details: { file: expect.stringContaining(damaged) } } },
    });
    const { sessions } = await server.api.sessions();
    expect(sessions.find(({ session_id }) => session_id === damaged)).toMatchObject({ damaged: true });
    expect(await server.api.send(healthy, 'hello')).toMatchObject({ outcome: 'ended' });
  });

  async function lastSegment(id: string): Promise<string> {
    const folder = path.join(server.dataDirectory, 'sessions', id, 'journal');
    const name = (await readdir(folder)).toSorted().at(-1);
    if (name === undefined) throw new Error(`${id} has no segment`);
    return path.join(folder, name);
  }
});

async function cutOff(file: string, bytes: number): Promise<void> {
  const { size } = await stat(file);
  await truncate(file, size - bytes);
}

async function flipBitInTheMiddle(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    const byte = Buffer.alloc(1);
    const at = Math.floor(size / 2);
    await handle.read(byte, 0, 1, at);
    byte.writeUInt8(byte.readUInt8(0) ^ 1, 0);
    await handle.write(byte, 0, 1, at);
  } finally {
    await handle.close();
  }
}

/** A creation that lost its end has failed for good. */
async function isUsable(api: BrainApi, id: string): Promise<boolean> {
  return (await api.session(id)).status === 'idle';
}
