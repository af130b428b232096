/** Why a session stands where it stands, from its state and the records that this names. */
import { explainedBy, explanationOf, type Explained } from '../machines/projections/explanation.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { ReadableJournal } from '../storage/journal.ts';
import { recordAt } from './history.ts';
import type { SessionRegistry } from './session-registry.ts';

/** Null where there is nothing to explain. */
export async function explain(registry: SessionRegistry, sessionId: string): Promise<string | null> {
  const explained = await registry.readState(
    sessionId,
    ({ state, context, facts }): Explained => ({ state, context, stop: facts.stop }),
  );
  return registry.read(sessionId, (journal) => explanationIn(journal, explained));
}

/** The same, of a state that is at hand. */
export async function explanationIn(journal: ReadableJournal, explained: Explained): Promise<string | null> {
  const records = new Map<Sequence, SessionRecord>();
  for (const sequence of explainedBy(explained)) {
    const record = await recordAt(journal, sequence);
    if (record !== null) records.set(sequence, record);
  }
  return explanationOf(explained, (sequence) => records.get(sequence));
}
