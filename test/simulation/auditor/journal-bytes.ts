/**
 * The auditor's own reading of a journal's bytes, after `docs/journal-format.md`: it shares no code with what wrote them.
 */
import { crc32 } from 'node:zlib';

export interface WrittenRecord {
  readonly sequence: number;
  readonly recorded_at: number;
  readonly type: string;
  readonly state: string;
  readonly request?: { readonly key: string; readonly route: string; readonly body: string };
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WrittenFrame {
  readonly records: readonly WrittenRecord[];
}

export interface JournalReading {
  readonly frames: readonly WrittenFrame[];
  /** Where the first byte that does not read stands; null where all of it does. */
  readonly unreadAt: { readonly file: string; readonly offset: number } | null;
}

const SEGMENT_NAME = /(\d{16})\.segment$/;
const SEGMENT_HEADER = 40;
const FRAME_HEADER = 28;

/** `files`: those of the session's `journal/`, by path. */
export function readJournal(files: ReadonlyMap<string, Uint8Array>): JournalReading {
  const frames: WrittenFrame[] = [];
  const segments = [...files].filter(([path]) => SEGMENT_NAME.test(path)).sort(([a], [b]) => (a < b ? -1 : 1));
  let next = 1;
  for (const [path, bytes] of segments) {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const first = Number(SEGMENT_NAME.exec(path)?.[1]);
    if (first !== next || !isSegmentHeader(view, first)) return { frames, unreadAt: { file: path, offset: 0 } };
    let offset = SEGMENT_HEADER;
    while (offset < view.length) {
      const frame = frameAt(view, offset, next);
      if (frame === null) return { frames, unreadAt: { file: path, offset } };
      frames.push({ records: frame.records });
      next += frame.records.length;
      offset = frame.end;
    }
  }
  return { frames, unreadAt: null };
}

function isSegmentHeader(view: Buffer, first: number): boolean {
  if (view.length < SEGMENT_HEADER || view.toString('latin1', 0, 8) !== 'BRAINSEG') return false;
  if (view.readUInt32BE(8) !== 1 || Number(view.readBigUInt64BE(28)) !== first) return false;
  return crc32(view.subarray(0, 36)) === view.readUInt32BE(36);
}

function frameAt(view: Buffer, offset: number, next: number): { readonly records: readonly WrittenRecord[]; readonly end: number } | null {
  if (view.length - offset < FRAME_HEADER || view.readUInt32BE(offset) !== 0xfe46524d) return null;
  if (crc32(view.subarray(offset, offset + 24)) !== view.readUInt32BE(offset + 24)) return null;
  const end = offset + FRAME_HEADER + view.readUInt32BE(offset + 4);
  if (end > view.length || Number(view.readBigUInt64BE(offset + 8)) !== next) return null;
  const payload = view.subarray(offset + FRAME_HEADER, end);
  if (crc32(payload) !== view.readUInt32BE(offset + 20)) return null;
  const records = JSON.parse(payload.toString('utf8')) as readonly WrittenRecord[];
  return records.length === view.readUInt32BE(offset + 16) ? { records, end } : null;
}
