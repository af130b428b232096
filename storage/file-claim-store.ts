/**
 * Claims in a data directory: one file of frames for each tenant, `claims/{key}`, laid out and judged as the last segment
 * of a journal is. Each frame is one entry.
 */
import type { ClaimStore } from './claims.ts';
import type { DataDirectory } from './data-directory.ts';
import { storageFailure } from './disk-failure.ts';
import type { DiskFile } from './disk.ts';
import { journalCorrupt } from './frame-cursor.ts';
import { assertFrame, encodeFrame, encodeSegmentHeader, FRAME_HEADER_BYTES } from './frame.ts';
import { REASON_IN_WORDS } from './journal-repair.ts';
import { scanSegment, type FrameSpan } from './scan.ts';
import { OpenSegment } from './segment.ts';
import { cutFileBack, settleFile } from './settled-file.ts';
import { tenantKey } from './tenant-key.ts';
import { createFile, readFile, readFileIfThere, replaceFile } from './whole-file.ts';

const DIRECTORY = 'claims';
const FIRST_SEQUENCE = 1;

export class FileClaimStore implements ClaimStore {
  readonly #directory: DataDirectory;
  readonly #files = new Map<string, ClaimFile>();

  constructor(directory: DataDirectory) {
    this.#directory = directory;
  }

  load(tenant: string): Promise<readonly Uint8Array[]> {
    return this.#fileOf(tenant).inTurn((file) => file.load());
  }

  append(tenant: string, entry: Uint8Array): Promise<void> {
    return this.#fileOf(tenant).inTurn((file) => file.append(entry));
  }

  replace(tenant: string, entries: readonly Uint8Array[]): Promise<void> {
    return this.#fileOf(tenant).inTurn((file) => file.replace(entries));
  }

  #fileOf(tenant: string): ClaimFile {
    const key = tenantKey(tenant);
    const file = this.#files.get(key) ?? new ClaimFile(this.#directory, key);
    this.#files.set(key, file);
    return file;
  }
}

/** How far a file is acknowledged. */
interface ClaimsEnd {
  readonly exists: boolean;
  readonly bytes: number;
  readonly count: number;
}

