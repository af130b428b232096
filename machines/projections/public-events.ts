/**
 * Public events: the public records themselves, each under its own sequence. Every event is projected from its record
 * alone, so that a reader can begin anywhere.
 */
import type { JsonValue } from '../messages.ts';
import { RECORD_VISIBILITY, type Origin, type Sequence, type SessionRecord } from '../records.ts';

export interface PublicEvent {
  readonly sequence: Sequence;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
  readonly type: string;
  readonly data: unknown;
  /** Only on extension events, and assigned by Brain; an event without one is not authenticated. */
  readonly origin?: Origin;
}

export function isPublic(record: SessionRecord): boolean {
  if (record.type === 'extension_emitted') return true;
  if (record.type === 'transcript_delta') return record.data.replaces !== undefined;
  return RECORD_VISIBILITY[record.type] === 'public';
}

/** The public event that a record is; null for a private one. */
export function publicEventOf(record: SessionRecord): PublicEvent | null {
  if (!isPublic(record)) return null;
  const { sequence, recorded_at } = record;
  if (record.type === 'extension_emitted') {
    const { name, data, origin } = record.data;
    const event: { sequence: Sequence; recorded_at: number; type: string; data: JsonValue } = {
      sequence,
      recorded_at,
      type: name,
      data,
    };
    return origin === undefined ? event : { ...event, origin };
  }
  const type = record.type === 'transcript_delta' ? 'transcript_replaced' : record.type;
  return { sequence, recorded_at, type, data: record.data };
}
