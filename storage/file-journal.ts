/**
 * A journal over segment files: appends to the last one, reads them all, and knows how far it is acknowledged. What a crash
 * or a failure left on the disk is not its business: it is made from files that `journal-repair.ts` has settled.
 *
 *   F1. State moves only when a frame is durable, and in one step: a reader sees the whole of an append, or nothing.
 *   F2. A journal that is released gives its last file to its keeper as it is, open, and uses it no more but for reads that are
 *       under way.
 *   F3. After a failed append nothing works any more but `release`, and the keeper has been told how far the files count.
 */
import assert from 'node:assert';
import { isErrorCode, storageFailure } from './disk-failure.ts';
import type { Disk } from './disk.ts';
import { FrameCursor, journalCorrupt, type SegmentSource } from './frame-cursor.ts';
import { assertFrame, checksumOf, encodeFrame, encodeSegmentHeader, SEGMENT_HEADER_BYTES } from './frame.ts';
import type { Frame, FrameMark, Journal, StoredFrame } from './journal.ts';
import { StorageError } from './journal.ts';
import type { SettledFiles } from './journal-repair.ts';
import { OpenSegment, SEGMENT_BYTES_MAX, SegmentIndex, segmentName } from './segment.ts';
import { readUpTo } from './whole-file.ts';
import type { DataDirectory } from './data-directory.ts';

/** How far the files of a journal are acknowledged. */
export interface JournalEnd {
  /** The first sequence of the last segment; 0 where there is none. */
  readonly segment: number;
  /** What counts of that segment, its header included. */
  readonly segmentBytes: number;
  /** The bytes of the frames in the segments before it. */
  readonly sealedBytes: number;
  readonly lastFrame: FrameMark | null;
  /** Of the last segment. */
  readonly index: SegmentIndex;
}

/** Who has to know what becomes of a journal. */
export interface JournalKeeper {
  /** Nothing behind `end` counts, and it must be gone before anybody reads again. */
  poisoned(sessionId: string, end: JournalEnd): void;
  /** `files`: still open, and the keeper's now; null where there are none, or where they are not whole. */
  released(sessionId: string, end: JournalEnd, files: SettledFiles | null): void;
}

export interface FileJournalParts {
  readonly directory: DataDirectory;
  readonly sessionId: string;
  readonly keeper: JournalKeeper;
  readonly end: JournalEnd;
  /** All of the journal's segments, ascending. */
  readonly segments: readonly number[];
  /** The last of them; null in a journal without any. */
  readonly tail: OpenSegment | null;
}

export class FileJournal implements Journal {
  readonly sessionId: string;
  readonly #directory: DataDirectory;
  readonly #disk: Disk;
  readonly #keeper: JournalKeeper;
  readonly #segments: number[];
  readonly #sealedLengths = new Map<number, number>();
  readonly #indexes = new Map<number, SegmentIndex>();
  readonly #source: SegmentSource;
  #end: JournalEnd;
  #tail: OpenSegment | null;
  #appending: Promise<void> | null = null;
  readonly #sealedReads = new Set<Promise<unknown>>();
  readonly #closings: Promise<void>[] = [];
  #isPoisoned = false;
  #isReleased = false;
  #releasing: Promise<void> | null = null;

  constructor({ directory, sessionId, keeper, end, segments, tail }: FileJournalParts) {
    this.sessionId = sessionId;
    this.#directory = directory;
    this.#disk = directory.disk;
    this.#keeper = keeper;
    this.#segments = [...segments];
    this.#end = end;
    this.#tail = tail;
    this.#indexes.set(end.segment, end.index);
    this.#source = this.#asSource();
  }

  get lastSequence(): number {
    return this.#end.lastFrame?.sequence ?? 0;
  }

  get lastFrame(): FrameMark | null {
    return this.#end.lastFrame;
  }

  get bytes(): number {
    return this.#end.sealedBytes + frameBytesOf(this.#end);
  }

