import { beforeEach, describe, expect, it } from 'vitest';
import { encodeFrame, SECTOR_BYTES } from '../../../storage/frame.ts';
import type { Journal } from '../../../storage/journal.ts';
import { codeOf, collect, frameOf, ID, OTHER_ID, textOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import {
  callsOf,
  failAll,
  failNext,
  heal,
  journalPath,
  leaveSession,
  ROOT,
  segmentFile,
  segmentPath,
  startStore,
  type RunningStore,
} from '../../support/stores.ts';

/** Longer than what a file system allocates at once. */
const LONG = 'x'.repeat(10_000);

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
});

async function texts(journal: Journal): Promise<readonly string[]> {
  return (await collect(journal.read(0))).map(({ payload }) => textOf(payload));
}

/** After a power cut that keeps nothing but what was flushed. */
async function afterPowerCut(): Promise<RunningStore> {
  disk.cutPower(() => 0);
  heal(disk);
  return startStore(disk);
}

describe('the first opening of a session by a process', () => {
  it('writes the last frame again and flushes file and names, before anything is shown; the next one does not', async () => {
    await leaveSession(disk, ['a', 'b']);
    const { store } = await startStore(disk);

    const first = await callsOf(disk, async () => (await store.open(ID)).release());
    const next = await callsOf(disk, async () => (await store.open(ID)).release());

    expect(first.filter((call) => /^(write|sync|syncDirectory) /.test(call))).toEqual([
      `write ${segmentFile(1)}`,
      `sync ${segmentFile(1)}`,
      `syncDirectory sessions/${ID}/journal`,
      `syncDirectory sessions/${ID}`,
    ]);
    expect(next).toEqual([
      `list sessions/${ID}/journal`,
      `open ${segmentFile(1)}`,
      `size ${segmentFile(1)}`,
      `close ${segmentFile(1)}`,
    ]);
  });

  it('makes what it shows durable, also where the process before saw its flush fail, and died before it cut', async () => {
    const { process, store } = await startStore(disk);
    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));
    failAll(disk, ['sync', 'truncate'], 'EIO');
    expect(await codeOf(journal.append(frameOf(2, 1, 'b')))).toBe('journal_unavailable');
    heal(disk);
    disk.kill(process);

    const shown = await texts(await (await startStore(disk)).store.open(ID));

    expect(shown).toEqual(['a', 'b']);
    expect(await texts(await (await afterPowerCut()).store.open(ID))).toEqual(shown);
  });

  it('finds nothing of an append whose flush failed: it is out of the file before the append rejects', async () => {
    disk.losesRewrites = true;
    const { process, store } = await startStore(disk);
    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(journal.append(frameOf(2, 1, LONG)))).toBe('journal_unavailable');
    disk.kill(process);

    const again = await (await startStore(disk)).store.open(ID);
    expect(await texts(again)).toEqual(['a']);
    await again.append(frameOf(2, 1, 'b'));
    expect(await texts(await (await afterPowerCut()).store.open(ID))).toEqual(['a', 'b']);
  });

  it.each([1, 2])('shows a frame whose flush failed %d times here only where it is durable, in a file that no flush failed for', async (failures) => {
    disk.losesRewrites = true;
    await leaveSession(disk, ['a']);
    // Written, and never flushed.
    const writer = await startStore(disk);
    const journal = await writer.store.open(ID);
    disk.plan = ({ kind }) => (kind === 'sync' ? { dies: 'before' } : undefined);
    void journal.append(frameOf(2, 1, LONG));
    await writer.process.died;
    heal(disk);

    const { store } = await startStore(disk);
    for (let count = 0; count < failures; count += 1) {
      failNext(disk, 'sync', 'EIO');
      expect(await codeOf(store.open(ID))).toBe('journal_unavailable');
    }
    heal(disk);
    const again = await store.open(ID);
    expect(await texts(again)).toEqual(['a', LONG]);
    await again.append(frameOf(3, 1, 'b'));
    expect(disk.files(journalPath())).toEqual([segmentPath(1)]);

    expect(await texts(await (await afterPowerCut()).store.open(ID))).toEqual(['a', LONG, 'b']);
  });

  it('shows nothing while it cannot flush', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);

    for (const kind of ['write', 'sync', 'syncDirectory'] as const) {
      failAll(disk, [kind], 'EIO');
      expect(await codeOf(store.open(ID))).toBe('journal_unavailable');
    }

    heal(disk);
    expect(await texts(await store.open(ID))).toEqual(['a']);
  });

  it('S-173: cuts an incomplete final write off, keeps it beside, says so, and appends where it was', async () => {
    await leaveSession(disk, ['a', 'b']);
    const torn = encodeFrame(frameOf(3, 1, 'never finished')).subarray(0, 35);
    const whole = disk.contents(segmentPath(1)) ?? new Uint8Array();
    disk.damage(segmentPath(1), (bytes) => Buffer.concat([bytes, torn]));
    const { store, logged } = await startStore(disk);

    const journal = await store.open(ID);

    expect(await texts(journal)).toEqual(['a', 'b']);
    expect(disk.contents(segmentPath(1))).toEqual(whole);
    expect(Buffer.from(disk.contents(`${segmentPath(1)}.${whole.length}.broken`) ?? []).equals(torn)).toBe(true);
    const facts = { session_id: ID, file: segmentFile(1), offset: whole.length, bytes: torn.length, kept: true };
    expect(logged).toEqual([{ event: 'journal_cut', ...facts }]);
    await journal.append(frameOf(3, 1, 'c'));
    expect(await texts(await (await afterPowerCut()).store.open(ID))).toEqual(['a', 'b', 'c']);
  });

  it('makes a cut durable, also where the process before cut and saw its flush fail', async () => {
    await leaveSession(disk, ['a']);
    const whole = disk.contents(segmentPath(1))?.length;
    disk.damage(segmentPath(1), (bytes) => Buffer.concat([bytes, Buffer.alloc(50)]));
    const { process, store } = await startStore(disk);
    disk.plan = ({ kind, path }) => (kind === 'sync' && path === segmentPath(1) ? { fails: 'EIO' } : undefined);
    expect(await codeOf(store.open(ID))).toBe('journal_unavailable');
    disk.kill(process);
    heal(disk);

    await (await startStore(disk)).store.open(ID);

    disk.cutPower(() => 0);
    expect(disk.contents(segmentPath(1))?.length).toBe(whole);
  });

  it('cuts also where there is no room for the copy', async () => {
    await leaveSession(disk, ['a']);
    disk.damage(segmentPath(1), (bytes) => Buffer.concat([bytes, Buffer.alloc(3 * SECTOR_BYTES)]));
    const { store, logged } = await startStore(disk);
    disk.capacityBytes = 0;

    expect(await texts(await store.open(ID))).toEqual(['a']);
    expect(logged).toMatchObject([{ event: 'journal_cut', kept: false }]);
    expect(disk.files(journalPath())).toEqual([segmentPath(1)]);
  });

  it('takes a last segment away that has no whole frame, and goes on in the one before', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    for (const kept of [0, 10, 40, 60]) {
      disk = new SimulatedDisk();
      await leaveSession(disk, [large, large]);
      disk.damage(segmentPath(2), (bytes) => bytes.subarray(0, kept));

      const { store } = await startStore(disk);
      const journal = await store.open(ID);

      expect(journal.lastSequence).toBe(1);
      await journal.append(frameOf(2, 1, 'b'));
      expect((await texts(await (await afterPowerCut()).store.open(ID))).map((text) => text.length)).toEqual([large.length, 1]);
    }
  });

  it('S-172: takes nothing away where the segment before the torn one is not whole, or is not the one before', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    await leaveSession(disk, [large, large, large]);
    disk.damage(segmentPath(3), (bytes) => bytes.subarray(0, 5));
    disk.damage(segmentPath(2), (bytes) => bytes.subarray(0, bytes.length - 1));
    const { store } = await startStore(disk);

    expect(await codeOf(store.open(ID))).toBe('journal_corrupt');
    disk.damage(segmentPath(2), (bytes) => Buffer.concat([bytes, Buffer.from('x'), Buffer.alloc(50)]));
    expect(await codeOf(store.open(ID))).toBe('journal_corrupt');
    await disk.boot().remove(segmentPath(2));
    expect(await codeOf(store.open(ID))).toBe('journal_corrupt');
    expect(disk.files(journalPath())).toEqual([segmentPath(1), segmentPath(3)]);
  });

  it('S-171: refuses a damaged last frame with its file and offset, changes nothing, and harms no other session', async () => {
    await leaveSession(disk, ['a', 'b']);
    await leaveSession(disk, ['c'], OTHER_ID);
    const damaged = (bytes: Uint8Array): Uint8Array => {
      bytes[bytes.length - 1] = 'x'.charCodeAt(0);
      return bytes;
    };
    disk.damage(segmentPath(1), damaged);
    const before = disk.contents(segmentPath(1));
    const { store } = await startStore(disk);

    const failure = await store.open(ID).catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: 'journal_corrupt', file: segmentFile(1), offset: 69 });
    expect(disk.contents(segmentPath(1))).toEqual(before);
    expect(await store.list()).toEqual([ID, OTHER_ID]);
    expect(await texts(await store.open(OTHER_ID))).toEqual(['c']);
  });

  it('answers that there is no session, and clears up, where no first frame is whole', async () => {
    const full = await lengthOfOneFrame();
    for (const length of [0, 1, 39, 40, 41, 60, full - 1]) {
      disk = new SimulatedDisk();
      await leaveSession(disk, ['the first']);
      disk.damage(segmentPath(1), (bytes) => bytes.subarray(0, length));
      const { store, logged } = await startStore(disk);

      expect(await codeOf(store.open(ID))).toBe('session_not_found');

      expect(await store.list()).toEqual([]);
      expect(logged).toMatchObject([{ event: 'session_discarded', session_id: ID }]);
      await store.close();
      expect(disk.files(`${ROOT}/trash`)).toEqual([]);
    }

    async function lengthOfOneFrame(): Promise<number> {
      await leaveSession(disk, ['the first']);
      return disk.contents(segmentPath(1))?.length ?? 0;
    }
  });

  it('does nothing for an id that nobody ever had', async () => {
    const { store } = await startStore(disk);

    const calls = await callsOf(disk, () => codeOf(store.open(ID)));

    expect(calls.every((call) => call.startsWith('list '))).toBe(true);
  });
});

