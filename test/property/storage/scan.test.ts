/**
 * The verdict on a damaged segment, against an oracle that knows what was written and what was done to it. Payloads are
 * JSON, as everywhere: texts of strings and numbers, without a zero byte.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FRAME_HEADER_BYTES, SECTOR_BYTES } from '../../../storage/frame.ts';
import { scanSegment, type ScanVerdict } from '../../../storage/scan.ts';
import { frameOf, ID, textOf } from '../../support/frames.ts';
import { flipped, segmentOf, zeroed, type BuiltSegment } from '../../support/segments.ts';

const payload = fc
  .record({ text: fc.string({ unit: 'grapheme', maxLength: 40 }), repeat: fc.integer({ min: 1, max: 60 }) })
  .map(({ text, repeat }) => JSON.stringify({ text: text.repeat(repeat) }));
const segment = fc.array(payload, { minLength: 1, maxLength: 8 }).map((payloads) => segmentOf(payloads));

function headerAt(bytes: Uint8Array, bound: number): Uint8Array {
  return bytes.subarray(bound, bound + FRAME_HEADER_BYTES);
}

function scan(bytes: Uint8Array, isLast = true): ScanVerdict {
  return scanSegment(bytes, { sessionId: ID, firstSequence: 1, isLast });
}

/** Where the frame begins that a byte belongs to; 0 for the segment's header. */
function startOf({ bounds }: BuiltSegment, at: number): number {
  return bounds.findLast((bound) => bound <= at) ?? 0;
}

/** What is left when everything from a frame on is cut off: nothing, where that is the first. */
function validBefore({ bounds }: BuiltSegment, start: number): number {
  return start <= (bounds[0] ?? 0) ? 0 : start;
}

const SMALL = segmentOf(['{"a":1}', `{"b":"${'x'.repeat(900)}"}`, '[]', '{"d":{"e":[1,2,3]}}']);

