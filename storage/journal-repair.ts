/**
 * Brings the files of a journal to the state in which they may be shown and appended to: after a crash, by judging what is
 * there; after a failure in this process, by going back to what is known to count.
 *
 *   R1. Nothing is shown before it is flushed, in the way of `settled-file.ts`.
 *   R2. A file whose flush failed here while it was settled is given up for a new one: no later flush of it can be believed,
 *       and what it holds may be acknowledged, so that it cannot be cut off and written once more.
 *   R3. Only what `scan.ts` calls torn is cut off. It is kept beside, in a file `.broken`, unless there is no room.
 */
import { dirname } from 'node:path';
import type { DataDirectory } from './data-directory.ts';
import { isErrorCode } from './disk-failure.ts';
import type { JournalEnd } from './file-journal.ts';
import { journalCorrupt } from './frame-cursor.ts';
import { SEGMENT_HEADER_BYTES } from './frame.ts';
import { scanSegment, type CorruptReason, type FrameSpan } from './scan.ts';
import { cutFileBack, settleFile } from './settled-file.ts';
import { OpenSegment, SegmentIndex, segmentName, segmentsIn } from './segment.ts';
import { createFile, readFile, replaceFile } from './whole-file.ts';

/** A journal's files, ready for use. */
export interface SettledFiles {
  readonly segments: readonly number[];
  readonly tail: OpenSegment;
  readonly end: JournalEnd;
}

/** One session's files, by the names that the disk knows and those that errors tell. */
interface Files {
  readonly directory: DataDirectory;
  readonly sessionId: string;
  /** Relative to the data directory. */
  readonly journal: string;
}

interface UnsettledFiles extends Files {
  readonly distrusted: Set<string>;
}

const FIRST_SEGMENT = 1;

/** Each reason in words, for whoever reads the error. */
export const REASON_IN_WORDS: Readonly<Record<CorruptReason, string>> = {
  segment_header: 'not the header of this segment',
  frame_header: 'no frame header',
  frame_payload: 'a payload differs from its checksum',
  frame_sequence: 'a frame does not follow the one before it',
  frame_incomplete: 'an incomplete frame',
};

/**
 * The first opening by this process. Null where no frame is whole: then there never was a session. `distrusted`: the
 * sessions whose last file is not to be believed any more; kept here.
 */
export async function settleJournal(directory: DataDirectory, sessionId: string, distrusted: Set<string>): Promise<SettledFiles | null> {
  const files = { ...filesOf(directory, sessionId), distrusted };
  const segments = await segmentsOf(files);
  const last = segments.at(-1);
  if (last === undefined) return null;
  if (segments[0] !== FIRST_SEGMENT) throw corrupt(files, FIRST_SEGMENT, 0, 'the first segment is missing');

  const bytes = await readFile(directory.disk, pathOf(files, last));
  const verdict = scanSegment(bytes, { sessionId, firstSequence: last, isLast: true });
  if (verdict.kind === 'corrupt') throw corrupt(files, last, verdict.offset, REASON_IN_WORDS[verdict.reason]);
  const torn = verdict.kind === 'torn' ? verdict : null;
  if (torn?.validBytes === 0) {
    return segments.length === 1 ? null : settleWithoutLast(files, segments, bytes);
  }
  return settleTail(files, { segments, bytes, frames: verdict.frames, validBytes: torn?.validBytes ?? bytes.length });
}