describe('a session whose append failed', () => {
  let running: RunningStore;
  let journal: Journal;

  beforeEach(async () => {
    running = await startStore(disk);
    journal = await running.store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));
  });

  it('acknowledges and shows nothing any more until it is opened again, and is then as before the append', async () => {
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(journal.append(frameOf(2, 1, 'lost')))).toBe('journal_unavailable');

    expect(await codeOf(journal.append(frameOf(2, 1, 'late')))).toBe('journal_unavailable');
    expect(await codeOf(texts(journal))).toBe('journal_unavailable');
    expect(await codeOf(journal.checksumAt(1))).toBe('journal_unavailable');
    await journal.release();

    const again = await running.store.open(ID);
    expect(await texts(again)).toEqual(['a']);
    expect(running.logged).toMatchObject([{ event: 'journal_cut_back', session_id: ID, file: segmentFile(1), offset: 69 }]);
    await again.append(frameOf(2, 1, 'b'));
    expect(await texts(await (await afterPowerCut()).store.open(ID))).toEqual(['a', 'b']);
  });

  it('is cut back for good: a power cut brings nothing back of what failed to flush', async () => {
    failNext(disk, 'sync', 'EIO');
    await codeOf(journal.append(frameOf(2, 1, 'lost')));
    await journal.release();
    await running.store.open(ID);

    // All that the device may have taken, it has.
    disk.cutPower((count) => count - 1);

    expect(await texts(await (await startStore(disk)).store.open(ID))).toEqual(['a']);
  });

  it('is not opened until the cut is durable, however often that is tried, also when the failed flush was the cut’s', async () => {
    failNext(disk, 'write', 'EIO', 20);
    await codeOf(journal.append(frameOf(2, 1, 'lost')));
    await journal.release();

    for (const kind of ['truncate', 'sync', 'syncDirectory', 'open', 'list'] as const) {
      failNext(disk, kind, 'EIO');
      expect(await codeOf(running.store.open(ID))).toBe('journal_unavailable');
    }
    heal(disk);
    const again = await running.store.open(ID);
    expect(await texts(again)).toEqual(['a']);
    disk.cutPower((count) => (count > 2 ? 1 : count - 1));
    expect(disk.contents(segmentPath(1))?.length).toBe(69);
    const found = (await startStore(disk)).store;
    expect(await texts(await found.open(ID))).toEqual(['a']);
  });

  it('loses a new segment that was not acknowledged, also when only its name was not flushed', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    await journal.append(frameOf(2, 1, large));
    for (const kind of ['open', 'write', 'sync', 'syncDirectory'] as const) {
      failNext(disk, kind, 'EIO');
      expect(await codeOf(journal.append(frameOf(3, 1, large)))).toBe('journal_unavailable');
      heal(disk);
      await journal.release();
      journal = await running.store.open(ID);
      expect([journal.lastSequence, disk.files(journalPath())]).toEqual([2, [segmentPath(1)]]);
    }
    await journal.append(frameOf(3, 1, large));
    expect((await (await afterPowerCut()).store.open(ID)).lastSequence).toBe(3);
  });

  it('never was, if it was the first', async () => {
    for (const kind of ['makeDirectory', 'open', 'write', 'sync', 'syncDirectory'] as const) {
      const other = await running.store.create(OTHER_ID);
      failNext(disk, kind, 'EIO');
      expect(await codeOf(other.append(frameOf(1, 1, 'lost')))).toBe('journal_unavailable');
      heal(disk);
      await other.release();

      expect(await running.store.list()).toEqual([ID]);
      expect(await codeOf(running.store.open(OTHER_ID))).toBe('session_not_found');
      expect(disk.files(`${ROOT}/sessions/${OTHER_ID}`)).toEqual([]);
    }
  });

  it('may be made anew at once, if it was the first', async () => {
    const other = await running.store.create(OTHER_ID);
    failNext(disk, 'sync', 'EIO');
    await codeOf(other.append(frameOf(1, 1, 'lost')));
    await other.release();

    const again = await running.store.create(OTHER_ID);
    expect(await texts(again)).toEqual([]);
    await again.append(frameOf(1, 1, 'second'));
    expect(await texts(await (await afterPowerCut()).store.open(OTHER_ID))).toEqual(['second']);
  });

  it('says that the disk is full where it is, and goes on once there is room', async () => {
    disk.capacityBytes = usedBytes() + 700;
    expect(await codeOf(journal.append(frameOf(2, 1, 'x'.repeat(5_000))))).toBe('disk_full');
    await journal.release();

    const again = await running.store.open(ID);
    expect(await texts(again)).toEqual(['a']);
    await again.append(frameOf(2, 1, 'fits'));
    disk.capacityBytes = Infinity;
    await again.append(frameOf(3, 1, 'y'.repeat(5_000)));
    expect(await texts(await (await afterPowerCut()).store.open(ID))).toEqual(['a', 'fits', 'y'.repeat(5_000)]);

    function usedBytes(): number {
      return disk.files(ROOT).reduce((total, path) => total + (disk.contents(path)?.length ?? 0), 0);
    }
  });

  it('stays alone with it', async () => {
    const other = await running.store.create(OTHER_ID);
    failNext(disk, 'sync', 'EIO');
    await codeOf(journal.append(frameOf(2, 1, 'lost')));

    await other.append(frameOf(1, 1, 'fine'));

    expect(await texts(other)).toEqual(['fine']);
  });

  it('can be removed as it is', async () => {
    failNext(disk, 'sync', 'EIO');
    await codeOf(journal.append(frameOf(2, 1, 'lost')));
    await journal.release();

    await running.store.remove(ID);

    expect(await codeOf(running.store.open(ID))).toBe('session_not_found');
    const again = await running.store.create(ID);
    await again.append(frameOf(1, 1, 'anew'));
    expect(await texts(again)).toEqual(['anew']);
  });
});

