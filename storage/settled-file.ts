/**
 * Makes a file of frames end where it counts, for good.
 *
 *   R1. A flush is only believed for what this process wrote: the last frame is written again, byte for byte, before the
 *       flush. A process that died may have seen its flush fail; the system then keeps the bytes in its cache, takes them
 *       for clean, and says yes to the next flush without writing anything.
 *       That holds while no flush has failed. ext4 may write what is in the cache to blocks that it goes on taking for empty,
 *       after it failed to write them once: only another file, or a file that was cut before these bytes, gets rid of that.
 *   R2. A length is believed no sooner: it is changed and changed back, so that the flush has something to write.
 *       A death in between leaves a zero byte behind the last frame, which `scan.ts` knows of.
 */
import type { DiskFile } from './disk.ts';
import type { FrameSpan } from './scan.ts';
import { writeWhole } from './whole-file.ts';

export interface JudgedFile {
  readonly bytes: Uint8Array;
  readonly frames: readonly FrameSpan[];
  /** What counts of the bytes; it ends the last frame. */
  readonly validBytes: number;
}

/** After a crash: what this process finds, and has not written itself. */
export async function settleFile(file: DiskFile, { bytes, frames, validBytes }: JudgedFile): Promise<void> {
  await cutTo(file, validBytes);
  const last = frames.at(-1);
  // The file's header was written with its first frame, and is as much in doubt as that.
  const inDoubt = last === undefined || frames.length === 1 ? 0 : last.offset;
  await writeWhole(file, bytes.subarray(inDoubt, validBytes), inDoubt);
  await file.sync();
}

/** After a failure of this process, which knows what it wrote and saw flushed. */
export async function cutFileBack(file: DiskFile, validBytes: number): Promise<void> {
  await cutTo(file, validBytes);
  await file.sync();
}

async function cutTo(file: DiskFile, length: number): Promise<void> {
  // First of all what is behind the end becomes zero as a whole: were one byte of it kept for a moment, a power cut could
  // leave that byte in a file of the length that it had, which is no incomplete write any more.
  await file.truncate(length);
  await file.truncate(length + 1);
  await file.truncate(length);
}
