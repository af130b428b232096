/** A session as it was shown when one of its records was its last: a fold of the journal up to there. */
import { SessionState } from '../machines/replay.ts';
import type { SessionRecord } from '../machines/records.ts';
import type { Journal } from '../storage/journal.ts';
import { rowOf } from './catalog.ts';
import { recordsOf } from './history.ts';
import type { SessionView } from './session-service.ts';
import { viewOf } from './session-views.ts';

/** `isLast`: the record after which nothing counts. `isResident` is told as of now: no journal knows it. */
export async function viewAt(
  journal: Journal,
  isLast: (record: SessionRecord) => boolean,
  isResident: boolean,
): Promise<SessionView> {
  const state = SessionState.empty();
  for await (const record of recordsOf(journal, 0)) {
    state.apply(record);
    if (isLast(record)) break;
  }
  return viewOf(journal.sessionId, rowOf(state), state.facts.created, isResident);
}
