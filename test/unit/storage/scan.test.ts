import { describe, expect, it } from 'vitest';
import { encodeFrame, FRAME_HEADER_BYTES, SECTOR_BYTES, SEGMENT_HEADER_BYTES } from '../../../storage/frame.ts';
import { scanSegment, type ScanVerdict } from '../../../storage/scan.ts';
import { frameOf, ID, OTHER_ID } from '../../support/frames.ts';
import { flipped, segmentOf, zeroed } from '../../support/segments.ts';

const LONG = '"'.repeat(3 * SECTOR_BYTES);

function scan(bytes: Uint8Array, isLast = true): ScanVerdict {
  return scanSegment(bytes, { sessionId: ID, firstSequence: 1, isLast });
}

/** The verdict on the last segment of a journal, without its frames. */
function judged(bytes: Uint8Array): object {
  const verdict = scan(bytes);
  switch (verdict.kind) {
    case 'clean':
      return { kind: 'clean' };
    case 'torn':
      return { kind: 'torn', validBytes: verdict.validBytes };
    case 'corrupt':
      return { kind: 'corrupt', offset: verdict.offset, reason: verdict.reason };
  }
}

describe('the scan of a segment', () => {
  it('finds every frame of a whole one, last or not', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG, '[]']);

    for (const isLast of [true, false]) {
      const verdict = scan(bytes, isLast);
      expect(verdict.kind).toBe('clean');
      expect(verdict.kind === 'clean' && verdict.frames.map(({ offset }) => offset)).toEqual(bounds.slice(0, -1));
    }
  });

  it('calls a last frame torn that runs past the end of the file', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [, start = 0] = bounds;

    expect(judged(bytes.subarray(0, bytes.length - 1))).toEqual({ kind: 'torn', validBytes: start });
    expect(judged(bytes.subarray(0, start + FRAME_HEADER_BYTES))).toEqual({ kind: 'torn', validBytes: start });
    expect(judged(bytes.subarray(0, start + 1))).toEqual({ kind: 'torn', validBytes: start });
  });

  it('calls a tail of zeros torn: the file grew, and what should be in it was never written', () => {
    const { bytes } = segmentOf(['{"a":1}', '{"b":2}']);

    for (const count of [1, FRAME_HEADER_BYTES, 100, 5 * SECTOR_BYTES]) {
      expect(judged(Buffer.concat([bytes, Buffer.alloc(count)]))).toEqual({ kind: 'torn', validBytes: bytes.length });
    }
  });

  it('calls a last frame torn of which a sector is missing, whichever that is', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [, start = 0] = bounds;

    const shares = [[start, SECTOR_BYTES], [SECTOR_BYTES, 2 * SECTOR_BYTES], [3 * SECTOR_BYTES, bytes.length]] as const;
    for (const [from, to] of shares) expect(judged(zeroed(bytes, from, to))).toEqual({ kind: 'torn', validBytes: start });
  });

  it('calls a last frame torn of which a sector is missing where a zero byte is behind it, as a death in settling leaves one', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [, start = 0] = bounds;
    const longer = (...behind: readonly number[]): Uint8Array => Buffer.concat([bytes, Buffer.from(behind)]);
    const without = (whole: Uint8Array): Uint8Array => zeroed(whole, SECTOR_BYTES, 2 * SECTOR_BYTES);

    expect(judged(without(longer(0)))).toEqual({ kind: 'torn', validBytes: start });
    for (const behind of [[1], [0, 0]]) {
      expect(judged(without(longer(...behind)))).toEqual({ kind: 'corrupt', offset: start, reason: 'frame_payload' });
    }
  });

  it('refuses a changed last frame whose zero sector is but the byte behind it', () => {
    const bytesOf = (length: number) => segmentOf(['{"a":1}', '"'.repeat(length)]);
    const [, begin = 0] = bytesOf(1).bounds;
    // Whole sectors, so that the byte behind is in one of its own.
    const { bytes } = bytesOf(2 * SECTOR_BYTES - begin - FRAME_HEADER_BYTES);
    expect(bytes.length % SECTOR_BYTES).toBe(0);

    expect(judged(Buffer.concat([flipped(bytes, 8 * (bytes.length - 1)), Buffer.from([0])]))).toEqual({ kind: 'corrupt', offset: begin, reason: 'frame_payload' });
  });

  it('calls a last frame torn whose header lies over two sectors, one of which is missing', () => {
    for (const inFirst of [1, 10, FRAME_HEADER_BYTES - 1]) {
      const filling = '"'.repeat(SECTOR_BYTES - SEGMENT_HEADER_BYTES - FRAME_HEADER_BYTES - inFirst);
      const { bytes, bounds } = segmentOf([filling, LONG]);
      const [, start = 0] = bounds;
      expect(SECTOR_BYTES - start).toBe(inFirst);

      expect(judged(zeroed(bytes, start, SECTOR_BYTES))).toEqual({ kind: 'torn', validBytes: start });
      expect(judged(zeroed(bytes, SECTOR_BYTES, 2 * SECTOR_BYTES))).toEqual({ kind: 'torn', validBytes: start });
    }
  });

  it('S-171: refuses a complete frame with a wrong checksum, even the last', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [, start = 0] = bounds;

    expect(judged(flipped(bytes, (bytes.length - 1) * 8))).toEqual({
      kind: 'corrupt',
      offset: start,
      reason: 'frame_payload',
    });
  });

  it('gives the frames before the damage, and none behind it', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}']);
    for (const [index, start] of bounds.slice(0, -1).entries()) {
      const verdict = scan(flipped(bytes, (start + FRAME_HEADER_BYTES) * 8));
      expect(verdict).toMatchObject({ kind: 'corrupt', offset: start });
      expect(verdict.frames.map(({ offset }) => offset)).toEqual(bounds.slice(0, index));
    }
  });

  it('refuses a last frame of which less than a sector is zero', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [, start = 0] = bounds;

    const holed = zeroed(bytes, SECTOR_BYTES, 2 * SECTOR_BYTES - 1);
    expect(judged(holed)).toEqual({ kind: 'corrupt', offset: start, reason: 'frame_payload' });
  });

  it('S-171: refuses a flipped bit in a length, which would make good frames look torn', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', '{"b":2}', '{"c":3}']);
    for (const start of bounds.slice(0, -1)) {
      for (let bit = 0; bit < 32; bit += 1) {
        expect(judged(flipped(bytes, (start + 4) * 8 + bit))).toEqual({
          kind: 'corrupt',
          offset: start,
          reason: 'frame_header',
        });
      }
    }
  });

  it('S-173: refuses a missing sector that a frame follows: what is there was complete once', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG, '{"c":3}']);
    const [, start = 0] = bounds;

    expect(judged(zeroed(bytes, SECTOR_BYTES, 2 * SECTOR_BYTES))).toMatchObject({ kind: 'corrupt', offset: start });
    expect(judged(zeroed(bytes, start, SECTOR_BYTES))).toMatchObject({ kind: 'corrupt', offset: start });
    const headless = zeroed(bytes, 0, SECTOR_BYTES);
    expect(judged(headless)).toEqual({ kind: 'corrupt', offset: 0, reason: 'segment_header' });
  });

  it('refuses a frame with a missing sector and anything behind it, for the final write ends the file', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [, start = 0] = bounds;
    const holed = zeroed(bytes, SECTOR_BYTES, 2 * SECTOR_BYTES);

    expect(judged(Buffer.concat([holed, Buffer.alloc(SECTOR_BYTES)]))).toMatchObject({ kind: 'corrupt', offset: start });
  });

  it('refuses what is no frame behind the last one, unless it is too short for a header', () => {
    const { bytes } = segmentOf(['{"a":1}']);
    const behind = (count: number): object => judged(Buffer.concat([bytes, Buffer.alloc(count, 'x')]));

    expect(behind(FRAME_HEADER_BYTES)).toEqual({ kind: 'corrupt', offset: bytes.length, reason: 'frame_header' });
    expect(behind(FRAME_HEADER_BYTES - 1)).toEqual({ kind: 'torn', validBytes: bytes.length });
  });

  it('refuses a gap and a repeat in the sequences, whole or torn', () => {
    const { bytes } = segmentOf(['{"a":1}', '{"b":2}']);
    for (const sequence of [1, 2, 4]) {
      const frame = encodeFrame(frameOf(sequence, 1, '{"c":3}'));
      for (const end of [frame.length, frame.length - 1]) {
        expect(judged(Buffer.concat([bytes, frame.subarray(0, end)]))).toEqual({
          kind: 'corrupt',
          offset: bytes.length,
          reason: 'frame_sequence',
        });
      }
    }
  });

  it('calls a last segment torn, and nothing of it valid, that has no whole first frame', () => {
    const { bytes, bounds } = segmentOf([LONG]);
    const [start = 0] = bounds;

    for (const end of [0, 1, SEGMENT_HEADER_BYTES - 1, SEGMENT_HEADER_BYTES, start + 5, bytes.length - 1]) {
      expect(judged(bytes.subarray(0, end))).toEqual({ kind: 'torn', validBytes: 0 });
    }
    expect(judged(zeroed(bytes, 0, SECTOR_BYTES))).toEqual({ kind: 'torn', validBytes: 0 });
    expect(judged(new Uint8Array(4 * SECTOR_BYTES))).toEqual({ kind: 'torn', validBytes: 0 });
  });

  it("refuses another session's segment, another place's, and another version's", () => {
    for (const { bytes } of [segmentOf(['{}'], 1, OTHER_ID), segmentOf(['{}'], 2)]) {
      expect(judged(bytes)).toEqual({ kind: 'corrupt', offset: 0, reason: 'segment_header' });
    }
  });

  it('S-172: calls nothing torn in a segment that is not the last', () => {
    const { bytes, bounds } = segmentOf(['{"a":1}', LONG]);
    const [first = 0, start = 0] = bounds;

    const cases: readonly (readonly [bytes: Uint8Array, offset: number])[] = [
      [bytes.subarray(0, bytes.length - 1), start],
      [bytes.subarray(0, start + 3), start],
      [zeroed(bytes, SECTOR_BYTES, 2 * SECTOR_BYTES), start],
      [Buffer.concat([bytes, Buffer.alloc(SECTOR_BYTES)]), bytes.length],
      [bytes.subarray(0, first), first],
      [bytes.subarray(0, 3), 0],
      [new Uint8Array(0), 0],
    ];
    for (const [damaged, offset] of cases) expect(scan(damaged, false)).toMatchObject({ kind: 'corrupt', offset });
  });
});