/** Opens again what this process had settled, and knows the end of. */
export async function reopenJournal(
  directory: DataDirectory,
  sessionId: string,
  end: JournalEnd,
): Promise<SettledFiles> {
  const files = filesOf(directory, sessionId);
  const segments = await segmentsOf(files);
  if (segments.at(-1) !== end.segment) throw corrupt(files, end.segment, 0, 'not the last segment any more');
  const file = await directory.disk.open(pathOf(files, end.segment), 'write-through');
  try {
    const size = await file.size();
    if (size !== end.segmentBytes) {
      throw corrupt(files, end.segment, Math.min(size, end.segmentBytes), 'the file was changed from outside');
    }
    return { segments, tail: new OpenSegment(end.segment, file), end };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Takes what a failed commit left behind the acknowledged end off the disk, for good, or rejects. */
export async function cutBackJournal(directory: DataDirectory, sessionId: string, end: JournalEnd): Promise<void> {
  const files = filesOf(directory, sessionId);
  for (const segment of await segmentsOf(files)) {
    if (segment > end.segment) await directory.disk.remove(pathOf(files, segment));
  }
  const file = await directory.disk.open(pathOf(files, end.segment), 'write');
  try {
    const size = await file.size();
    if (size < end.segmentBytes) throw corrupt(files, end.segment, size, 'the file ends before its last frame');
    await cutFileBack(file, end.segmentBytes);
  } finally {
    await file.close();
  }
  await directory.disk.syncDirectory(directory.at(files.journal));
  directory.log.warn('journal_cut_back', {
    session_id: sessionId,
    file: fileOf(files, end.segment),
    offset: end.segmentBytes,
  });
}

/** The last segment holds no frame: the one before it is the last, and has to be as whole as if it were not. */
async function settleWithoutLast(files: UnsettledFiles, segments: readonly number[], torn: Uint8Array): Promise<SettledFiles> {
  const { directory, sessionId } = files;
  const last = segments.at(-1) ?? FIRST_SEGMENT;
  const rest = segments.slice(0, -1);
  const previous = rest.at(-1) ?? FIRST_SEGMENT;
  const bytes = await readFile(directory.disk, pathOf(files, previous));
  const verdict = scanSegment(bytes, { sessionId, firstSequence: previous, isLast: false });
  if (verdict.kind === 'corrupt') throw corrupt(files, previous, verdict.offset, REASON_IN_WORDS[verdict.reason]);
  if (nextSequence(verdict.frames) !== last) throw corrupt(files, last, 0, REASON_IN_WORDS.frame_sequence);

  const kept = await keepBroken(files, last, 0, torn);
  await directory.disk.remove(pathOf(files, last));
  logCut(files, { segment: last, offset: 0, cutBytes: torn.length, kept });
  return settleTail(files, { segments: rest, bytes, frames: verdict.frames, validBytes: bytes.length });
}

async function settleTail(
  files: UnsettledFiles,
  found: {
    readonly segments: readonly number[];
    readonly bytes: Uint8Array;
    readonly frames: readonly FrameSpan[];
    readonly validBytes: number;
  },
): Promise<SettledFiles> {
  const { directory, distrusted, sessionId } = files;
  const { segments, bytes, frames, validBytes } = found;
  const segment = segments.at(-1) ?? FIRST_SEGMENT;
  const last = frames.at(-1);
  if (last === undefined) throw corrupt(files, segment, 0, REASON_IN_WORDS.frame_incomplete);

  if (validBytes < bytes.length) {
    const kept = await keepBroken(files, segment, validBytes, bytes.subarray(validBytes));
    logCut(files, { segment, offset: validBytes, cutBytes: bytes.length - validBytes, kept });
  }
  const isDistrusted = distrusted.has(sessionId);
  if (isDistrusted) {
    await replaceFile(directory.disk, { directory: directory.at(files.journal), name: segmentName(segment), bytes: bytes.subarray(0, validBytes) });
  }
  const file = await directory.disk.open(pathOf(files, segment), 'write-through');
  try {
    distrusted.add(sessionId);
    if (!isDistrusted) await settleFile(file, { bytes, frames, validBytes });
    distrusted.delete(sessionId);
    await directory.disk.syncDirectory(directory.at(files.journal));
    await directory.disk.syncDirectory(dirname(directory.at(files.journal)));
    const sealedBytes = await frameBytesOf(files, segments.slice(0, -1));
    return {
      segments,
      tail: new OpenSegment(segment, file),
      end: {
        segment,
        segmentBytes: validBytes,
        sealedBytes,
        lastFrame: { sequence: nextSequence(frames) - 1, checksum: last.checksum },
        index: indexOf(frames),
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function keepBroken(files: Files, segment: number, offset: number, bytes: Uint8Array): Promise<boolean> {
  try {
    await createFile(files.directory.disk, `${pathOf(files, segment)}.${offset}.broken`, bytes);
    return true;
  } catch {
    return false;
  }
}

function logCut(
  { directory, sessionId, journal }: Files,
  cut: { readonly segment: number; readonly offset: number; readonly cutBytes: number; readonly kept: boolean },
): void {
  directory.log.warn('journal_cut', {
    session_id: sessionId,
    file: `${journal}/${segmentName(cut.segment)}`,
    offset: cut.offset,
    bytes: cut.cutBytes,
    kept: cut.kept,
  });
}

async function frameBytesOf(files: Files, segments: readonly number[]): Promise<number> {
  let total = 0;
  for (const segment of segments) {
    const file = await files.directory.disk.open(pathOf(files, segment), 'read');
    try {
      total += Math.max(0, (await file.size()) - SEGMENT_HEADER_BYTES);
    } finally {
      await file.close();
    }
  }
  return total;
}

async function segmentsOf({ directory, journal }: Files): Promise<readonly number[]> {
  try {
    return await segmentsIn(directory.disk, directory.at(journal));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function indexOf(frames: readonly FrameSpan[]): SegmentIndex {
  const index = new SegmentIndex();
  for (const frame of frames) index.add(frame.firstSequence, frame.offset);
  return index;
}

function nextSequence(frames: readonly FrameSpan[]): number {
  const last = frames.at(-1);
  return last === undefined ? 0 : last.firstSequence + last.recordCount;
}

function filesOf(directory: DataDirectory, sessionId: string): Files {
  return { directory, sessionId, journal: `sessions/${sessionId}/journal` };
}

function fileOf({ journal }: Files, segment: number): string {
  return `${journal}/${segmentName(segment)}`;
}

function pathOf(files: Files, segment: number): string {
  return files.directory.at(fileOf(files, segment));
}

function corrupt(files: Files, segment: number, offset: number, what: string): Error {
  return journalCorrupt({ file: fileOf(files, segment), offset, what });
}
