/** The commits of a session: its frames, as the types of their records. */
import path from 'node:path';
import { decodeRecords } from '../../services/record-codec.ts';
import { FRAME_HEADER_BYTES } from '../../storage/frame.ts';
import { scanSegment } from '../../storage/scan.ts';
import { DATA, type LivingBrain } from './living-brain.ts';

/** From a record on that begins one. */
export function commitsOf({ disk }: LivingBrain, sessionId: string, after = 0): readonly (readonly string[])[] {
  return disk.files(`${DATA}/sessions/${sessionId}/journal`).flatMap((file) => {
    const bytes = disk.contents(file) ?? new Uint8Array();
    const firstSequence = Number.parseInt(path.basename(file), 16);
    const verdict = scanSegment(bytes, { sessionId, firstSequence, isLast: true });
    if (verdict.kind === 'corrupt') throw new Error(`${file} is damaged`);
    return verdict.frames
      .filter((frame) => frame.firstSequence > after)
      .map(({ offset, payloadBytes }) => decodeRecords(bytes.subarray(offset + FRAME_HEADER_BYTES, offset + FRAME_HEADER_BYTES + payloadBytes)))
      .map((records) => records.map(({ type }) => type));
  });
}
