/**
 * What is done about a session when a process meets it first, or again after its incarnation was discarded: what was left
 * open is closed, and what was asked for is carried out. Nothing is sent again.
 */
import { recover } from '../machines/recover.ts';
import type { SessionRecord } from '../machines/records.ts';
import type { SessionState } from '../machines/replay.ts';
import type { Journal } from '../storage/journal.ts';
import type { Clock, Log } from './ports.ts';
import { decodeRecords, encodeRecord, payloadOf, timed } from './record-codec.ts';

export interface RecoveryServices {
  readonly clock: Clock;
  readonly log: Log;
  /** Told of each session that had something left open. */
  onRecovered(sessionId: string): void;
}

/** Commits what closes what was left open, and moves the state on. Null: the session was at rest. */
export async function recoverSession(
  journal: Journal,
  state: SessionState,
  services: RecoveryServices,
): Promise<{ readonly records: readonly SessionRecord[]; readonly payloadBytes: number } | null> {
  const decided = recover(state.snapshot);
  if (decided.length === 0) return null;
  const recorded_at = Math.max(services.clock.now(), state.facts.recorded_at);
  const payload = payloadOf(decided.map((record) => encodeRecord(timed(record, recorded_at))));
  await journal.append({ firstSequence: state.lastSequence + 1, recordCount: decided.length, payload });
  const records = decodeRecords(payload);
  for (const record of records) state.apply(record);
  services.onRecovered(journal.sessionId);
  services.log.info('session_recovered', { session_id: journal.sessionId, state: state.state, records: records.length });
  return { records, payloadBytes: payload.length };
}
