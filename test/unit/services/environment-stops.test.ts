/** What becomes of the operations of environments when the server stops, or a session's journal is lost. */
import { describe, expect, it } from 'vitest';
import { plan } from '../../support/disk-faults.ts';
import { brainWith, createKey, createOn, recordsOf } from '../../support/declared-environments.ts';
import { gate } from '../../support/gate.ts';
import { TENANT, type LivingBrain } from '../../support/living-brain.ts';
import { ACCEPTED, willing, type SentToEnvironment } from '../../support/scripted-environments.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const BOUND_MS = 5_000;
const CLEANUP_MS = 10_000;

function watched(promise: Promise<unknown>): { isDone: boolean } {
  const state = { isDone: false };
  void promise.finally(() => (state.isDone = true)).catch(() => undefined);
  return state;
}

/** A brain with a setup that waits for its answer. */
async function settingUp(): Promise<{ brain: LivingBrain; created: Promise<unknown>; sent: SentToEnvironment; session_id: string }> {
  const brain = await brainWith(['home'], () => 'waits', { limits: { cancelMs: CLEANUP_MS } });
  const created = createOn(brain, ['home'], createKey()).catch((error: unknown) => error);
  const sent = await brain.environments.first('setup');
  return { brain, created, sent, session_id: sent.call.operation.session_id };
}

describe('a drain', () => {
  it('S-217: waits for a setup that is under way, and its create gets its answer', async () => {
    const { brain, created, sent, session_id } = await settingUp();
    const drained = watched(brain.brain.drain(null));
    await quiescence();
    await expect(createOn(brain, ['home'])).rejects.toMatchObject({ code: 'draining' });
    expect(drained.isDone).toBe(false);
    sent.answer(ACCEPTED);

    expect(await created).toMatchObject({ session_id, status: 'idle' });
    await quiescence();
    expect(drained.isDone).toBe(true);
  });

  it('waits for a detach, though nobody waits for its answer', async () => {
    const brain = await brainWith(['home'], willing);
    const { session_id } = await createOn(brain, ['home']);
    brain.environments.script = () => 'waits';
    await brain.sessions.close(TENANT, session_id);
    const sent = await brain.environments.first('detach');
    const drained = watched(brain.brain.drain(null));
    await quiescence();
    expect(drained.isDone).toBe(false);
    sent.answer(ACCEPTED);
    await quiescence();

    expect(drained.isDone).toBe(true);
    expect((await brain.types(session_id)).at(-1)).toBe('session_ended');
  });

  it('stops at its bound what is under way, tells its executor, and waits for that within the cleanup bound', async () => {
    const { brain, created, sent, session_id } = await settingUp();
    sent.stops = gate().opened;
    const drained = watched(brain.brain.drain(BOUND_MS));
    await brain.clock.advance(BOUND_MS);

    expect(await created).toMatchObject({ code: 'environment_failed' });
    const [failed] = await recordsOf(brain, session_id, 'environment_setup_failed');
    expect(failed?.data).toMatchObject({ outcome: 'cancelled', code: 'shutdown' });
    expect(sent.closes).toEqual([failed?.sequence]);
    expect(drained.isDone).toBe(false);
    await brain.clock.advance(CLEANUP_MS);
    expect(drained.isDone).toBe(true);
  });

  it('sends nothing that begins after its bound', async () => {
    const brain = await brainWith(['home'], willing);
    const held = gate();
    const { session_id } = await createOn(brain, ['home']);
    plan(brain.disk, { kinds: ['sync'], sessionId: session_id }, { start: held.opened });
    const ended = brain.sessions.end(TENANT, session_id);
    await quiescence();
    const drained = brain.brain.drain(BOUND_MS);
    await brain.clock.advance(BOUND_MS);
    held.open();
    await drained;
    await ended;

    expect(brain.environments.asked).toEqual(['setup home']);
    expect(await recordsOf(brain, session_id, 'environment_detach_failed')).toMatchObject([{ data: { outcome: 'failed', code: 'shutdown' } }]);
  });
});

describe('a session whose journal is lost in a setup', () => {
  it('lets go of it, and is opened again when its executor has stopped, or the cleanup bound is over', async () => {
    const { brain, created, sent, session_id } = await settingUp();
    sent.stops = gate().opened;
    plan(brain.disk, { kinds: ['sync'], sessionId: session_id }, { fails: 'EIO' });
    await expect(brain.sessions.changeMetadata(TENANT, session_id, { a: 'b' })).rejects.toMatchObject({ code: 'journal_unavailable' });
    brain.disk.plan = () => undefined;
    await quiescence();

    expect(sent.closes).toEqual([null]);
    const looked = watched(brain.sessions.get(TENANT, session_id));
    await quiescence();
    expect(looked.isDone).toBe(false);
    await brain.clock.advance(CLEANUP_MS);
    expect(looked.isDone).toBe(true);
    sent.answer(ACCEPTED);

    expect(await created).toMatchObject({ code: 'journal_unavailable', details: { session_id } });
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'failed' });
    expect(await recordsOf(brain, session_id, 'environment_setup_failed')).toMatchObject([{ data: { outcome: 'unknown' } }]);
    await expect(createOn(brain, ['home'], createKey())).rejects.toMatchObject({ code: 'idempotency_ambiguous', details: { session_id } });
    expect(brain.environments.sent.all).toHaveLength(1);
  });
});

describe('a server that is closed in a setup', () => {
  it('lets go of it without a record, and leaves it to the next to say that it is unknown', async () => {
    const { brain, created, sent, session_id } = await settingUp();
    await brain.brain.close();
    expect(sent.closes).toEqual([null]);
    expect(await created).toMatchObject({ code: 'draining' });
    const next = await brain.restart();

    expect(await recordsOf(next, session_id, 'environment_setup_failed')).toMatchObject([{ data: { outcome: 'unknown' } }]);
    expect(next.environments.sentTwice).toEqual([]);
  });
});