  async append(frame: Frame): Promise<FrameMark> {
    this.#assertUsable();
    assert(this.#appending === null, `session ${this.sessionId}: an append while another is under way`);
    assertFrame(frame, this.lastSequence);
    const mark: FrameMark = {
      sequence: frame.firstSequence + frame.recordCount - 1,
      checksum: checksumOf(frame.payload),
    };
    const committing = this.#commit(frame, mark);
    this.#appending = committing;
    try {
      await committing;
      return mark;
    } catch (error) {
      this.#isPoisoned = true;
      this.#keeper.poisoned(this.sessionId, this.#end);
      throw storageFailure(error, `session ${this.sessionId}: a commit failed, its outcome is unknown`, this.#tailFile());
    } finally {
      this.#appending = null;
    }
  }

  async *read(after: number): AsyncGenerator<StoredFrame, void, void> {
    assert(Number.isSafeInteger(after) && after >= 0, `reading after ${after}`);
    this.#assertUsable();
    if (after >= this.lastSequence) return;
    const cursor = await FrameCursor.at(this.#source, after + 1);
    for (;;) {
      this.#assertUsable();
      const frame = await cursor.next();
      if (frame === null) return;
      yield frame;
    }
  }

  async checksumAt(sequence: number): Promise<number | null> {
    this.#assertUsable();
    const last = this.#end.lastFrame;
    if (last === null || sequence < 1 || sequence > last.sequence) return null;
    if (sequence === last.sequence) return last.checksum;
    const header = await (await FrameCursor.at(this.#source, sequence)).header();
    if (header === null) return null;
    return header.firstSequence + header.recordCount - 1 === sequence ? header.checksum : null;
  }

  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  async #release(): Promise<void> {
    this.#isReleased = true;
    await this.#appending?.catch(() => undefined);
    const tail = this.#tail;
    const files = tail === null || this.#isPoisoned ? null : { segments: this.#segments, tail, end: this.#end };
    if (tail !== null && files === null) this.#closings.push(closeQuietly(tail));
    if (this.#sealedReads.size + this.#closings.length > 0) await Promise.allSettled([...this.#sealedReads, ...this.#closings]);
    this.#keeper.released(this.sessionId, this.#end, files);
  }

  async #commit(frame: Frame, mark: FrameMark): Promise<void> {
    const bytes = encodeFrame(frame, mark.checksum);
    const tail = this.#tail;
    if (tail === null || this.#end.segmentBytes + bytes.length > SEGMENT_BYTES_MAX) {
      await this.#appendToNewSegment(frame.firstSequence, bytes, mark);
      return;
    }
    const offset = this.#end.segmentBytes;
    await tail.append(bytes, offset);
    this.#end.index.add(frame.firstSequence, offset);
    this.#end = { ...this.#end, segmentBytes: offset + bytes.length, lastFrame: mark };
  }

  async #appendToNewSegment(firstSequence: number, frame: Uint8Array, mark: FrameMark): Promise<void> {
    const journal = `sessions/${this.sessionId}/journal`;
    const isFirst = this.#tail === null;
    if (isFirst) await this.#disk.makeDirectory(this.#directory.at(journal));
    const changed = isFirst ? [journal, `sessions/${this.sessionId}`] : [journal];
    const path = this.#directory.at(`${journal}/${segmentName(firstSequence)}`);
    const segment = new OpenSegment(firstSequence, await this.#disk.open(path, 'create-through'));
    try {
      await allDone([
        // Header and frame in one write: then a segment without a frame is an incomplete write, and nothing else.
        segment.append(Buffer.concat([encodeSegmentHeader(this.sessionId, firstSequence), frame]), 0),
        // Beside it and not behind it: a name that is durable before its frame is the name of an incomplete write, too.
        ...changed.map((name) => this.#disk.syncDirectory(this.#directory.at(name))),
        ...(isFirst ? [this.#directory.syncSessions()] : []),
      ]);
    } catch (error) {
      await closeQuietly(segment);
      throw error;
    }
    const sealed = this.#tail;
    const index = new SegmentIndex();
    index.add(firstSequence, SEGMENT_HEADER_BYTES);
    this.#indexes.set(firstSequence, index);
    this.#sealedLengths.set(this.#end.segment, this.#end.segmentBytes);
    this.#segments.push(firstSequence);
    this.#tail = segment;
    this.#end = {
      segment: firstSequence,
      segmentBytes: SEGMENT_HEADER_BYTES + frame.length,
      sealedBytes: this.#end.sealedBytes + frameBytesOf(this.#end),
      lastFrame: mark,
      index,
    };
    // The commit stands: it does not wait for whoever still reads the file.
    if (sealed !== null) this.#closings.push(closeQuietly(sealed));
  }

  #asSource(): SegmentSource {
    return {
      sessionId: this.sessionId,
      segments: this.#segments,
      lastSequence: () => this.lastSequence,
      index: (segment) => this.#indexOf(segment),
      fileOf: (segment) => this.#fileOf(segment),
      lengthOf: (segment) => this.#lengthOf(segment),
      read: (segment, position, length) => this.#readSegment(segment, position, length),
    };
  }

  #indexOf(segment: number): SegmentIndex {
    const known = this.#indexes.get(segment);
    if (known !== undefined) return known;
    const index = new SegmentIndex();
    this.#indexes.set(segment, index);
    return index;
  }

  async #lengthOf(segment: number): Promise<number> {
    if (segment === this.#end.segment) return this.#end.segmentBytes;
    const known = this.#sealedLengths.get(segment);
    if (known !== undefined) return known;
    const length = await this.#withSealed(segment, (file) => file.size());
    this.#sealedLengths.set(segment, length);
    return length;
  }

  async #readSegment(segment: number, position: number, length: number): Promise<Uint8Array> {
    this.#assertUsable();
    const tail = this.#tail;
    if (tail?.firstSequence !== segment) {
      return this.#withSealed(segment, (file) => readUpTo(file, position, length));
    }
    try {
      return await tail.read(position, length);
    } catch (error) {
      throw storageFailure(error, `session ${this.sessionId}: the journal cannot be read`, this.#fileOf(segment));
    }
  }

  /** A sealed segment is held open for one call only: a reader that stops half-way holds nothing. */
  async #withSealed<T>(segment: number, use: (file: Awaited<ReturnType<Disk['open']>>) => Promise<T>): Promise<T> {
    this.#assertUsable();
    const used = this.#useSealed(segment, use);
    this.#sealedReads.add(used);
    try {
      return await used;
    } catch (error) {
      const file = this.#fileOf(segment);
      if (isErrorCode(error, 'ENOENT')) throw journalCorrupt({ file, offset: 0, what: 'the file is missing', cause: error });
      throw storageFailure(error, `session ${this.sessionId}: the journal cannot be read`, file);
    } finally {
      this.#sealedReads.delete(used);
    }
  }

  async #useSealed<T>(segment: number, use: (file: Awaited<ReturnType<Disk['open']>>) => Promise<T>): Promise<T> {
    const file = await this.#disk.open(this.#directory.at(this.#fileOf(segment)), 'read');
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }

  #fileOf(segment: number): string {
    return `sessions/${this.sessionId}/journal/${segmentName(segment)}`;
  }

  #tailFile(): string {
    return this.#fileOf(Math.max(1, this.#end.segment));
  }

  #assertUsable(): void {
    if (!this.#isReleased && !this.#isPoisoned) return;
    const reason = this.#isReleased ? 'released' : 'poisoned';
    throw new StorageError('journal_unavailable', `session ${this.sessionId}: the journal was ${reason}`);
  }
}

/** Waits for all, also where one fails: nothing is under way any more when this settles. */
async function allDone(calls: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(calls)) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Everything that counts is flushed by then: what a close has to say concerns nobody. */
async function closeQuietly(segment: OpenSegment): Promise<void> {
  await segment.close().catch(() => undefined);
}

function frameBytesOf(end: JournalEnd): number {
  return Math.max(0, end.segmentBytes - SEGMENT_HEADER_BYTES);
}
