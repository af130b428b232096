/** A session with environments whose process dies at any call of the disk, from its creation to its removal. */
import { describe, expect, it } from 'vitest';
import type { SessionRecord } from '../../../machines/records.ts';
import { brainWith, createKey, createOn, deleteKey } from '../../support/declared-environments.ts';
import { TENANT, type LivingBrain } from '../../support/living-brain.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const NAMES = ['home', 'laptop'];

async function live(brain: LivingBrain): Promise<void> {
  const { session_id } = await createOn(brain, NAMES, createKey());
  await brain.sessions.end(TENANT, session_id);
  await brain.sessions.delete(TENANT, session_id, deleteKey());
}

function openIn(records: readonly SessionRecord[]): readonly string[] {
  const ended = new Set(records.map(({ data }) => ('started_sequence' in data ? data.started_sequence : null)));
  return records.filter(({ type, sequence }) => type.startsWith('environment_') && type.endsWith('_started') && !ended.has(sequence)).map(({ type }) => type);
}

/** How many calls of the disk a life without a death takes. */
async function callsOfALife(): Promise<number> {
  const brain = await brainWith(NAMES);
  let calls = 0;
  brain.disk.plan = () => void (calls += 1);
  await live(brain);
  return calls;
}

describe('a session with environments, whatever call of the disk its process dies at', () => {
  it.each(['before', 'after'] as const)('S-143, S-150, S-153: has nothing open after it, and nothing is sent twice (%s the call)', async (dies) => {
    const calls = await callsOfALife();
    const seen = { left: 0, ambiguous: 0, gone: 0 };
    for (let at = 0; at < calls; at += 1) {
      const brain = await brainWith(NAMES);
      let call = 0;
      brain.disk.plan = () => (call++ === at ? { dies } : undefined);
      void live(brain).catch(() => undefined);
      await brain.hasDied;
      brain.disk.plan = () => undefined;
      const asked = brain.environments.asked.length;
      const next = await brain.restart();

      const { sessions } = await next.sessions.list(TENANT, { after: '', limit: 10 });
      for (const { session_id } of sessions) expect(openIn(await next.journal(session_id)), `call ${at}`).toEqual([]);
      const code = await createOn(next, NAMES, createKey()).then(
        ({ session_id }) => session_id,
        (error: unknown) => (error as { readonly code: string }).code,
      );
      const isUnclaimed = next.environments.asked.length > asked;
      // A key that was never claimed made a session now. Any other was answered from what is there.
      if (isUnclaimed) expect([asked, sessions.length]).toEqual([0, 0]);
      seen.ambiguous += code === 'idempotency_ambiguous' ? 1 : 0;
      seen.gone += sessions.length === 0 && asked > 0 ? 1 : 0;
      for (const { session_id } of sessions) {
        seen.left += 1;
        await next.sessions.end(TENANT, session_id);
        await next.sessions.delete(TENANT, session_id, deleteKey('another'));
        await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
      }
      await quiescence();
      expect(next.environments.sentTwice, `call ${at}`).toEqual([]);
    }
    expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
  });
});
