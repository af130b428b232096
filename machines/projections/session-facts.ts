/** What is told of a session beside its status: how it was created, its metadata, and when it last changed in public. */
import type { Metadata, Sequence, SessionCreated, SessionRecord } from '../records.ts';
import { isPublic } from './public-events.ts';

/** The state that a resume goes back to: the creation's end, or the last completed turn's. */
export interface Checkpoint {
  /** The record that set it. */
  readonly sequence: Sequence;
  /** 0 for the creation's, its opening conversation included; else the sequence. */
  readonly offset: Sequence;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
}

export interface SessionFacts {
  readonly created: SessionCreated;
  readonly metadata: Metadata;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** The last public record's time. */
  readonly updated_at: number;
  /** The last record's time, public or private: no later record may be before it. */
  readonly recorded_at: number;
  /** Null until the session is created. */
  readonly checkpoint: Checkpoint | null;
  /** The `turn_failed` or `session_failed` after which no turn has started and nothing was resumed; else null. */
  readonly stop: Sequence | null;
}

export function factsAfter(before: SessionFacts | null, record: SessionRecord): SessionFacts | null {
  const { recorded_at } = record;
  if (record.type === 'session_created') {
    const created = record.data;
    const { metadata } = created;
    return { created, metadata, created_at: recorded_at, updated_at: recorded_at, recorded_at, checkpoint: null, stop: null };
  }
  if (before === null) return null;
  return {
    created: before.created,
    metadata: record.type === 'session_metadata_changed' ? record.data.metadata : before.metadata,
    created_at: before.created_at,
    updated_at: isPublic(record) ? recorded_at : before.updated_at,
    recorded_at,
    checkpoint: checkpointSetBy(record) ?? before.checkpoint,
    stop: stopAfter(before.stop, record),
  };
}

function checkpointSetBy({ type, sequence, recorded_at }: SessionRecord): Checkpoint | null {
  if (type === 'session_ready') return { sequence, offset: 0, recorded_at };
  return type === 'turn_ended' ? { sequence, offset: sequence, recorded_at } : null;
}

function stopAfter(before: Sequence | null, { type, sequence }: SessionRecord): Sequence | null {
  switch (type) {
    case 'turn_failed':
    case 'session_failed':
      return sequence;
    case 'turn_started':
    case 'session_resumed':
      return null;
    default:
      return before;
  }
}
