import { describe, expect, it } from 'vitest';
import {
  checksumOf,
  encodeFrame,
  encodeSegmentHeader,
  findFrameHeader,
  FRAME_HEADER_BYTES,
  readFrameHeader,
  readSegmentHeader,
  SEGMENT_HEADER_BYTES,
} from '../../../storage/frame.ts';
import { frameOf, ID } from '../../support/frames.ts';

describe('a frame', () => {
  it('says in its header what is in it, and carries the payload behind it', () => {
    const bytes = encodeFrame(frameOf(4_294_967_300, 3, 'payload'));

    expect(readFrameHeader(bytes, 0)).toEqual({
      payloadBytes: 7,
      firstSequence: 4_294_967_300,
      recordCount: 3,
      checksum: checksumOf(Buffer.from('payload')),
    });
    expect(Buffer.from(bytes.subarray(FRAME_HEADER_BYTES)).toString()).toBe('payload');
  });

  it('has no header that reads when any one bit of it is flipped', () => {
    const bytes = encodeFrame(frameOf(1, 1, 'payload'));
    for (let bit = 0; bit < FRAME_HEADER_BYTES * 8; bit += 1) {
      const flipped = Uint8Array.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readFrameHeader(flipped, 0)).toBeNull();
    }
  });

  it('does not read from too few bytes, or from another place', () => {
    const bytes = encodeFrame(frameOf(1, 1, 'payload'));

    expect(readFrameHeader(bytes.subarray(0, FRAME_HEADER_BYTES - 1), 0)).toBeNull();
    expect(readFrameHeader(bytes, 1)).toBeNull();
  });

  it('is found where it begins, behind bytes that only look like the beginning of one', () => {
    const frame = encodeFrame(frameOf(1, 1, 'payload'));
    const bytes = Buffer.concat([Buffer.from('text'), frame.subarray(0, 20), frame]);

    expect(findFrameHeader(bytes, 0)).toBe(24);
    expect(findFrameHeader(bytes, 25)).toBeNull();
  });
});

describe("a segment's header", () => {
  it('names its session and first sequence, and does not read when any one bit of it is flipped', () => {
    const bytes = encodeSegmentHeader(ID, 4_294_967_300);

    expect(readSegmentHeader(bytes)).toEqual({ formatVersion: 1, sessionId: ID, firstSequence: 4_294_967_300 });
    for (let bit = 0; bit < SEGMENT_HEADER_BYTES * 8; bit += 1) {
      const flipped = Uint8Array.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readSegmentHeader(flipped)).toBeNull();
    }
    expect(readSegmentHeader(bytes.subarray(0, SEGMENT_HEADER_BYTES - 1))).toBeNull();
  });
});
