/**
 * Reading a session's journal in pages: the records, the public events, and one that is looked for.
 *
 *   H1. A page covers a bounded number of bytes of frames, private ones included; its cursor advances even where the
 *       page is empty. If the next item's frame alone is over the bound, the page is exactly that item.
 */
import { publicEventOf, type PublicEvent } from '../machines/projections/public-events.ts';
import type { RecordType, Sequence, SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import { ServiceError } from './errors.ts';
import { recordsAfter } from './record-codec.ts';
import type { Page, PageQuery } from './session-service.ts';

const PAGE_BYTES_MAX = 8 * 1024 * 1024;
// A follower reads on in small steps: one that stalls holds no more than this, or the one frame that is larger.
const STEP_BYTES_MAX = 64 * 1024;

export function eventPage(
  journal: Journal,
  query: PageQuery & { readonly types?: readonly string[] },
): Promise<Page<PublicEvent>> {
  const types = query.types === undefined ? null : new Set(query.types);
  return page(journal, query, (record) => {
    const event = publicEventOf(record);
    return event !== null && (types === null || types.has(event.type)) ? event : null;
  });
}

export function recordPage(journal: Journal, query: PageQuery): Promise<Page<SessionRecord>> {
  return page(journal, query, (record) => record);
}

/** The next records after a sequence: those of a few small frames, or of one large. */
export async function someRecords(journal: Journal, after: Sequence): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  let bytes = 0;
  for await (const frame of journal.read(after)) {
    records.push(...recordsAfter(frame, after));
    bytes += frame.bytes;
    if (bytes >= STEP_BYTES_MAX) break;
  }
  return records;
}

/** Every record after a sequence, to the journal's end. */
export async function* recordsOf(journal: Journal, after: Sequence): AsyncGenerator<SessionRecord> {
  for await (const frame of journal.read(after)) yield* recordsAfter(frame, after);
}

/** How far a reader at a cursor has seen all that it is shown: behind its last item lie only records that are none. */
export async function shownThrough(
  journal: Journal,
  after: Sequence,
  project: (record: SessionRecord) => unknown,
): Promise<Sequence> {
  let through = after;
  for await (const record of recordsOf(journal, after)) {
    if (project(record) !== null) break;
    through = record.sequence;
  }
  return through;
}

/** The journal's first record. */
export async function creationOf(journal: Journal): Promise<SessionRecord<'session_created'>> {
  const first = await recordAt(journal, 1);
  if (first?.type !== 'session_created') throw new ServiceError('internal', 'a session begins with its creation');
  return first;
}

async function recordAt<T extends RecordType>(journal: Journal, sequence: Sequence): Promise<SessionRecord<T> | SessionRecord | null> {
  for await (const frame of journal.read(sequence - 1)) {
    return recordsAfter(frame, sequence - 1)[0] ?? null;
  }
  return null;
}

async function page<T>(
  journal: Journal,
  { after, limit }: PageQuery,
  project: (record: SessionRecord) => T | null,
): Promise<Page<T>> {
  assertCursor(journal, after);
  const items: T[] = [];
  let cursor = after;
  let bytes = 0;
  for await (const frame of journal.read(after)) {
    bytes += frame.bytes;
    const isOver = bytes > PAGE_BYTES_MAX;
    if (isOver && cursor > after) break;
    for (const record of recordsAfter(frame, after)) {
      cursor = record.sequence;
      const item = project(record);
      if (item !== null) items.push(item);
      if (items.length >= limit || (isOver && item !== null)) return { items, next_cursor: cursor };
    }
  }
  return { items, next_cursor: cursor };
}

/** A cursor past the end is another session's: following it would miss what is still to come. */
export function assertCursor(journal: Journal, after: Sequence): void {
  if (after <= journal.lastSequence) return;
  throw new ServiceError('invalid_cursor', `this session has ${journal.lastSequence} records; no cursor of it is ${after}`);
}
