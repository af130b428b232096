/** What the server answers, as far as the page reads it. */
import type { SessionStatus } from '../../../machines/projections/status.ts';
import type { SessionRecord } from '../../../machines/records.ts';

export interface ListedSession {
  readonly session_id: string;
  readonly tenant: string;
  readonly status: SessionStatus;
  readonly last_sequence: number;
  /** RFC 3339. */
  readonly last_recorded_at: string;
  readonly running_turn: number | null;
  readonly queue_length: number;
  /** RFC 3339. */
  readonly created_at: string;
  readonly agentloop: { readonly name: string };
  readonly model: { readonly provider: string; readonly name: string };
  readonly metadata: Readonly<Record<string, string>>;
  readonly explanation?: string;
}

export interface DamagedSession {
  readonly session_id: string;
  readonly damaged: true;
  readonly explanation: string;
}

export type SessionEntry = ListedSession | DamagedSession;

export interface SessionPage {
  readonly sessions: readonly SessionEntry[];
  readonly next_cursor: string | null;
}

export interface JournalPage {
  readonly records: readonly SessionRecord[];
  /** Where the next page begins; at the end, where this one began. */
  readonly next_cursor: number;
}

/** A piece of a model's answer while it is written; the whole of it is in a record later. */
export interface ModelDelta {
  readonly started_sequence: number;
  readonly text: string;
}
