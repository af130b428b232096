/**
 * Judges the bytes of a segment. Pure: it cuts nothing and logs nothing, it says what is there.
 *
 *   V1. Only an incomplete final write is `torn`: the frame after which no frame header follows, in the last segment, if
 *       it runs past the end of the file, or if its share of some sector is all zero. (A device writes sectors in any
 *       order, each whole or not at all; and what was written is never all zero.) The same holds for a segment's header,
 *       which is written together with the segment's first frame.
 *   V2. Whatever else does not read back is `corrupt`. A frame whose header reads, with anything behind it, was
 *       complete once: a file has at most one unflushed frame, and that ends where the file ends. But for one zero byte: so
 *       much longer is a file for a moment while it is settled, before its last frame is flushed anew.
 *   V3. In a segment that is not the last nothing is torn: its last frame was flushed before the next one was made.
 */
import {
  checksumOf,
  findFrameHeader,
  FRAME_HEADER_BYTES,
  readFrameHeader,
  readSegmentHeader,
  SECTOR_BYTES,
  SEGMENT_FORMAT_VERSION,
  SEGMENT_HEADER_BYTES,
  type FrameHeader,
} from './frame.ts';

export type CorruptReason = 'segment_header' | 'frame_header' | 'frame_payload' | 'frame_sequence' | 'frame_incomplete';

export interface FrameSpan extends FrameHeader {
  /** Where its header begins. */
  readonly offset: number;
}

export type ScanVerdict =
  | { readonly kind: 'clean'; readonly frames: readonly FrameSpan[] }
  /** `validBytes` ends the last whole frame; 0 where there is none, for a segment is nothing without a frame. */
  | { readonly kind: 'torn'; readonly frames: readonly FrameSpan[]; readonly validBytes: number }
  /** `frames`: those before the damage, which begins at `offset`. */
  | { readonly kind: 'corrupt'; readonly frames: readonly FrameSpan[]; readonly offset: number; readonly reason: CorruptReason };

export interface SegmentExpectation {
  readonly sessionId: string;
  readonly firstSequence: number;
  readonly isLast: boolean;
}

export function scanSegment(bytes: Uint8Array, expected: SegmentExpectation): ScanVerdict {
  const header = readSegmentHeader(bytes);
  if (header === null) {
    const torn = expected.isLast && isTornAt(bytes, 0, SEGMENT_HEADER_BYTES);
    return torn ? { kind: 'torn', frames: [], validBytes: 0 } : { kind: 'corrupt', frames: [], offset: 0, reason: 'segment_header' };
  }
  if (
    header.formatVersion !== SEGMENT_FORMAT_VERSION ||
    header.sessionId !== expected.sessionId ||
    header.firstSequence !== expected.firstSequence
  ) {
    return { kind: 'corrupt', frames: [], offset: 0, reason: 'segment_header' };
  }
  return scanFrames(bytes, expected);
}

function scanFrames(bytes: Uint8Array, { firstSequence, isLast }: SegmentExpectation): ScanVerdict {
  const frames: FrameSpan[] = [];
  let expectedSequence = firstSequence;
  let offset = SEGMENT_HEADER_BYTES;
  const torn = (): ScanVerdict => ({ kind: 'torn', frames, validBytes: frames.length === 0 ? 0 : offset });
  const corrupt = (reason: CorruptReason): ScanVerdict => ({ kind: 'corrupt', frames, offset, reason });

  while (offset < bytes.length) {
    const header = readFrameHeader(bytes, offset);
    if (header === null) {
      return isLast && isTornAt(bytes, offset, FRAME_HEADER_BYTES) ? torn() : corrupt('frame_header');
    }
    if (header.firstSequence !== expectedSequence) return corrupt('frame_sequence');

    const end = offset + FRAME_HEADER_BYTES + header.payloadBytes;
    if (end > bytes.length) return isLast ? torn() : corrupt('frame_incomplete');
    if (checksumOf(bytes.subarray(offset + FRAME_HEADER_BYTES, end)) !== header.checksum) {
      return isLast && isEndOfFile(bytes, end) && hasUnwrittenSector(bytes.subarray(0, end), offset) ? torn() : corrupt('frame_payload');
    }
    frames.push({ ...header, offset });
    expectedSequence += header.recordCount;
    offset = end;
  }
  if (frames.length > 0) return { kind: 'clean', frames };
  return isLast ? torn() : corrupt('frame_incomplete');
}

/** Whether a header that does not read, and is `headerBytes` long, begins the final write, and that is incomplete. */
function isTornAt(bytes: Uint8Array, offset: number, headerBytes: number): boolean {
  if (bytes.length - offset < headerBytes) return true;
  // The length of what begins here is unknown, so it is taken to reach to the end of the file, unless a frame follows.
  return hasUnwrittenSector(bytes, offset) && findFrameHeader(bytes, offset + 1) === null;
}

/** `settled-file.ts` makes a file longer by one byte, and shorter again. */
function isEndOfFile(bytes: Uint8Array, end: number): boolean {
  return bytes.length === end || (bytes.length === end + 1 && bytes[end] === 0);
}

/** Whether what begins at the offset and ends with the file has an all-zero share in some sector of the file. */
function hasUnwrittenSector(bytes: Uint8Array, offset: number): boolean {
  let start = offset;
  while (start < bytes.length) {
    const end = Math.min(bytes.length, start - (start % SECTOR_BYTES) + SECTOR_BYTES);
    if (isZero(bytes, start, end)) return true;
    start = end;
  }
  return false;
}

function isZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] !== 0) return false;
  }
  return true;
}
