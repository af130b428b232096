/**
 * One file of a journal: how it is called, where its frames lie as far as that is known, and the one that is appended to.
 */
import assert from 'node:assert';
import { diskTookNothing } from './disk-failure.ts';
import type { Disk, DiskFile } from './disk.ts';
import { FRAME_HEADER_BYTES, SECTOR_BYTES, SEGMENT_HEADER_BYTES, type FrameHeader } from './frame.ts';
import { readUpTo } from './whole-file.ts';

// Opening a journal reads its last segment, and the first look for a sequence walks the headers of one: 4 MiB keeps both
// at a few milliseconds, while a journal of a gigabyte is still only some hundred files.
export const SEGMENT_BYTES_MAX = 4 * 1024 * 1024;

// A mark for every 16 KiB: a read near the end begins that near, and the marks of a segment are a few kilobytes.
const MARK_SPACING_BYTES = 16 * 1024;

// A disk that is full takes a piece of a write, then none of it. One that goes on taking less than a sector is no better.
const FRUITLESS_WRITES_MAX = 3;

const SEQUENCE_DIGITS = 16;
const NAME_PATTERN = /^(\d{16})\.segment$/;

export function segmentName(firstSequence: number): string {
  return `${String(firstSequence).padStart(SEQUENCE_DIGITS, '0')}.segment`;
}

/** Null for the name of anything else, such as what a repair kept. */
export function parseSegmentName(name: string): number | null {
  const digits = NAME_PATTERN.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The first sequence of each segment in a directory, ascending. */
export async function segmentsIn(disk: Disk, directory: string): Promise<readonly number[]> {
  const names = await disk.list(directory);
  return names
    .map(parseSegmentName)
    .filter((segment) => segment !== null)
    .toSorted((a, b) => a - b);
}

export function frameEnd(offset: number, header: FrameHeader): number {
  return offset + FRAME_HEADER_BYTES + header.payloadBytes;
}

/** Where some of a segment's frames begin, so that a reader need not walk there from the segment's start. */
export class SegmentIndex {
  readonly #sequences: number[] = [];
  readonly #offsets: number[] = [];

  /** Frames are added in the order of their places; one that is known, or close behind one, is passed over. */
  add(firstSequence: number, offset: number): void {
    const last = this.#offsets.at(-1);
    if (last !== undefined && offset < last + MARK_SPACING_BYTES) return;
    this.#sequences.push(firstSequence);
    this.#offsets.push(offset);
  }

  /** The last known frame that begins at a sequence or before it. */
  before(sequence: number): { readonly firstSequence: number; readonly offset: number } | null {
    let low = 0;
    let high = this.#sequences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sequences[middle] ?? Infinity) <= sequence) low = middle + 1;
      else high = middle;
    }
    const firstSequence = this.#sequences[low - 1];
    const offset = this.#offsets[low - 1];
    return firstSequence === undefined || offset === undefined ? null : { firstSequence, offset };
  }
}

/** The segment that is appended to, held open to be written through: a write that is answered is on the device. */
export class OpenSegment {
  readonly firstSequence: number;
  readonly #file: DiskFile;
  readonly #reads = new Set<Promise<unknown>>();

  constructor(firstSequence: number, file: DiskFile) {
    this.firstSequence = firstSequence;
    this.#file = file;
  }

  /**
   * Resolves when the bytes, which begin at a known place, are on the device. Where it rejects, they are out of the file
   * again, if the disk lets that happen, though that is not flushed: a process that dies now leaves nothing for the next one
   * to read out of the system's cache, which shows what it failed to flush.
   */
  async append(bytes: Uint8Array, position: number): Promise<void> {
    assert(position === 0 || position >= SEGMENT_HEADER_BYTES, `an append inside of the segment's header: ${position}`);
    try {
      await this.#write(bytes, position);
    } catch (error) {
      await this.#file.truncate(position).catch(() => undefined);
      throw error;
    }
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const read = readUpTo(this.#file, position, length);
    this.#reads.add(read);
    try {
      return await read;
    } finally {
      this.#reads.delete(read);
    }
  }

  /** Waits for the reads that are under way: a descriptor that is closed may already be another file's. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#reads);
    await this.#file.close();
  }

  async #write(bytes: Uint8Array, position: number): Promise<void> {
    let taken = 0;
    let fruitless = 0;
    while (taken < bytes.length) {
      const before = taken;
      const count = await this.#file.write(taken === 0 ? bytes : bytes.subarray(taken), position + taken);
      if (count === 0) throw diskTookNothing();
      taken += count;
      if (taken === bytes.length) return;
      // What the disk took so far is on the device. Half of a sector's share, with the rest of the frame around it
      // in the end, would be a frame that is neither whole nor torn: so the sector is given back, for good, and begun anew.
      const excess = (position + taken) % SECTOR_BYTES;
      if (excess === 0) continue;
      taken = Math.max(0, taken - excess);
      fruitless = taken > before ? 0 : fruitless + 1;
      if (fruitless === FRUITLESS_WRITES_MAX) throw diskTookNothing();
      await this.#file.truncate(position + taken);
      await this.#file.sync();
    }
  }
}
