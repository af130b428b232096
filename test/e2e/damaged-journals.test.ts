/**
 * Journals that the built server wrote, damaged in every way that `docs/journal-format.md` decides: opened by the real
 * store, in this process. Where frames lie is read here, from that document, and not by the code under test.
 */
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionStore } from '../../storage/journal.ts';
import { FileSessionStore } from '../../storage/file-session-store.ts';
import { NodeDisk } from '../../storage/node-disk.ts';
import { says } from '../support/openai-server.ts';
import { flipped, zeroed } from '../support/segments.ts';
import { SimulatedDisk, type SimulatedProcess } from '../support/simulated-disk.ts';
import { Stage } from '../support/stage.ts';
import { ROOT, startStore } from '../support/stores.ts';

const SECTOR = 512;
const SEGMENT_HEADER = 40;
const FRAME_HEADER = 28;

interface Session {
  readonly id: string;
  /** Its segments by name, in their order. */
  readonly segments: ReadonlyMap<string, Uint8Array>;
}

let directory: string;
let small: Session;
let healthy: Session;
let large: Session;

beforeAll(async () => {
  const stage = await Stage.set({ model: () => says('Good.') });
  directory = await mkdtemp(path.join(tmpdir(), 'brain-damage-'));
  try {
    const ids = await Promise.all(['small', 'healthy', 'large'].map(async () => (await stage.create({ tools: [] })).session_id));
    const [smallId = '', healthyId = '', largeId = ''] = ids;
    await Promise.all([stage.api.send(smallId, 'hello'), stage.api.send(healthyId, 'hello')]);
    for (const letter of ['a', 'b', 'c', 'd']) await stage.api.send(largeId, letter.repeat(3_000_000));
    await stage.server.kill();
    await cp(stage.server.dataDirectory, directory, { recursive: true });
    [small, healthy, large] = [await sessionIn(smallId), await sessionIn(healthyId), await sessionIn(largeId)];
  } finally {
    await stage.strike();
  }
});
afterAll(async () => rm(directory, { recursive: true, force: true }));

function journalOf(root: string, id: string): string {
  return path.join(root, 'sessions', id, 'journal');
}

async function sessionIn(id: string): Promise<Session> {
  const names = (await readdir(journalOf(directory, id))).toSorted();
  const segments = await Promise.all(names.map(async (name) => [name, Uint8Array.from(await readFile(path.join(journalOf(directory, id), name)))] as const));
  return { id, segments: new Map(segments) };
}

/** The only segment of a session, and where its frames begin; the last bound is the file's end. */
function onlySegment({ segments }: Session): { readonly name: string; readonly bytes: Uint8Array; readonly bounds: readonly number[] } {
  const [entry] = segments;
  if (entry === undefined || segments.size !== 1) throw new Error(`${segments.size} segments`);
  const [name, bytes] = entry;
  return { name, bytes, bounds: boundsOf(bytes) };
}

function boundsOf(bytes: Uint8Array): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bounds = [SEGMENT_HEADER];
  for (let at = SEGMENT_HEADER; at < bytes.length; bounds.push(at)) at += FRAME_HEADER + view.getUint32(at + 4);
  return bounds;
}

function payloadsOf({ bytes, bounds }: { readonly bytes: Uint8Array; readonly bounds: readonly number[] }, count = bounds.length - 1): readonly string[] {
  return bounds.slice(0, count).map((start, index) => Buffer.from(bytes.subarray(start + FRAME_HEADER, bounds[index + 1])).toString('utf8'));
}

/** What a store makes of a session: its payloads, or the error that refuses it. */
async function verdictOn(store: SessionStore, id: string): Promise<{ readonly payloads: readonly string[] } | { readonly code: unknown; readonly file: unknown; readonly offset: unknown }> {
  const payloads: string[] = [];
  try {
    const journal = await store.open(id);
    try {
      for await (const { payload } of journal.read(0)) payloads.push(Buffer.from(payload).toString('utf8'));
    } finally {
      await journal.release();
    }
    return { payloads };
  } catch (error) {
    const { code, file, offset } = error as { readonly code: unknown; readonly file: unknown; readonly offset: unknown };
    return { code, file, offset };
  }
}

async function plant(process: SimulatedProcess, id: string, segments: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const folder of [`${ROOT}/sessions/${id}`, `${ROOT}/sessions/${id}/journal`]) await process.makeDirectory(folder);
  for (const [name, bytes] of segments) {
    const file = await process.open(`${ROOT}/sessions/${id}/journal/${name}`, 'create');
    if (bytes.length > 0) await file.write(bytes, 0);
    await file.close();
  }
}