describe('a session that is being created', () => {
  it('leaves alone what was put into its directory for it', async () => {
    const { process, store } = await startStore(disk);
    const journal = await store.create(ID);
    await process.makeDirectory(`${ROOT}/sessions/${ID}`);
    await (await process.open(`${ROOT}/sessions/${ID}/credentials`, 'create')).close();

    await journal.append(frameOf(1, 1, 'a'));

    expect(disk.files(`${ROOT}/sessions/${ID}`)).toEqual([`${ROOT}/sessions/${ID}/credentials`, segmentPath(1)]);
  });

  it('takes the place of one that a crash left without a first frame, and only of its journal', async () => {
    await leaveSession(disk, ['the first']);
    disk.damage(segmentPath(1), (bytes) => bytes.subarray(0, 50));
    const { process, store } = await startStore(disk);
    await (await process.open(`${ROOT}/sessions/${ID}/credentials`, 'create')).close();

    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));

    expect(disk.files(`${ROOT}/sessions/${ID}`)).toEqual([`${ROOT}/sessions/${ID}/credentials`, segmentPath(1)]);
    expect(await texts(journal)).toEqual(['a']);
  });
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
    expect(await (await afterPowerCut()).store.list()).toEqual([]);
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
          else expect(await texts(await found.open(ID))).toEqual(all);
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

    expect(await texts(await store.open(ID))).toEqual(['a']);
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