class ClaimFile {
  readonly #directory: DataDirectory;
  readonly #key: string;
  readonly #file: string;
  /** Null where the file has to be judged: not seen by this process yet, or replaced with an outcome that is unknown. */
  #end: ClaimsEnd | null = null;
  /** Whether something behind the end may be in the file. */
  #isWounded = false;
  /** Whether a flush failed while the file was settled: then only another one in its place can be believed. */
  #isDistrusted = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(directory: DataDirectory, key: string) {
    this.#directory = directory;
    this.#key = key;
    this.#file = `${DIRECTORY}/${key}`;
  }

  /** Runs one call after those that came before it, however they ended. */
  inTurn<T>(call: (file: ClaimFile) => Promise<T>): Promise<T> {
    const answer = this.#directory.using(() => this.#last.then(() => this.#telling(call)));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async load(): Promise<readonly Uint8Array[]> {
    const end = await this.#settled();
    if (!end.exists) return [];
    const bytes = await readFile(this.#directory.disk, this.#path());
    if (bytes.length !== end.bytes) throw this.#corrupt(Math.min(bytes.length, end.bytes), 'the file was changed from outside');
    return bytes.length === 0 ? [] : this.#judged(bytes).frames.map((frame) => payloadOf(bytes, frame));
  }

  async append(entry: Uint8Array): Promise<void> {
    const end = await this.#settled();
    const frame = this.#frameOf(entry, end.count);
    const bytes = end.bytes === 0 ? Buffer.concat([this.#header(), frame]) : frame;
    const { disk } = this.#directory;
    await this.#directory.ensure(DIRECTORY);
    this.#isWounded = true;
    const file = await disk.open(this.#path(), end.exists ? 'write-through' : 'create-through');
    const segment = new OpenSegment(FIRST_SEQUENCE, file);
    try {
      await segment.append(bytes, end.bytes);
      if (!end.exists) await disk.syncDirectory(this.#directory.at(DIRECTORY));
    } finally {
      // What counts is flushed: what a close has to say concerns nobody.
      await segment.close().catch(() => undefined);
    }
    this.#end = { exists: true, bytes: end.bytes + bytes.length, count: end.count + 1 };
    this.#isWounded = false;
  }

  async replace(entries: readonly Uint8Array[]): Promise<void> {
    // What is damaged is refused, and not written over.
    await this.#settled();
    const frames = entries.map((entry, index) => this.#frameOf(entry, index));
    const bytes = frames.length === 0 ? new Uint8Array(0) : Buffer.concat([this.#header(), ...frames]);
    await this.#directory.ensure(DIRECTORY);
    this.#end = null;
    await replaceFile(this.#directory.disk, { directory: this.#directory.at(DIRECTORY), name: this.#key, bytes });
    this.#end = { exists: true, bytes: bytes.length, count: frames.length };
  }

  async #telling<T>(call: (file: ClaimFile) => Promise<T>): Promise<T> {
    try {
      return await call(this);
    } catch (error) {
      throw storageFailure(error, 'the claims of a tenant cannot be used now', this.#file);
    }
  }

  /** The end of the file, once nothing is behind it and all of it is flushed. */
  async #settled(): Promise<ClaimsEnd> {
    if (this.#end === null) {
      this.#end = await this.#settle();
      this.#isWounded = false;
    } else if (this.#isWounded) {
      await this.#cutBack(this.#end);
      this.#isWounded = false;
    }
    return this.#end;
  }

  async #settle(): Promise<ClaimsEnd> {
    const { disk } = this.#directory;
    const bytes = await readFileIfThere(disk, this.#path());
    if (bytes === null) return { exists: false, bytes: 0, count: 0 };
    const { frames, validBytes } = this.#judged(bytes);
    if (validBytes < bytes.length) await this.#keepBroken(validBytes, bytes);
    if (this.#isDistrusted) {
      await replaceFile(disk, { directory: this.#directory.at(DIRECTORY), name: this.#key, bytes: bytes.subarray(0, validBytes) });
    } else {
      this.#isDistrusted = true;
      await this.#withFile((file) => settleFile(file, { bytes, frames, validBytes }));
    }
    this.#isDistrusted = false;
    await this.#directory.ensure(DIRECTORY);
    await disk.syncDirectory(this.#directory.at(DIRECTORY));
    return { exists: true, bytes: validBytes, count: frames.length };
  }

  async #cutBack({ exists, bytes }: ClaimsEnd): Promise<void> {
    const { disk, log } = this.#directory;
    if (exists) {
      const size = await this.#withFile((file) => file.size());
      if (size < bytes) throw this.#corrupt(size, 'the file ends before its last frame');
      await this.#withFile((file) => cutFileBack(file, bytes));
    } else {
      await disk.remove(this.#path());
      await disk.syncDirectory(this.#directory.at(DIRECTORY));
    }
    log.warn('claims_cut_back', { file: this.#file, offset: bytes });
  }

  /** What of a file's bytes counts. An empty file is one of no entries, and not one that was torn. */
  #judged(bytes: Uint8Array): { readonly frames: readonly FrameSpan[]; readonly validBytes: number } {
    if (bytes.length === 0) return { frames: [], validBytes: 0 };
    const verdict = scanSegment(bytes, { sessionId: this.#key, firstSequence: FIRST_SEQUENCE, isLast: true });
    if (verdict.kind === 'corrupt') throw this.#corrupt(verdict.offset, REASON_IN_WORDS[verdict.reason]);
    return { frames: verdict.frames, validBytes: verdict.kind === 'torn' ? verdict.validBytes : bytes.length };
  }

  async #keepBroken(offset: number, bytes: Uint8Array): Promise<void> {
    const { disk, log } = this.#directory;
    const kept = await createFile(disk, `${this.#path()}.${offset}.broken`, bytes.subarray(offset)).then(
      () => true,
      () => false,
    );
    log.warn('claims_cut', { file: this.#file, offset, bytes: bytes.length - offset, kept });
  }

  async #withFile<T>(use: (file: DiskFile) => Promise<T>): Promise<T> {
    const file = await this.#directory.disk.open(this.#path(), 'write');
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }

  #frameOf(entry: Uint8Array, countBefore: number): Uint8Array {
    const frame = { firstSequence: countBefore + FIRST_SEQUENCE, recordCount: 1, payload: entry };
    assertFrame(frame, countBefore);
    return encodeFrame(frame);
  }

  #header(): Uint8Array {
    return encodeSegmentHeader(this.#key, FIRST_SEQUENCE);
  }

  #corrupt(offset: number, what: string): Error {
    return journalCorrupt({ file: this.#file, offset, what });
  }

  #path(): string {
    return this.#directory.at(this.#file);
  }
}

function payloadOf(bytes: Uint8Array, { offset, payloadBytes }: FrameSpan): Uint8Array {
  const start = offset + FRAME_HEADER_BYTES;
  return bytes.slice(start, start + payloadBytes);
}