/** The verdict on the small session with these bytes, beside a healthy one that every verdict leaves as it was. */
async function verdictOnSmall(bytes: Uint8Array, looksAtOther = true): Promise<Awaited<ReturnType<typeof verdictOn>>> {
  const { name } = onlySegment(small);
  const { process, store } = await startStore(new SimulatedDisk());
  await plant(process, small.id, new Map([[name, bytes]]));
  await plant(process, healthy.id, healthy.segments);
  const verdict = await verdictOn(store, small.id);
  if ('code' in verdict && verdict.code === 'journal_corrupt') {
    const file = await process.open(`${ROOT}/sessions/${small.id}/journal/${name}`, 'read');
    const found = new Uint8Array(bytes.length);
    expect(await file.read(found, 0)).toBe(bytes.length);
    expect(Buffer.compare(found, bytes)).toBe(0);
  }
  if (looksAtOther) expect(await verdictOn(store, healthy.id)).toEqual({ payloads: payloadsOf(onlySegment(healthy)) });
  return verdict;
}

describe('a journal that the server wrote', () => {
  it('S-174: cut at every length, is what was whole before the cut, and no session where nothing was', async () => {
    const segment = onlySegment(small);
    for (let length = 0; length <= segment.bytes.length; length += 1) {
      const whole = segment.bounds.filter((bound) => bound > SEGMENT_HEADER && bound <= length).length;
      const verdict = await verdictOnSmall(segment.bytes.subarray(0, length));
      if (whole === 0) expect(verdict, `${length} bytes`).toMatchObject({ code: 'session_not_found' });
      else expect(verdict, `${length} bytes`).toEqual({ payloads: payloadsOf(segment, whole) });
    }
  });

  it('S-171: with any one bit flipped, is refused with the file and the offset of the frame', async () => {
    const { bytes, bounds, name } = onlySegment(small);
    const file = `sessions/${small.id}/journal/${name}`;
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const verdict = await verdictOnSmall(flipped(bytes, bit), bit % 8 === 0);
      const offset = bounds.findLast((bound) => bound <= bit >> 3) ?? 0;
      if (!('code' in verdict) || verdict.code !== 'journal_corrupt' || verdict.file !== file || verdict.offset !== offset) {
        expect.fail(`bit ${bit}, frame at ${offset}: ${JSON.stringify(verdict).slice(0, 300)}`);
      }
    }
  });

  it('S-173: with a stretch of zeros, loses at most its last frame, and that only where a whole share of a sector is gone', async () => {
    const segment = onlySegment(small);
    const { bytes, bounds } = segment;
    const lastFrame = bounds.at(-2) ?? 0;
    const all = payloadsOf(segment);
    let torn = 0;
    for (let from = 0; from < bytes.length; from += 61) {
      for (const length of [1, 28, 200, SECTOR, 3 * SECTOR, bytes.length]) {
        const to = Math.min(bytes.length, from + length);
        // What is zero anyhow is not damaged.
        if (bytes.subarray(from, to).every((byte) => byte === 0)) continue;
        const verdict = await verdictOnSmall(zeroed(bytes, from, to));
        const where = `zeros from ${from} to ${to}`;
        if ('code' in verdict) {
          // From the first frame on nothing is left: the session may as well never have been.
          const mayNeverHaveBeen = from < (bounds[1] ?? 0) && to === bytes.length;
          expect(['journal_corrupt', ...(mayNeverHaveBeen ? ['session_not_found'] : [])], where).toContain(verdict.code);
          continue;
        }
        torn += 1;
        // From the last frame on, or from some frame on to the very end.
        const isToTheEnd = to === bytes.length;
        expect(from >= lastFrame || isToTheEnd, where).toBe(true);
        expect(verdict.payloads, where).toEqual(all.slice(0, bounds.filter((bound) => bound > SEGMENT_HEADER && bound <= from).length));
        const sectors = Array.from({ length: Math.ceil(bytes.length / SECTOR) }, (_, index) => [Math.max(lastFrame, index * SECTOR), Math.min(bytes.length, (index + 1) * SECTOR)] as const);
        expect(sectors.some(([start, end]) => start < end && from <= start && end <= to), where).toBe(true);
      }
    }
    expect(torn).toBeGreaterThan(0);
  });
});

