/** `brain journal print | verify | stat`: each makes lines, and notes in the verdict what it passed. Nothing is written. */
import { SessionState } from '../../machines/replay.ts';
import { readSegments, type ReadSegment, type SegmentsPlace } from '../../services/read-segments.ts';
import type { Disk } from '../../storage/disk.ts';
import { LocateError } from './locate.ts';
import { troubleOf, type Verdict } from './verdict.ts';

export interface JournalCommandParts {
  readonly disk: Disk;
  readonly sessions: readonly SegmentsPlace[];
  readonly verdict: Verdict;
  /** Takes what is wrong with a segment, where the lines themselves are records. */
  readonly warn: (line: string) => void;
}

export type JournalCommand = (parts: JournalCommandParts) => AsyncGenerator<string, void, void>;

export const JOURNAL_COMMANDS: Readonly<Record<'print' | 'verify' | 'stat', JournalCommand>> = { print, verify, stat };

/** One record a line, as JSON. */
async function* print({ disk, sessions, verdict, warn }: JournalCommandParts): AsyncGenerator<string, void, void> {
  const [session] = sessions;
  // A record does not say whose it is: the lines of two sessions could not be told apart.
  if (session === undefined || sessions.length > 1) {
    throw new LocateError(`there are ${sessions.length} sessions here: name the directory of one of them, sessions/ID`);
  }
  for await (const segment of readSegments(disk, session, SessionState.empty())) {
    verdict.note(segment);
    for (const record of segment.records) yield JSON.stringify(record);
    const trouble = troubleOf(segment);
    if (trouble !== null) warn(`${segment.name}: ${trouble}`);
  }
}

/** One segment a line, then all of them together. */
async function* verify({ disk, sessions, verdict }: JournalCommandParts): AsyncGenerator<string, void, void> {
  for (const session of sessions) {
    for await (const segment of readSegments(disk, session, SessionState.empty())) {
      verdict.note(segment);
      yield `${segment.name}: ${troubleOf(segment) ?? 'clean'}; ${recordsIn(segment)}, ${segment.bytes} bytes`;
    }
  }
  yield verdict.toString();
}

/** Records and bytes by type, the largest first, then all of them together. */
async function* stat({ disk, sessions, verdict, warn }: JournalCommandParts): AsyncGenerator<string, void, void> {
  const sizes = new Map<string, { records: number; bytes: number }>();
  const total = { records: 0, bytes: 0 };
  let fileBytes = 0;
  for (const session of sessions) {
    for await (const segment of readSegments(disk, session, SessionState.empty())) {
      verdict.note(segment);
      fileBytes += segment.bytes;
      for (const record of segment.records) {
        const bytes = Buffer.byteLength(JSON.stringify(record));
        const size = sizes.get(record.type) ?? { records: 0, bytes: 0 };
        sizes.set(record.type, size);
        for (const sum of [size, total]) {
          sum.records += 1;
          sum.bytes += bytes;
        }
      }
      const trouble = troubleOf(segment);
      if (trouble !== null) warn(`${segment.name}: ${trouble}`);
    }
  }
  yield sizeLine('records', 'bytes', 'type');
  const bySize = [...sizes].toSorted(([, a], [, b]) => b.bytes - a.bytes);
  for (const [type, size] of bySize) yield sizeLine(String(size.records), String(size.bytes), type);
  yield sizeLine(String(total.records), String(total.bytes), 'all records, as JSON');
  yield `sessions: ${sessions.length}; bytes in their files: ${fileBytes}; ${verdict.toString()}`;
}

function sizeLine(records: string, bytes: string, type: string): string {
  return `${records.padStart(10)} ${bytes.padStart(14)}  ${type}`;
}

function recordsIn({ records }: ReadSegment): string {
  const first = records[0];
  const last = records.at(-1);
  return first === undefined || last === undefined ? 'no whole record' : `records ${first.sequence} to ${last.sequence}`;
}
