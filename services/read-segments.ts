/** A journal's segments with their records, each judged by its bytes, and by a replay of what they say. Nothing is written. */
import { posix } from 'node:path';
import { ReplayError, type SessionState } from '../machines/replay.ts';
import type { SessionRecord } from '../machines/records.ts';
import type { Disk } from '../storage/disk.ts';
import { SEGMENT_HEADER_BYTES } from '../storage/frame.ts';
import { judgedSegments, type JudgedSegment, type Judgement } from '../storage/judged-segments.ts';
import { decodeRecords } from './record-codec.ts';

/** Where a session's segments are. */
export interface SegmentsPlace {
  /** Null where nothing but the journal says whose it is. */
  readonly sessionId: string | null;
  /** How their directory is called, for messages. */
  readonly name: string;
  /** Their directory. */
  readonly journal: string;
}

export interface ReadSegment {
  /** Its file, in the directory as that is called. */
  readonly name: string;
  readonly bytes: number;
  readonly judgement: Judgement;
  /** Of the whole commits: where one record of a commit is refused, none of it counts. */
  readonly records: readonly SessionRecord[];
}

/** After a damaged segment none follows. `state`: that of no session, which evolves on the way; damage leaves it spent. */
export async function* readSegments(disk: Disk, place: SegmentsPlace, state: SessionState): AsyncGenerator<ReadSegment, void, void> {
  for await (const segment of judgedSegments(disk, place.journal, place.sessionId)) {
    const read = readSegment(segment, state);
    yield { name: posix.join(place.name, segment.file), bytes: segment.bytes, ...read };
    if (read.judgement.kind === 'damaged') return;
  }
}

function readSegment(segment: JudgedSegment, state: SessionState): Pick<ReadSegment, 'judgement' | 'records'> {
  const records: SessionRecord[] = [];
  let offset = SEGMENT_HEADER_BYTES;
  for (const frame of segment.frames) {
    try {
      const commit = decodeRecords(frame.payload);
      for (const record of commit) state.apply(record);
      records.push(...commit);
    } catch (error) {
      const what = error instanceof ReplayError ? error.message : 'a frame holds no list of records';
      return { judgement: { kind: 'damaged', offset, what }, records };
    }
    offset += frame.bytes;
  }
  return { judgement: segment.judgement, records };
}
