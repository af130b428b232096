import { beforeEach, describe, expect, it } from 'vitest';
import { FRAME_HEADER_BYTES, SECTOR_BYTES, SEGMENT_HEADER_BYTES } from '../../../storage/frame.ts';
import type { Journal } from '../../../storage/journal.ts';
import { SEGMENT_BYTES_MAX } from '../../../storage/segment.ts';
import { codeOf, collect, frameOf, ID, OTHER_ID, textsOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import {
  callsOf,
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

const MEBIBYTE = 1024 * 1024;

let disk: SimulatedDisk;
let running: RunningStore;
let journal: Journal;

beforeEach(async () => {
  disk = new SimulatedDisk();
  running = await startStore(disk);
  journal = await running.store.create(ID);
});

async function texts(of = journal, after = 0): Promise<readonly string[]> {
  return textsOf(of, after);
}

/** Lets a write resolve only when the answer is called. */
function stall(kind: 'write' | 'sync' | 'read'): { readonly reached: Promise<void>; readonly go: () => void } {
  let go: () => void = () => undefined;
  let reach: () => void = () => undefined;
  const start = new Promise<void>((resolve) => (go = resolve));
  const reached = new Promise<void>((resolve) => (reach = resolve));
  disk.plan = (call) => {
    if (call.kind !== kind) return undefined;
    heal(disk);
    reach();
    return { start };
  };
  return { reached, go };
}

describe('an append', () => {
  it('S-168: has written and flushed its frame, and the way to a new file, when it resolves', async () => {
    const first = await callsOf(disk, () => journal.append(frameOf(1, 1, 'a')));
    const second = await callsOf(disk, () => journal.append(frameOf(2, 1, 'b')));

    const segment = segmentFile(1);
    expect(first).toEqual([
      `makeDirectory sessions/${ID}/journal`,
      `open ${segment}`,
      `write ${segment}`,
      // At once: the frame's own flush follows its write.
      `syncDirectory sessions/${ID}/journal`,
      `syncDirectory sessions/${ID}`,
      'syncDirectory sessions',
      `sync ${segment}`,
    ]);
    expect(second).toEqual([`write ${segment}`, `sync ${segment}`]);
  });

  it.each(['sync of the segment', `syncDirectory of sessions/${ID}/journal`, `syncDirectory of sessions/${ID}`, 'syncDirectory of sessions'])(
    'that is the first is not acknowledged while the %s is not over, whatever else is',
    async (last) => {
      let go: () => void = () => undefined;
      const start = new Promise<void>((resolve) => (go = resolve));
      disk.plan = ({ kind, path }) => (last === (kind === 'sync' ? 'sync of the segment' : `${kind} of ${path.replace(`${ROOT}/`, '')}`) ? { start } : undefined);
      let isAcknowledged = false;
      const appending = journal.append(frameOf(1, 1, 'a')).then(() => (isAcknowledged = true));
      for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
      expect(isAcknowledged).toBe(false);

      go();
      await appending;
      expect(isAcknowledged).toBe(true);
    },
  );

  it('that is the first, and fails, rejects when none of its calls is under way any more', async () => {
    let go: () => void = () => undefined;
    const start = new Promise<void>((resolve) => (go = resolve));
    disk.plan = ({ kind, path }) => (kind === 'sync' ? { fails: 'EIO' } : path.endsWith('/sessions') ? { start } : undefined);
    let isOver = false;
    const appending = codeOf(journal.append(frameOf(1, 1, 'a'))).finally(() => (isOver = true));
    for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
    expect(isOver).toBe(false);

    go();
    expect(await appending).toBe('journal_unavailable');
  });

  it('is not acknowledged, nor shown, before its flush', async () => {
    await journal.append(frameOf(1, 1, 'a'));
    const { reached, go } = stall('sync');
    let isAcknowledged = false;
    const appending = journal.append(frameOf(2, 1, 'b')).then(() => (isAcknowledged = true));
    await reached;

    expect(await texts()).toEqual(['a']);
    expect([journal.lastSequence, isAcknowledged]).toEqual([1, false]);
    expect(await journal.checksumAt(2)).toBeNull();

    go();
    await appending;
    expect(await texts()).toEqual(['a', 'b']);
  });

  it('writes until every byte is taken', async () => {
    await journal.append(frameOf(1, 1, 'a'));
    disk.plan = ({ kind, bytes }) => (kind === 'write' && bytes > 2_000 ? { takes: 777 } : undefined);
    const text = 'x'.repeat(9_000);

    await journal.append(frameOf(2, 1, text));

    disk.cutPower(() => 0);
    const { store } = await startStore(disk);
    expect(await texts(await store.open(ID))).toEqual(['a', text]);
  });

  it('gives up on a disk that takes less than a sector each time, and is cut back', async () => {
    await journal.append(frameOf(1, 1, 'a'));
    disk.plan = ({ kind }) => (kind === 'write' ? { takes: SECTOR_BYTES / 4 } : undefined);

    expect(await codeOf(journal.append(frameOf(2, 1, 'x'.repeat(5_000))))).toBe('disk_full');

    heal(disk);
    await journal.release();
    const again = await running.store.open(ID);
    await again.append(frameOf(2, 1, 'b'));
    expect(await texts(again)).toEqual(['a', 'b']);
  });

  it('leaves no half sector on the device when a write is taken in pieces and the power fails', async () => {
    for (let takes = 1; takes < 1_400; takes += 97) {
      const device = new SimulatedDisk();
      const { process, store } = await startStore(device);
      const held = await store.create(ID);
      await held.append(frameOf(1, 1, 'a'));
      let syncs = 0;
      device.plan = ({ kind, bytes }) => {
        if (kind === 'write' && bytes > 1_400) return { takes };
        // The last flush is the frame's own.
        return kind === 'sync' && (syncs += 1) === (isSectorEnd(takes) ? 1 : 2) ? { dies: 'before' } : undefined;
      };
      await Promise.race([held.append(frameOf(2, 1, 'x'.repeat(1_400))), process.died]);
      // Of every sector the oldest state that it had since the last flush; of the length the last.
      device.cutPower((count) => (count > 2 ? 1 : count - 1));
      heal(device);

      const found = await texts(await (await startStore(device)).store.open(ID));

      expect([['a'], ['a', 'x'.repeat(1_400)]]).toContainEqual(found);
    }

    function isSectorEnd(takes: number): boolean {
      return (SEGMENT_HEADER_BYTES + FRAME_HEADER_BYTES + 1 + takes) % SECTOR_BYTES === 0;
    }
  });

  it('calls it a bug to append while an append is under way', async () => {
    const { reached, go } = stall('sync');
    const appending = journal.append(frameOf(1, 1, 'a'));
    await reached;

    expect(await codeOf(journal.append(frameOf(2, 1, 'b')))).toBe('ERR_ASSERTION');

    go();
    await appending;
    expect(await texts()).toEqual(['a']);
  });

  it('begins a new segment where the last one would outgrow its bound, and flushes its name', async () => {
    const large = 'x'.repeat(1.5 * MEBIBYTE);
    for (let sequence = 1; sequence <= 3; sequence += 1) await journal.append(frameOf(sequence, 1, large));

    const calls = await callsOf(disk, () => journal.append(frameOf(4, 2, 'small')));
    await journal.append(frameOf(6, 1, 'y'.repeat(3 * MEBIBYTE)));
    disk.cutPower(() => 0);

    expect(calls).toEqual([`write ${segmentFile(3)}`, `sync ${segmentFile(3)}`]);
    expect(disk.files(journalPath())).toEqual([segmentPath(1), segmentPath(3), segmentPath(6)]);
    for (const path of disk.files(journalPath())) {
      expect(disk.contents(path)?.length).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
    }
    const again = await (await startStore(disk)).store.open(ID);
    expect((await texts(again)).map((text) => text.length)).toEqual([large.length, large.length, large.length, 5, 3 * MEBIBYTE]);
    expect([again.lastSequence, again.bytes]).toEqual([6, journal.bytes]);
    expect(again.bytes).toBe(3 * large.length + 5 + 3 * MEBIBYTE + 5 * FRAME_HEADER_BYTES);
  });
});

describe('a read', () => {
  it('goes on over the end of a segment that is sealed while it reads', async () => {
    const large = 'x'.repeat(3 * MEBIBYTE);
    await journal.append(frameOf(1, 1, large));
    const reader = journal.read(0)[Symbol.asyncIterator]();
    await reader.next();

    await journal.append(frameOf(2, 1, large));
    await journal.append(frameOf(3, 1, 'c'));

    expect((await reader.next()).value).toMatchObject({ firstSequence: 2 });
    expect((await reader.next()).value).toMatchObject({ firstSequence: 3 });
    expect(await reader.next()).toMatchObject({ done: true });
  });

  it('keeps its file open until the disk has answered, whatever is sealed meanwhile, and holds no append up', async () => {
    const large = 'x'.repeat(3 * MEBIBYTE);
    await journal.append(frameOf(1, 1, large));
    const { reached, go } = stall('read');
    const reading = collect(journal.read(0), 1);
    await reached;

    await journal.append(frameOf(2, 1, large));

    go();
    expect((await reading).map(({ firstSequence }) => firstSequence)).toEqual([1]);
  });

  it('is refused when it meets a release half-way, and the file is closed only when the disk has answered', async () => {
    await journal.append(frameOf(1, 1, 'a'));
    const { reached, go } = stall('read');
    const reading = codeOf(collect(journal.read(0)));
    await reached;
    const order: string[] = [];
    disk.plan = ({ kind }) => {
      order.push(kind);
      return undefined;
    };
    await journal.release();
    const removed = running.store.remove(ID).then(() => order.push('removed'));
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    expect(order).toEqual([]);

    go();

    expect(await reading).toBe('journal_unavailable');
    await removed;
    expect(order.slice(0, 2)).toEqual(['close', 'rename']);
    expect(order).toContain('removed');
  });

  it('answers a disk that does not read with a code, and reads again later', async () => {
    await journal.append(frameOf(1, 1, 'a'));
    failNext(disk, 'read', 'EIO');

    expect(await codeOf(texts())).toBe('journal_unavailable');
    expect(await texts()).toEqual(['a']);
  });
});

describe('a journal of fifty thousand frames', () => {
  it('is opened, appended to and paged through without reading the whole of it', async () => {
    const text = JSON.stringify({ filling: 'x'.repeat(300) });
    const frameBytes = FRAME_HEADER_BYTES + text.length;
    for (let sequence = 1; sequence <= 50_000; sequence += 1) await journal.append(frameOf(sequence, 1, text));
    expect(journal.bytes).toBe(50_000 * frameBytes);
    disk.kill(running.process);

    const { store } = await startStore(disk);
    const opened = await bytesRead(async () => {
      journal = await store.open(ID);
    });
    expect(opened).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
    expect(await bytesRead(() => journal.append(frameOf(50_001, 1, text)))).toBe(0);

    const page = async (after: number): Promise<void> => {
      const frames = await collect(journal.read(after), 100);
      expect([frames[0]?.firstSequence, frames.length]).toEqual([after + 1, 100]);
    };
    // The first look into a segment walks its headers; from then on it is known where its frames lie.
    expect(await bytesRead(() => page(25_000))).toBeLessThanOrEqual(SEGMENT_BYTES_MAX + 100 * frameBytes);
    expect(await bytesRead(() => page(25_100))).toBeLessThanOrEqual(4 * 64 * 1024);
    expect(await bytesRead(() => page(49_900))).toBeLessThanOrEqual(4 * 64 * 1024);
    expect(await bytesRead(() => collect(journal.read(50_000)))).toBeLessThanOrEqual(2 * 64 * 1024);
    await journal.release();
    expect(await bytesRead(async () => void (await store.open(ID)))).toBe(0);
  });

  async function bytesRead(action: () => Promise<unknown>): Promise<number> {
    const before = disk.bytesRead;
    await action();
    return disk.bytesRead - before;
  }
});

describe('damage to a journal', () => {
  const large = 'x'.repeat(3 * MEBIBYTE);

  async function reopened(): Promise<Journal> {
    return (await startStore(disk)).store.open(ID);
  }

  async function ofSegments(): Promise<void> {
    disk.kill(running.process);
    await leaveSession(disk, [large, large, large, 'the end']);
    expect(disk.files(journalPath())).toEqual([segmentPath(1), segmentPath(2), segmentPath(3)]);
  }

  it('in a sealed segment is found when it is read, with file and offset; what is elsewhere still reads', async () => {
    await ofSegments();
    disk.damage(segmentPath(2), (bytes) => {
      bytes[bytes.length - 1] = 'y'.charCodeAt(0);
      return bytes;
    });

    const held = await reopened();

    const failure = await collect(held.read(0)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'journal_corrupt', file: segmentFile(2), offset: SEGMENT_HEADER_BYTES });
    expect(await collect(held.read(0), 1)).toHaveLength(1);
    expect(await texts(held, 3)).toEqual(['the end']);
  });

  it('S-172: an incomplete frame at the end of a segment that is not the last is refused', async () => {
    await ofSegments();
    disk.damage(segmentPath(2), (bytes) => bytes.subarray(0, bytes.length - 10));

    const failure = await collect((await reopened()).read(0)).catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: 'journal_corrupt', file: segmentFile(2), offset: SEGMENT_HEADER_BYTES });
  });

  it('finds a segment that is missing in the middle, from wherever it is read', async () => {
    await ofSegments();
    await disk.boot().remove(segmentPath(2));

    const held = await reopened();

    expect(await codeOf(collect(held.read(0)))).toBe('journal_corrupt');
    expect(await codeOf(collect(held.read(1)))).toBe('journal_corrupt');
    expect(await codeOf(held.checksumAt(2))).toBe('journal_corrupt');
    expect(await texts(held, 3)).toEqual(['the end']);
  });

  it('finds the first segment missing when it opens', async () => {
    await ofSegments();
    await disk.boot().remove(segmentPath(1));

    const failure = await reopened().catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: 'journal_corrupt', file: segmentFile(1) });
  });

  it('finds segments that took the place of one another, and one of another session', async () => {
    await ofSegments();
    const [one, two] = [disk.contents(segmentPath(1)), disk.contents(segmentPath(2))];
    disk.damage(segmentPath(1), () => two ?? new Uint8Array());
    disk.damage(segmentPath(2), () => one ?? new Uint8Array());
    const held = await reopened();
    expect(await codeOf(collect(held.read(0)))).toBe('journal_corrupt');
    expect(await codeOf(collect(held.read(1)))).toBe('journal_corrupt');

    disk = new SimulatedDisk();
    await leaveSession(disk, ['mine']);
    await leaveSession(disk, ['yours'], OTHER_ID);
    disk.damage(segmentPath(1), () => disk.contents(segmentPath(1, OTHER_ID)) ?? new Uint8Array());
    const { store } = await startStore(disk);
    expect(await codeOf(store.open(ID))).toBe('journal_corrupt');
    expect(await texts(await store.open(OTHER_ID))).toEqual(['yours']);
  });

  it('that comes while the journal is held, or is at rest, is found by the next reader', async () => {
    await journal.append(frameOf(1, 1, 'abc'));
    disk.damage(segmentPath(1), (bytes) => {
      bytes[bytes.length - 1] = 'x'.charCodeAt(0);
      return bytes;
    });
    expect(await codeOf(texts())).toBe('journal_corrupt');

    await journal.release();
    disk.damage(segmentPath(1), (bytes) => bytes.subarray(0, bytes.length - 1));
    journal = await running.store.open(ID);
    expect(await codeOf(texts())).toBe('journal_corrupt');
  });
});
