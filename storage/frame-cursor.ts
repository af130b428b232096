/**
 * A position in a journal that moves from frame to frame and verifies what it passes. It reads in bounded pieces, holds no
 * file, and stops at the end that its source tells at each step.
 */
import {
  checksumOf,
  FRAME_HEADER_BYTES,
  readFrameHeader,
  readSegmentHeader,
  SEGMENT_FORMAT_VERSION,
  SEGMENT_HEADER_BYTES,
  type FrameHeader,
} from './frame.ts';
import { StorageError, type StoredFrame } from './journal.ts';
import { frameEnd, type SegmentIndex } from './segment.ts';

// Large enough that the calls to the disk do not count, small enough that a thousand slow readers hold little.
const CHUNK_BYTES = 64 * 1024;

/** The segments of one journal, each named by its first sequence, up to the acknowledged end. */
export interface SegmentSource {
  readonly sessionId: string;
  lastSequence(): number;
  /** Ascending. */
  readonly segments: readonly number[];
  index(segment: number): SegmentIndex;
  /** For errors: the segment's file, relative to the data directory. */
  fileOf(segment: number): string;
  /** How many bytes of a segment count. */
  lengthOf(segment: number): Promise<number>;
  /** Fewer bytes than asked for only where the file ends. */
  read(segment: number, position: number, length: number): Promise<Uint8Array>;
}

export class FrameCursor {
  readonly #source: SegmentSource;
  #segment = 0;
  #offset = 0;
  /** The first sequence of the frame at the offset. */
  #expected = 0;
  #chunk: Uint8Array = new Uint8Array(0);
  #chunkPosition = 0;

  private constructor(source: SegmentSource) {
    this.#source = source;
  }

  /** Stands on the frame that holds a sequence, which the journal must have. */
  static async at(source: SegmentSource, sequence: number): Promise<FrameCursor> {
    const cursor = new FrameCursor(source);
    await cursor.#seek(sequence);
    return cursor;
  }

  /** The frame under the cursor, which moves on; null at the end of the journal as it is now. */
  async next(): Promise<StoredFrame | null> {
    const header = await this.header();
    if (header === null) return null;
    const payload = await this.#bytesAt(this.#offset + FRAME_HEADER_BYTES, header.payloadBytes);
    if (checksumOf(payload) !== header.checksum) throw this.#corrupt('a payload differs from its checksum');
    this.#pass(header);
    return {
      firstSequence: header.firstSequence,
      recordCount: header.recordCount,
      payload,
      checksum: header.checksum,
      bytes: FRAME_HEADER_BYTES + header.payloadBytes,
    };
  }

  /** The header of the frame under the cursor, which stays; null at the end of the journal. */
  async header(): Promise<FrameHeader | null> {
    if (this.#expected > this.#source.lastSequence()) return null;
    let length = await this.#source.lengthOf(this.#segment);
    if (this.#offset === length) {
      const following = this.#source.segments.find((segment) => segment > this.#segment);
      if (following !== this.#expected) throw this.#corrupt(`the segment that begins with ${this.#expected} is missing`);
      await this.#enter(following);
      length = await this.#source.lengthOf(this.#segment);
    }
    if (length - this.#offset < FRAME_HEADER_BYTES) throw this.#corrupt('an incomplete frame');
    const header = readFrameHeader(await this.#bytesAt(this.#offset, FRAME_HEADER_BYTES), 0);
    if (header === null) throw this.#corrupt('no frame header');
    if (header.firstSequence !== this.#expected) {
      throw this.#corrupt(`a frame from ${header.firstSequence} on where ${this.#expected} is due`);
    }
    if (frameEnd(this.#offset, header) > length) throw this.#corrupt('an incomplete frame');
    return header;
  }

  async #seek(sequence: number): Promise<void> {
    const segment = this.#source.segments.findLast((first) => first <= sequence);
    if (segment === undefined) throw this.#missingFirst();
    const mark = this.#source.index(segment).before(sequence);
    if (mark === null) {
      await this.#enter(segment);
    } else {
      this.#segment = segment;
      this.#offset = mark.offset;
      this.#expected = mark.firstSequence;
    }
    for (;;) {
      const header = await this.header();
      if (header === null || header.firstSequence + header.recordCount > sequence) return;
      this.#pass(header);
    }
  }

  /** A mark is only ever set behind a segment's header, so that whoever starts from one knows the header for whole. */
  async #enter(segment: number): Promise<void> {
    this.#segment = segment;
    this.#offset = 0;
    this.#chunk = new Uint8Array(0);
    this.#expected = segment;
    if ((await this.#source.lengthOf(segment)) < SEGMENT_HEADER_BYTES) throw this.#corrupt('an incomplete segment header');
    const header = readSegmentHeader(await this.#bytesAt(0, SEGMENT_HEADER_BYTES));
    if (
      header?.formatVersion !== SEGMENT_FORMAT_VERSION ||
      header.sessionId !== this.#source.sessionId ||
      header.firstSequence !== segment
    ) {
      throw this.#corrupt('not the header of this segment');
    }
    this.#offset = SEGMENT_HEADER_BYTES;
  }

  #pass(header: FrameHeader): void {
    this.#source.index(this.#segment).add(header.firstSequence, this.#offset);
    this.#expected += header.recordCount;
    this.#offset = frameEnd(this.#offset, header);
  }

  async #bytesAt(position: number, count: number): Promise<Uint8Array> {
    const start = position - this.#chunkPosition;
    if (start >= 0 && start + count <= this.#chunk.length) return this.#chunk.subarray(start, start + count);

    const rest = (await this.#source.lengthOf(this.#segment)) - position;
    const chunk = await this.#source.read(this.#segment, position, Math.min(rest, Math.max(count, CHUNK_BYTES)));
    if (chunk.length < count) throw this.#corrupt('the file ends before its last frame');
    this.#chunk = chunk;
    this.#chunkPosition = position;
    return chunk.subarray(0, count);
  }

  #corrupt(what: string): StorageError {
    return journalCorrupt({ file: this.#source.fileOf(this.#segment), offset: this.#offset, what });
  }

  #missingFirst(): StorageError {
    return journalCorrupt({ file: this.#source.fileOf(1), offset: 0, what: 'the first segment is missing' });
  }
}

export function journalCorrupt(evidence: {
  readonly file: string;
  readonly offset: number;
  readonly what: string;
  readonly cause?: unknown;
}): StorageError {
  const { file, offset, what, cause } = evidence;
  return new StorageError('journal_corrupt', `${file} is damaged at byte ${offset}: ${what}`, { file, offset, cause });
}