describe('a store that is closed', () => {
  it('has released what was held, and given the directory up', async () => {
    const { store } = await startStore(disk);
    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));

    await store.close();

    expect(await codeOf(journal.append(frameOf(2, 1, 'b')))).toBe('journal_unavailable');
    expect(await codeOf(store.open(ID))).toBe('ERR_ASSERTION');
    expect(await texts(await (await startStore(disk)).store.open(ID))).toEqual(['a']);
  });

  it('keeps the lock until what had begun is over, and hands no journal out any more', async () => {
    const begun = [
      { begin: (store: RunningStore['store']) => codeOf(store.open(ID)), outcome: 'journal_unavailable' },
      { begin: (store: RunningStore['store']) => store.writeCheckpoint(ID, Buffer.from('x')), outcome: true },
      { begin: (store: RunningStore['store']) => codeOf(store.remove(ID)), outcome: 'none' },
    ];
    for (const { begin, outcome } of begun) {
      disk = new SimulatedDisk();
      await leaveSession(disk, ['a']);
      const { store } = await startStore(disk);
      let go: () => void = () => undefined;
      const start = new Promise<void>((resolve) => (go = resolve));
      disk.plan = ({ kind }) => (kind === 'read' || kind === 'rename' ? { start } : undefined);
      const answer = begin(store);
      let isClosed = false;
      const closing = store.close().then(() => (isClosed = true));
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
      expect(isClosed).toBe(false);

      go();

      expect(await answer).toBe(outcome);
      await closing;
      await (await startStore(disk)).store.close();
    }
  });
});