describe('the scan of a segment', () => {
  it('S-174: cut anywhere, keeps every frame that is whole, and calls the rest torn only where it ends the journal', () => {
    for (let length = 0; length < SMALL.bytes.length; length += 1) {
      const bytes = SMALL.bytes.subarray(0, length);
      const start = startOf(SMALL, length);
      const isWhole = SMALL.bounds.slice(1).includes(length);

      const verdict = scan(bytes);
      if (isWhole) expect(verdict).toMatchObject({ kind: 'clean' });
      else expect(verdict).toMatchObject({ kind: 'torn', validBytes: validBefore(SMALL, start) });
      expect(verdict.kind !== 'corrupt' && verdict.frames.length).toBe(
        SMALL.bounds.slice(1).filter((bound) => bound <= length).length,
      );

      expect(scan(bytes, false).kind).toBe(isWhole ? 'clean' : 'corrupt');
    }
  });

  it('S-171: calls any one flipped bit damage, at the place of its frame', () => {
    for (let bit = 0; bit < SMALL.bytes.length * 8; bit += 1) {
      const verdict = scan(flipped(SMALL.bytes, bit));
      if (verdict.kind !== 'corrupt' || verdict.offset !== startOf(SMALL, bit >> 3)) {
        expect.fail(`bit ${bit}: ${JSON.stringify(verdict)}`);
      }
    }
  });

  it('calls any one flipped bit damage, in any segment', () => {
    fc.assert(
      fc.property(segment, fc.nat(), (built, drawn) => {
        const bit = drawn % (built.bytes.length * 8);
        expect(scan(flipped(built.bytes, bit))).toMatchObject({ kind: 'corrupt', offset: startOf(built, bit >> 3) });
      }),
      { numRuns: 2_000 },
    );
  });

  it('after a power cut of the last write, whichever sectors it took, keeps what was before and nothing else', () => {
    fc.assert(
      fc.property(segment, payload, fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }), fc.nat(), (built, text, kept, cut) => {
        const written = Buffer.concat([
          built.bytes,
          encodeFrame(frameOf(built.bounds.length, 1, text)),
        ]);
        // The length is the old one, or that of some piece of the write.
        const length = built.bytes.length + (cut % (written.length - built.bytes.length + 1));
        let bytes: Uint8Array = written.subarray(0, length);
        let isWhole = length === written.length;
        let start = built.bytes.length;
        for (let index = 0; start < length; index += 1) {
          const end = Math.min(length, start - (start % SECTOR_BYTES) + SECTOR_BYTES);
          if (kept[index % kept.length] !== true) {
            bytes = zeroed(bytes, start, end);
            isWhole = false;
          }
          start = end;
        }

        const verdict = scan(bytes);

        if (isWhole || length === built.bytes.length) expect(verdict).toMatchObject({ kind: 'clean' });
        else expect(verdict).toMatchObject({ kind: 'torn', validBytes: built.bytes.length });
      }),
      { numRuns: 3_000 },
    );
  });

  it('with one sector of zeros, cuts only what no frame follows', () => {
    fc.assert(
      fc.property(segment, fc.nat(), (built, drawn) => {
        const sectors = Math.ceil(built.bytes.length / SECTOR_BYTES);
        const from = (drawn % sectors) * SECTOR_BYTES;
        const to = Math.min(built.bytes.length, from + SECTOR_BYTES);

        const left = zeroed(built.bytes, from, to);
        const verdict = scan(left);

        const start = startOf(built, from);
        const followers = built.bounds.slice(0, -1).filter((bound) => bound > start);
        // A frame's header reads only if the zeros change no byte of it: those that they fall on may have been zero.
        const reads = (bound: number): boolean => Buffer.compare(headerAt(left, bound), headerAt(built.bytes, bound)) === 0;
        const isFollowed = followers.some(reads);
        const isHeaderLeft = start > 0 && reads(start);
        const isLast = isHeaderLeft ? followers.length === 0 : !isFollowed;
        if (isLast) expect(verdict).toMatchObject({ kind: 'torn', validBytes: validBefore(built, start) });
        else expect(verdict).toMatchObject({ kind: 'corrupt', offset: start });
      }),
      { numRuns: 3_000 },
    );
  });

  it('S-173: never finds a frame that was not written there, whatever is done to the bytes', () => {
    const damage = fc.oneof(
      fc.record({ kind: fc.constant('repeat' as const), from: fc.nat(), to: fc.nat(), count: fc.integer({ min: 1, max: 600 }) }),
      fc.record({ kind: fc.constant('overwrite' as const), at: fc.nat(), bytes: fc.uint8Array({ minLength: 1, maxLength: 600 }) }),
      fc.record({ kind: fc.constant('drop' as const), at: fc.nat(), count: fc.integer({ min: 1, max: 600 }) }),
    );
    fc.assert(
      fc.property(segment, fc.array(damage, { minLength: 1, maxLength: 3 }), fc.boolean(), (built, damages, isLast) => {
        let bytes = Buffer.from(built.bytes);
        for (const done of damages) {
          const at = (offset: number): number => offset % (bytes.length + 1);
          if (done.kind === 'repeat') {
            const piece = bytes.subarray(at(done.from), at(done.from) + done.count);
            bytes = Buffer.concat([bytes.subarray(0, at(done.to)), piece, bytes.subarray(at(done.to))]);
          } else if (done.kind === 'overwrite') {
            bytes.set(done.bytes.subarray(0, bytes.length - at(done.at)), at(done.at));
          } else {
            bytes = Buffer.concat([bytes.subarray(0, at(done.at)), bytes.subarray(at(done.at) + done.count)]);
          }
        }

        const verdict = scan(bytes, isLast);

        if (verdict.kind === 'corrupt') return;
        verdict.frames.forEach(({ offset, firstSequence, payloadBytes }, index) => {
          const [start, end] = [built.bounds[index] ?? -1, built.bounds[index + 1] ?? -1];
          expect([offset, firstSequence]).toEqual([start, index + 1]);
          const read = bytes.subarray(offset + FRAME_HEADER_BYTES, offset + FRAME_HEADER_BYTES + payloadBytes);
          expect(textOf(read)).toBe(textOf(built.bytes.subarray(start + FRAME_HEADER_BYTES, end)));
        });
      }),
      { numRuns: 3_000 },
    );
  });
});
