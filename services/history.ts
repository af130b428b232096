/**
 * Reading a session's journal in pages: the records, the public events, and one that is looked for.
 *
 *   H1. A page covers a bounded number of bytes of frames, private ones included; its cursor advances even where the
 *       page is empty. If the next item's frame alone is over the bound, the page is exactly that item.
 *   H2. A page of lifecycle events is empty at the end alone: its readers take an empty one for that.
 */
import {
  lifecycleEventsAfter,
  type LifecycleCursor,
  type LifecycleEvent,
} from '../machines/projections/lifecycle-events.ts';
import { publicEventOf, type PublicEvent } from '../machines/projections/public-events.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { ReadableJournal } from '../storage/journal.ts';
import { ServiceError } from './errors.ts';
import { recordsAfter } from './record-codec.ts';
import type { Page, PageQuery } from './session-service.ts';

const PAGE_BYTES_MAX = 8 * 1024 * 1024;
// A follower reads on in small steps: one that stalls holds no more than this, or the one frame that is larger.
const STEP_BYTES_MAX = 64 * 1024;

export async function eventPage(
  journal: ReadableJournal,
  query: PageQuery & { readonly types?: readonly string[] },
): Promise<Page<PublicEvent>> {
  assertCursor(journal, query.after);
  const types = query.types === undefined ? null : new Set(query.types);
  return page<PublicEvent, Sequence>(journal, query, {
    ...BY_SEQUENCE,
    itemsOf: (record) => publicEventsOf(record).filter(({ type }) => types === null || types.has(type)),
  });
}

export async function recordPage(journal: ReadableJournal, query: PageQuery): Promise<Page<SessionRecord>> {
  assertCursor(journal, query.after);
  return page<SessionRecord, Sequence>(journal, query, { ...BY_SEQUENCE, itemsOf: (record) => [record] });
}

/** The public events that a record shows: itself, or none. */
export function publicEventsOf(record: SessionRecord): readonly PublicEvent[] {
  const event = publicEventOf(record);
  return event === null ? [] : [event];
}

/** A page may end between two events of one record. */
export async function lifecyclePage(
  journal: ReadableJournal,
  query: PageQuery<LifecycleCursor>,
): Promise<Page<LifecycleEvent, LifecycleCursor>> {
  assertCursor(journal, query.after.sequence);
  return page(journal, query, {
    mayBeEmpty: false,
    throughOf: seenWhole,
    itemsOf: lifecycleEventsAfter,
    cursorOf: ({ sequence, index }) => ({ sequence, index }),
    cursorPast: (sequence) => ({ sequence, index: null }),
  });
}

/** The last record of which a reader of lifecycle events has seen all. */
export function seenWhole({ sequence, index }: LifecycleCursor): Sequence {
  return index === null ? sequence : Math.max(0, sequence - 1);
}

/** The next records after a sequence: those of a few small frames, or of one large. */
export async function someRecords(journal: ReadableJournal, after: Sequence): Promise<readonly SessionRecord[]> {
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
export async function* recordsOf(journal: ReadableJournal, after: Sequence): AsyncGenerator<SessionRecord> {
  for await (const frame of journal.read(after)) yield* recordsAfter(frame, after);
}

/** How far a reader at a cursor has seen all that it is shown: behind its last item lie only records that are none. */
export async function shownThrough(
  journal: ReadableJournal,
  after: Sequence,
  project: (record: SessionRecord) => readonly unknown[],
): Promise<Sequence> {
  let through = after;
  for await (const record of recordsOf(journal, after)) {
    if (project(record).length > 0) break;
    through = record.sequence;
  }
  return through;
}

/** The journal's first record. */
export async function creationOf(journal: ReadableJournal): Promise<SessionRecord<'session_created'>> {
  const first = await recordAt(journal, 1);
  if (first?.type !== 'session_created') throw new ServiceError('internal', 'a session begins with its creation');
  return first;
}

export async function recordAt(journal: ReadableJournal, sequence: Sequence): Promise<SessionRecord | null> {
  for await (const frame of journal.read(sequence - 1)) {
    return recordsAfter(frame, sequence - 1)[0] ?? null;
  }
  return null;
}

/** How a page is read: what a reader at a cursor is shown of a record, and which cursors lie between. */
interface Reading<T, C> {
  /** Whether a page may be empty before the end. */
  readonly mayBeEmpty: boolean;
  /** The last record of which a reader at a cursor has seen all. */
  throughOf(cursor: C): Sequence;
  itemsOf(record: SessionRecord, cursor: C): readonly T[];
  cursorOf(item: T): C;
  cursorPast(sequence: Sequence): C;
}

const BY_SEQUENCE = {
  mayBeEmpty: true,
  throughOf: (cursor: Sequence) => cursor,
  cursorOf: ({ sequence }: { readonly sequence: Sequence }) => sequence,
  cursorPast: (sequence: Sequence) => sequence,
};

async function page<T, C>(journal: ReadableJournal, { after, limit }: PageQuery<C>, reading: Reading<T, C>): Promise<Page<T, C>> {
  const through = reading.throughOf(after);
  const items: T[] = [];
  let cursor = after;
  let bytes = 0;
  for await (const frame of journal.read(through)) {
    bytes += frame.bytes;
    const isOver = bytes > PAGE_BYTES_MAX;
    if (isOver && reading.throughOf(cursor) > through && (items.length > 0 || reading.mayBeEmpty)) break;
    for (const record of recordsAfter(frame, through)) {
      for (const item of reading.itemsOf(record, after)) {
        items.push(item);
        cursor = reading.cursorOf(item);
        if (items.length >= limit || isOver) return { items, next_cursor: cursor };
      }
      cursor = reading.cursorPast(record.sequence);
    }
  }
  return { items, next_cursor: cursor };
}

/** A cursor past the end is another session's: following it would miss what is still to come. */
export function assertCursor(journal: ReadableJournal, after: Sequence): void {
  if (after <= journal.lastSequence) return;
  throw new ServiceError('invalid_cursor', `this session has ${journal.lastSequence} records; no cursor of it is ${after}`);
}
