/** What is told of a session beside its status: how it was created, its metadata, and when it last changed in public. */
import type { Metadata, SessionCreated, SessionRecord } from '../records.ts';
import { publicEventOf } from './public-events.ts';

export interface SessionFacts {
  readonly created: SessionCreated;
  readonly metadata: Metadata;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** The last public record's time. */
  readonly updated_at: number;
  /** The last record's time, public or private: no later record may be before it. */
  readonly recorded_at: number;
}

export function factsAfter(before: SessionFacts | null, record: SessionRecord): SessionFacts | null {
  const { recorded_at } = record;
  if (record.type === 'session_created') {
    const created = record.data;
    return { created, metadata: created.metadata, created_at: recorded_at, updated_at: recorded_at, recorded_at };
  }
  if (before === null) return null;
  return {
    ...before,
    metadata: record.type === 'session_metadata_changed' ? record.data.metadata : before.metadata,
    updated_at: publicEventOf(record) === null ? before.updated_at : recorded_at,
    recorded_at,
  };
}