describe('a journal of several segments that the server wrote', () => {
  let root: string;
  let store: FileSessionStore;

  /** The verdict on the large session after something was done to its files, and that on the others. */
  async function verdictAfter(damage: (journal: string, names: readonly string[]) => Promise<void>): Promise<Awaited<ReturnType<typeof verdictOn>>> {
    root = await mkdtemp(path.join(tmpdir(), 'brain-segments-'));
    try {
      await cp(directory, root, { recursive: true });
      await damage(journalOf(root, large.id), [...large.segments.keys()]);
      store = await FileSessionStore.open({ disk: new NodeDisk(), path: root, log: { warn: () => undefined } });
      const verdict = await verdictOn(store, large.id);
      for (const other of [small, healthy]) expect(await verdictOn(store, other.id)).toEqual({ payloads: payloadsOf(onlySegment(other)) });
      await store.close();
      return verdict;
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }

  const swapFiles = async (journal: string, one: string, other: string): Promise<void> => {
    await rename(path.join(journal, one), path.join(journal, 'between'));
    await rename(path.join(journal, other), path.join(journal, one));
    await rename(path.join(journal, 'between'), path.join(journal, other));
  };

  const cutOff = async (file: string, bytes: number): Promise<void> => truncate(file, (await stat(file)).size - bytes);

  it('has several, and is read whole', async () => {
    expect(large.segments.size).toBeGreaterThan(2);
    const verdict = await verdictAfter(() => Promise.resolve());
    expect('payloads' in verdict && verdict.payloads.join('').length).toBeGreaterThan(12_000_000);
  });

  it('S-171: is refused where any segment but the last is missing, cut, or in the place of another', async () => {
    const count = large.segments.size;
    for (let index = 0; index < count - 1; index += 1) {
      const isRefused = async (what: string, damage: Parameters<typeof verdictAfter>[0]): Promise<void> => {
        expect(await verdictAfter(damage), `${what} ${index}`).toMatchObject({ code: 'journal_corrupt', file: expect.stringContaining(large.id) });
      };
      await isRefused('missing', async (journal, names) => rm(path.join(journal, names[index] ?? '')));
      for (const bytes of [1, 500, 2_000_000]) {
        await isRefused(`cut by ${bytes}`, async (journal, names) => cutOff(path.join(journal, names[index] ?? ''), bytes));
      }
      await isRefused('swapped', async (journal, names) => swapFiles(journal, names[index] ?? '', names[index + 1] ?? ''));
      await isRefused('repeated', async (journal, names) => cp(path.join(journal, names[index] ?? ''), path.join(journal, names[index + 1] ?? '')));
    }
  });

  it('S-173, S-174: cut at any length of its last segment, is what was whole before the cut', async () => {
    const [name, bytes] = [...large.segments].at(-1) ?? ['', new Uint8Array(0)];
    const bounds = boundsOf(bytes);
    const before = [...large.segments.values()].slice(0, -1).flatMap((segment) => payloadsOf({ bytes: segment, bounds: boundsOf(segment) }));
    const lengths = new Set([0, 1, SEGMENT_HEADER - 1, ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1, bound + FRAME_HEADER]), bytes.length - 2_000_000]);
    for (const length of [...lengths].filter((one) => one <= bytes.length)) {
      const whole = bounds.filter((bound) => bound > SEGMENT_HEADER && bound <= length).length;

      const verdict = await verdictAfter(async (journal) => truncate(path.join(journal, name), length));

      expect('payloads' in verdict && verdict.payloads.length, `${length} bytes`).toBe(before.length + whole);
      expect('payloads' in verdict && isDeepStrictEqual(verdict.payloads, [...before, ...payloadsOf({ bytes, bounds }, whole)]), `${length} bytes`).toBe(true);
    }
  });

  it('shows nothing that was not written where its last segment is gone as a whole, which it cannot know', async () => {
    const before = [...large.segments.values()].slice(0, -1).flatMap((bytes) => payloadsOf({ bytes, bounds: boundsOf(bytes) }));

    const verdict = await verdictAfter(async (journal, names) => rm(path.join(journal, names.at(-1) ?? '')));

    expect('payloads' in verdict && isDeepStrictEqual(verdict.payloads, before)).toBe(true);
  });

  it('S-171: is refused where its last segment comes again as one more', async () => {
    const verdict = await verdictAfter(async (journal, names) => cp(path.join(journal, names.at(-1) ?? ''), path.join(journal, '0000000000999999.segment')));

    expect(verdict).toMatchObject({ code: 'journal_corrupt' });
  });
});
