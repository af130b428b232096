/**
 * The bytes of a segment: its header, and the header and payload of each frame. Pure. What damaged bytes mean is not
 * decided here but in `scan.ts`; the tables are in `docs/journal-format.md`. Numbers are big-endian.
 *
 *   F1. A header vouches for itself: one flipped bit in a bare length would make the rest of the file look torn, and
 *       repair would then cut off what had been acknowledged.
 *   F2. What was written has no zero where a write may have been lost: a header begins with a byte that is not zero, and
 *       a payload (text) holds none. A run of zeros thus shows what never reached the device.
 *   F3. A frame's marker begins with a byte that no UTF-8 text contains, so that no payload of text holds a frame.
 */
import assert from 'node:assert';
import { crc32 } from 'node:zlib';
import type { Frame } from './journal.ts';

/** What a device writes whole or not at all. */
export const SECTOR_BYTES = 512;

export const SEGMENT_MAGIC = 'BRAINSEG';
export const SEGMENT_FORMAT_VERSION = 1;
export const SEGMENT_HEADER_BYTES = 40;

export const FRAME_MARKER = 0xfe46524d;
export const FRAME_HEADER_BYTES = 28;

// Opening a journal holds its last segment in memory, and a frame is never split over two: this bounds both. It is twice
// the largest request body that is taken by default, so that what one request brings fits with room for its company.
export const FRAME_PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

export interface SegmentHeader {
  readonly formatVersion: number;
  readonly sessionId: string;
  readonly firstSequence: number;
}

export interface FrameHeader {
  readonly payloadBytes: number;
  readonly firstSequence: number;
  readonly recordCount: number;
  /** The CRC-32 of the payload. */
  readonly checksum: number;
}

export function encodeSegmentHeader(sessionId: string, firstSequence: number): Uint8Array {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  header.write(SEGMENT_MAGIC, 0, 'latin1');
  header.writeUInt32BE(SEGMENT_FORMAT_VERSION, 8);
  header.write(sessionId, 12, 'hex');
  header.writeBigUInt64BE(BigInt(firstSequence), 28);
  header.writeUInt32BE(checksumOf(header.subarray(0, 36)), 36);
  return header;
}

/** Null where the bytes are too few, or are no whole header. */
export function readSegmentHeader(bytes: Uint8Array): SegmentHeader | null {
  if (bytes.length < SEGMENT_HEADER_BYTES) return null;
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, SEGMENT_HEADER_BYTES);
  if (header.toString('latin1', 0, 8) !== SEGMENT_MAGIC) return null;
  if (checksumOf(header.subarray(0, 36)) !== header.readUInt32BE(36)) return null;
  return {
    formatVersion: header.readUInt32BE(8),
    sessionId: header.toString('hex', 12, 28),
    firstSequence: Number(header.readBigUInt64BE(28)),
  };
}

/** Header and payload in one piece, for one write. `checksum`: of the payload, for whoever knows it. */
export function encodeFrame({ firstSequence, recordCount, payload }: Frame, checksum = checksumOf(payload)): Uint8Array {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUInt32BE(FRAME_MARKER, 0);
  bytes.writeUInt32BE(payload.length, 4);
  bytes.writeBigUInt64BE(BigInt(firstSequence), 8);
  bytes.writeUInt32BE(recordCount, 16);
  bytes.writeUInt32BE(checksum, 20);
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, 24)), 24);
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}

/** Null where too few bytes are left at the offset, or where they are no whole header. */
export function readFrameHeader(bytes: Uint8Array, offset: number): FrameHeader | null {
  if (bytes.length - offset < FRAME_HEADER_BYTES) return null;
  const header = Buffer.from(bytes.buffer, bytes.byteOffset + offset, FRAME_HEADER_BYTES);
  if (header.readUInt32BE(0) !== FRAME_MARKER) return null;
  if (checksumOf(header.subarray(0, 24)) !== header.readUInt32BE(24)) return null;
  const payloadBytes = header.readUInt32BE(4);
  const recordCount = header.readUInt32BE(16);
  if (payloadBytes > FRAME_PAYLOAD_BYTES_MAX || recordCount === 0) return null;
  return {
    payloadBytes,
    firstSequence: Number(header.readBigUInt64BE(8)),
    recordCount,
    checksum: header.readUInt32BE(20),
  };
}

/** Where the next whole frame header begins, at `from` or after it; null where there is none. */
export function findFrameHeader(bytes: Uint8Array, from: number): number | null {
  const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const marker = Buffer.alloc(4);
  marker.writeUInt32BE(FRAME_MARKER);
  for (let at = searched.indexOf(marker, from); at !== -1; at = searched.indexOf(marker, at + 1)) {
    if (readFrameHeader(bytes, at) !== null) return at;
  }
  return null;
}

export function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes);
}

/** Throws on a frame that its caller should never have made; nothing has been written then. */
export function assertFrame({ firstSequence, recordCount, payload }: Frame, lastSequence: number): void {
  assert(firstSequence === lastSequence + 1, `a frame from ${firstSequence} on cannot follow ${lastSequence}`);
  assert(Number.isSafeInteger(recordCount) && recordCount >= 1, `a frame of ${recordCount} records`);
  assert(payload.length > 0, 'a frame without a payload');
  assert(payload.length <= FRAME_PAYLOAD_BYTES_MAX, `a payload of ${payload.length} bytes is larger than a frame takes`);
  // F2: the judgement of a torn write rests on it. JSON escapes a zero, so that its text never holds one.
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  assert(!text.includes(0), 'a payload that holds a zero byte is no text');
}
