/** A session that a process opens for the first time: what it is shown, and what is mended before. */
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeFrame, SECTOR_BYTES } from '../../../storage/frame.ts';
import { codeOf, frameOf, ID, OTHER_ID, textsOf } from '../../support/frames.ts';
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
  startAfterPowerCut,
  startStore,
} from '../../support/stores.ts';

/** Longer than what a file system allocates at once. */
const LONG = 'x'.repeat(10_000);

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
});

describe('the first opening of a session by a process', () => {
  it('writes the last frame again and flushes file and names, before anything is shown; the next one does not', async () => {
    await leaveSession(disk, ['a', 'b']);
    const { store } = await startStore(disk);

    const first = await callsOf(disk, async () => (await store.open(ID)).release());
    const next = await callsOf(disk, async () => (await store.open(ID)).release());

    expect(first.filter((call) => /^(write|sync|syncDirectory) /.test(call))).toEqual([
      // Written through, and then what was cut before.
      `write ${segmentFile(1)}`,
      `sync ${segmentFile(1)}`,
      `sync ${segmentFile(1)}`,
      `syncDirectory sessions/${ID}/journal`,
      `syncDirectory sessions/${ID}`,
    ]);
    expect(next).toEqual([]);
  });

  it('makes what it shows durable, also where the process before saw its flush fail, and died before it cut', async () => {
    const { process, store } = await startStore(disk);
    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));
    failAll(disk, ['sync', 'truncate'], 'EIO');
    expect(await codeOf(journal.append(frameOf(2, 1, 'b')))).toBe('journal_unavailable');
    heal(disk);
    disk.kill(process);

    const shown = await textsOf(await (await startStore(disk)).store.open(ID));

    expect(shown).toEqual(['a', 'b']);
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(shown);
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
    expect(await textsOf(again)).toEqual(['a']);
    await again.append(frameOf(2, 1, 'b'));
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(['a', 'b']);
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
    expect(await textsOf(again)).toEqual(['a', LONG]);
    await again.append(frameOf(3, 1, 'b'));
    expect(disk.files(journalPath())).toEqual([segmentPath(1)]);

    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(['a', LONG, 'b']);
  });

  it('shows nothing while it cannot flush', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);

    for (const kind of ['write', 'sync', 'syncDirectory'] as const) {
      failAll(disk, [kind], 'EIO');
      expect(await codeOf(store.open(ID))).toBe('journal_unavailable');
    }

    heal(disk);
    expect(await textsOf(await store.open(ID))).toEqual(['a']);
  });

  it('S-173: cuts an incomplete final write off, keeps it beside, says so, and appends where it was', async () => {
    await leaveSession(disk, ['a', 'b']);
    const torn = encodeFrame(frameOf(3, 1, 'never finished')).subarray(0, 35);
    const whole = disk.contents(segmentPath(1)) ?? new Uint8Array();
    disk.damage(segmentPath(1), (bytes) => Buffer.concat([bytes, torn]));
    const { store, logged } = await startStore(disk);

    const journal = await store.open(ID);

    expect(await textsOf(journal)).toEqual(['a', 'b']);
    expect(disk.contents(segmentPath(1))).toEqual(whole);
    expect(Buffer.from(disk.contents(`${segmentPath(1)}.${whole.length}.broken`) ?? []).equals(torn)).toBe(true);
    const facts = { session_id: ID, file: segmentFile(1), offset: whole.length, bytes: torn.length, kept: true };
    expect(logged).toEqual([{ event: 'journal_cut', ...facts }]);
    await journal.append(frameOf(3, 1, 'c'));
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(['a', 'b', 'c']);
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

    expect(await textsOf(await store.open(ID))).toEqual(['a']);
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
      expect((await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).map((text) => text.length)).toEqual([large.length, 1]);
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
    expect(await textsOf(await store.open(OTHER_ID))).toEqual(['c']);
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
