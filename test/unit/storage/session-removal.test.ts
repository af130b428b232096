/** How a session is taken away, whole or not at all. */
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, frameOf, ID, textsOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { callsOf, failAll, failNext, heal, leaveSession, ROOT, startAfterPowerCut, startStore } from '../../support/stores.ts';

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
});

describe('a removal', () => {
  it('S-201: is one rename, flushed in both directories, before it answers', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);

    const calls = await callsOf(disk, () => store.remove(ID));

    const [rename, ...rest] = calls;
    expect(rename).toBe(`rename sessions/${ID}`);
    expect(rest.slice(0, 2)).toEqual(['syncDirectory sessions', 'syncDirectory trash']);
    await store.close();
    expect(disk.files(`${ROOT}/trash`)).toEqual([]);
    expect(await (await startAfterPowerCut(disk)).store.list()).toEqual([]);
  });

  it('S-201: leaves all of a session or nothing when it dies at any call, and the power fails too', async () => {
    const all = ['a', 'b'.repeat(2_000), 'c'];
    let calls = 0;
    for (let dead = true; dead; calls += 1) {
      for (const dies of ['before', 'after'] as const) {
        for (const kept of [0, 1]) {
          disk = new SimulatedDisk();
          await leaveSession(disk, all);
          const { process, store } = await startStore(disk);
          const first = disk.callCount;
          disk.plan = ({ number }) => (number === first + calls + 1 ? { dies } : undefined);
          await Promise.race([store.remove(ID).then(() => store.close()), process.died]);
          dead = process.hasEnded;
          disk.cutPower((count) => Math.min(kept, count - 1));
          heal(disk);

          const found = (await startStore(disk)).store;
          if ((await found.list()).length === 0) expect(await codeOf(found.open(ID))).toBe('session_not_found');
          else expect(await textsOf(await found.open(ID))).toEqual(all);
        }
      }
    }
    expect(calls).toBeGreaterThan(4);
  });

  it('is not believed before its flush: what a power cut could bring back is neither there nor gone', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);
    failAll(disk, ['syncDirectory'], 'EIO');
    expect(await codeOf(store.remove(ID))).toBe('journal_unavailable');
    expect(await codeOf(store.open(ID))).toBe('journal_unavailable');

    heal(disk);
    expect(await codeOf(store.open(ID))).toBe('session_not_found');
    disk.cutPower(() => 0);
    expect(await codeOf((await startStore(disk)).store.open(ID))).toBe('session_not_found');
  });

  it('leaves the session as it was where the rename fails', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);
    failNext(disk, 'rename', 'EIO');

    expect(await codeOf(store.remove(ID))).toBe('journal_unavailable');

    expect(await textsOf(await store.open(ID))).toEqual(['a']);
  });

  it('answers before the trash is empty; what cannot be removed is logged, and tried again at the next start', async () => {
    await leaveSession(disk, ['a']);
    const { store, logged } = await startStore(disk);
    failAll(disk, ['remove'], 'EIO');
    await store.remove(ID);
    await store.close();
    expect(logged).toMatchObject([{ event: 'trash_not_removed', file: `trash/${ID}.0` }]);
    expect(disk.files(`${ROOT}/trash`)).toHaveLength(1);

    heal(disk);
    const next = await startStore(disk);
    await next.store.close();
    expect(disk.files(`${ROOT}/trash`)).toEqual([]);
  });

  it('finds room in the trash beside what an earlier removal left there under the same name', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);
    failAll(disk, ['remove'], 'EIO');
    await store.remove(ID);
    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'anew'));
    await journal.release();

    await store.remove(ID);

    expect(await store.list()).toEqual([]);
  });
});
