/** What an append that failed leaves of its session. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../storage/journal.ts';
import { codeOf, frameOf, ID, OTHER_ID, textsOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import {
  failNext,
  heal,
  journalPath,
  ROOT,
  segmentFile,
  segmentPath,
  startAfterPowerCut,
  startStore,
  type RunningStore,
} from '../../support/stores.ts';

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
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
    expect(await codeOf(textsOf(journal))).toBe('journal_unavailable');
    expect(await codeOf(journal.checksumAt(1))).toBe('journal_unavailable');
    await journal.release();

    const again = await running.store.open(ID);
    expect(await textsOf(again)).toEqual(['a']);
    expect(running.logged).toMatchObject([{ event: 'journal_cut_back', session_id: ID, file: segmentFile(1), offset: 69 }]);
    await again.append(frameOf(2, 1, 'b'));
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(['a', 'b']);
  });

  it('is cut back for good: a power cut brings nothing back of what failed to flush', async () => {
    failNext(disk, 'sync', 'EIO');
    await codeOf(journal.append(frameOf(2, 1, 'lost')));
    await journal.release();
    await running.store.open(ID);

    // All that the device may have taken, it has.
    disk.cutPower((count) => count - 1);

    expect(await textsOf(await (await startStore(disk)).store.open(ID))).toEqual(['a']);
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
    expect(await textsOf(again)).toEqual(['a']);
    disk.cutPower((count) => (count > 2 ? 1 : count - 1));
    expect(disk.contents(segmentPath(1))?.length).toBe(69);
    const found = (await startStore(disk)).store;
    expect(await textsOf(await found.open(ID))).toEqual(['a']);
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
    expect((await (await startAfterPowerCut(disk)).store.open(ID)).lastSequence).toBe(3);
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
    expect(await textsOf(again)).toEqual([]);
    await again.append(frameOf(1, 1, 'second'));
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(OTHER_ID))).toEqual(['second']);
  });

  it('says that the disk is full where it is, and goes on once there is room', async () => {
    disk.capacityBytes = usedBytes() + 700;
    expect(await codeOf(journal.append(frameOf(2, 1, 'x'.repeat(5_000))))).toBe('disk_full');
    await journal.release();

    const again = await running.store.open(ID);
    expect(await textsOf(again)).toEqual(['a']);
    await again.append(frameOf(2, 1, 'fits'));
    disk.capacityBytes = Infinity;
    await again.append(frameOf(3, 1, 'y'.repeat(5_000)));
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(['a', 'fits', 'y'.repeat(5_000)]);

    function usedBytes(): number {
      return disk.files(ROOT).reduce((total, path) => total + (disk.contents(path)?.length ?? 0), 0);
    }
  });

  it('stays alone with it', async () => {
    const other = await running.store.create(OTHER_ID);
    failNext(disk, 'sync', 'EIO');
    await codeOf(journal.append(frameOf(2, 1, 'lost')));

    await other.append(frameOf(1, 1, 'fine'));

    expect(await textsOf(other)).toEqual(['fine']);
  });

  it('can be removed as it is', async () => {
    failNext(disk, 'sync', 'EIO');
    await codeOf(journal.append(frameOf(2, 1, 'lost')));
    await journal.release();

    await running.store.remove(ID);

    expect(await codeOf(running.store.open(ID))).toBe('session_not_found');
    const again = await running.store.create(ID);
    await again.append(frameOf(1, 1, 'anew'));
    expect(await textsOf(again)).toEqual(['anew']);
  });
});
