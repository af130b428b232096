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

/** The public event that a record is; null for a private one. */
export function publicEventOf(record: SessionRecord): PublicEvent | null {
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
  if (record.type === 'transcript_delta') {
    if (record.data.replaces === undefined) return null;
    return { sequence, recorded_at, type: 'transcript_replaced', data: record.data };
  }
  if (RECORD_VISIBILITY[record.type] !== 'public') return null;
  return { sequence, recorded_at, type: record.type, data: record.data };
}
