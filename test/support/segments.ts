/** The bytes of segments, and where each frame of them lies. */
import { encodeFrame, encodeSegmentHeader } from '../../storage/frame.ts';
import { ID } from './frames.ts';

export interface BuiltSegment {
  readonly bytes: Uint8Array;
  /** Where each frame begins, and, as the last, where the file ends. */
  readonly bounds: readonly number[];
}

/** A segment of one frame for each payload, of one record each. */
export function segmentOf(payloads: readonly string[], firstSequence = 1, sessionId = ID): BuiltSegment {
  const parts = [
    encodeSegmentHeader(sessionId, firstSequence),
    ...payloads.map((text, index) =>
      encodeFrame({ firstSequence: firstSequence + index, recordCount: 1, payload: Buffer.from(text) }),
    ),
  ];
  const bounds: number[] = [];
  let length = 0;
  for (const part of parts) bounds.push((length += part.length));
  return { bytes: Uint8Array.from(Buffer.concat(parts)), bounds };
}

export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

export function zeroed(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.from(bytes).fill(0, start, end);
}
