/**
 * A journal's files as they lie there, judged and not touched: nothing is locked, cut or flushed. For whoever looks at a
 * copy, or at a directory that no server owns; what a living server is just writing looks torn.
 */
import type { Disk, WatchableDisk } from './disk.ts';
import { FRAME_HEADER_BYTES, readSegmentHeader, SEGMENT_HEADER_BYTES } from './frame.ts';
import type { ReadableJournal, StoredFrame } from './journal.ts';
import { REASON_IN_WORDS } from './journal-repair.ts';
import { scanSegment, type FrameSpan, type SegmentExpectation } from './scan.ts';
import { frameEnd, segmentName, segmentsIn } from './segment.ts';
import { readFile, readUpTo } from './whole-file.ts';

export interface JudgedSegment {
  /** Its name in the journal's directory. */
  readonly file: string;
  readonly bytes: number;
  readonly judgement: Judgement;
  /** The whole frames, as far as they follow one another. */
  readonly frames: readonly StoredFrame[];
}

export type Judgement =
  | { readonly kind: 'clean' }
  /** An incomplete final write from `offset` to the end of the file: the next opening cuts it off. */
  | { readonly kind: 'torn'; readonly offset: number }
  /** What does not read back as it was written: a server refuses the session. */
  | { readonly kind: 'damaged'; readonly offset: number; readonly what: string };

/**
 * The segments of a journal, oldest first, each read whole as it is asked for. After a damaged one none follows: what
 * comes behind it cannot be told to belong there. `sessionId`: null takes what the first segment says. `after`: those before
 * the one that holds the next sequence are not read, and not judged.
 */
export async function* judgedSegments(
  disk: Disk,
  directory: string,
  sessionId: string | null,
  after = 0,
): AsyncGenerator<JudgedSegment, void, void> {
  const all = await segmentsIn(disk, directory);
  const segments = all.slice(Math.max(0, all.findLastIndex((firstSequence) => firstSequence <= after + 1)));
  let expected = segments.length < all.length ? (segments[0] ?? 1) : 1;
  let owner = sessionId;
  for (const firstSequence of segments) {
    const file = segmentName(firstSequence);
    const bytes = await readFile(disk, `${directory}/${file}`);
    owner ??= readSegmentHeader(bytes)?.sessionId ?? '';
    const isLast = firstSequence === segments.at(-1);
    const judged = firstSequence === expected ? judge(bytes, { sessionId: owner, firstSequence, isLast }) : missingBefore(expected);
    yield { file, bytes: bytes.length, ...judged };
    if (judged.judgement.kind === 'damaged') return;
    const last = judged.frames.at(-1);
    expected = last === undefined ? expected : last.firstSequence + last.recordCount;
  }
}

/** The session that a journal's first segment names; null where there is none, or its header does not read. */
export async function sessionNamedIn(disk: Disk, directory: string): Promise<string | null> {
  const [first] = await segmentsIn(disk, directory);
  if (first === undefined) return null;
  const file = await disk.open(`${directory}/${segmentName(first)}`, 'read');
  try {
    return readSegmentHeader(await readUpTo(file, 0, SEGMENT_HEADER_BYTES))?.sessionId ?? null;
  } finally {
    await file.close();
  }
}

/** A journal that nobody holds, up to its last whole commit. */
export function unownedJournal(
  disk: Disk,
  { directory, sessionId, lastSequence }: { readonly directory: string; readonly sessionId: string; readonly lastSequence: number },
): ReadableJournal {
  return {
    lastSequence,
    async *read(after) {
      for await (const { frames } of judgedSegments(disk, directory, sessionId, after)) {
        for (const frame of frames) {
          // What was appended since is not judged yet.
          if (frame.firstSequence > lastSequence) return;
          if (frame.firstSequence + frame.recordCount > after + 1) yield frame;
        }
      }
    },
  };
}

/** Another text whenever a commit was appended since, or the last segment was changed. */
export async function journalStamp(disk: WatchableDisk, directory: string): Promise<string> {
  const segments = await segmentsIn(disk, directory);
  const last = segments.at(-1);
  const stamp = last === undefined ? null : await disk.stamp(`${directory}/${segmentName(last)}`);
  return `${segments.length} ${last ?? 0} ${stamp ?? ''}`;
}

type Judged = Pick<JudgedSegment, 'judgement' | 'frames'>;

function judge(bytes: Uint8Array, expected: SegmentExpectation): Judged {
  const verdict = scanSegment(bytes, expected);
  const frames = verdict.frames.map((span) => storedFrame(bytes, span));
  switch (verdict.kind) {
    case 'clean':
      return { judgement: { kind: 'clean' }, frames };
    case 'torn':
      return { judgement: { kind: 'torn', offset: verdict.validBytes }, frames };
    case 'corrupt':
      return { judgement: { kind: 'damaged', offset: verdict.offset, what: REASON_IN_WORDS[verdict.reason] }, frames };
  }
}

function storedFrame(bytes: Uint8Array, span: FrameSpan): StoredFrame {
  const end = frameEnd(span.offset, span);
  return {
    firstSequence: span.firstSequence,
    recordCount: span.recordCount,
    payload: bytes.subarray(span.offset + FRAME_HEADER_BYTES, end),
    checksum: span.checksum,
    bytes: end - span.offset,
  };
}

function missingBefore(expected: number): Judged {
  return { judgement: { kind: 'damaged', offset: 0, what: `the segment that begins with ${expected} is missing` }, frames: [] };
}
