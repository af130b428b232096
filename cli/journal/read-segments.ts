/** A journal's segments with their records, each judged by its bytes, and by a replay of what they say. */
import { ReplayError, SessionState } from '../../machines/replay.ts';
import type { SessionRecord } from '../../machines/records.ts';
import { decodeRecords } from '../../services/record-codec.ts';
import type { Disk } from '../../storage/disk.ts';
import { SEGMENT_HEADER_BYTES } from '../../storage/frame.ts';
import { judgedSegments, type JudgedSegment, type Judgement } from '../../storage/judged-segments.ts';
import type { LocatedSession } from './locate.ts';

export interface ReadSegment {
  /** The session's directory and the segment's file. */
  readonly name: string;
  readonly bytes: number;
  readonly judgement: Judgement;
  readonly records: readonly ReadRecord[];
}

export interface ReadRecord {
  readonly record: SessionRecord;
  /** As JSON in UTF-8. */
  readonly bytes: number;
}

/** After a damaged segment none follows. */
export async function* readSegments(disk: Disk, session: LocatedSession): AsyncGenerator<ReadSegment, void, void> {
  const state = SessionState.empty();
  for await (const segment of judgedSegments(disk, session.journal, session.sessionId)) {
    const read = readSegment(segment, state);
    yield { name: `${session.name}/${segment.file}`, bytes: segment.bytes, ...read };
    if (read.judgement.kind === 'damaged') return;
  }
}

function readSegment(segment: JudgedSegment, state: SessionState): Pick<ReadSegment, 'judgement' | 'records'> {
  const records: ReadRecord[] = [];
  let offset = SEGMENT_HEADER_BYTES;
  for (const frame of segment.frames) {
    try {
      for (const record of decodeRecords(frame.payload)) {
        state.apply(record);
        records.push({ record, bytes: Buffer.byteLength(JSON.stringify(record)) });
      }
    } catch (error) {
      const what = error instanceof ReplayError ? error.message : 'a frame holds no list of records';
      return { judgement: { kind: 'damaged', offset, what }, records };
    }
    offset += frame.bytes;
  }
  return { judgement: segment.judgement, records };
}
