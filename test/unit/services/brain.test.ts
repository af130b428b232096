/** Draining and closing. */
import { describe, expect, it } from 'vitest';
import { plan } from '../../support/disk-faults.ts';
import { gate } from '../../support/gate.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

async function stageWithTurn() {
  const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
  const { session_id } = await stage.createChat();
  const sent = stage.sessions.send(TENANT, session_id, 'hello');
  const call = await stage.model.calls.at(0);
  return { stage, session_id, sent, call };
}

function watched(promise: Promise<unknown>): { isDone: boolean } {
  const state = { isDone: false };
  void promise.finally(() => (state.isDone = true)).catch(() => undefined);
  return state;
}

describe('drain', () => {
  it('S-217, S-218: takes no new work and waits for the turn that runs', async () => {
    const { stage, session_id, sent, call } = await stageWithTurn();
    const drained = watched(stage.brain.drain(null));
    await quiescence();

    for (const asked of [
      () => stage.createChat(),
      () => stage.sessions.send(TENANT, session_id, 'more'),
      () => stage.sessions.submit(TENANT, session_id, 'more'),
      () => stage.sessions.resume(TENANT, session_id),
    ]) {
      await expect(asked()).rejects.toMatchObject({ code: 'draining' });
    }
    await expect(stage.sessions.get(TENANT, session_id)).resolves.toMatchObject({ status: 'running' });
    expect(drained.isDone).toBe(false);
    call.answer(saying('done'));

    await expect(sent).resolves.toMatchObject({ outcome: 'ended' });
    await quiescence();
    expect(drained.isDone).toBe(true);
  });

  it('S-102: waits for a turn that was accepted, though nobody waits for its answer', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id } = await stage.createChat();
    await stage.sessions.submit(TENANT, session_id, 'hello');
    const call = await stage.model.calls.at(0);
    const drained = watched(stage.brain.drain(null));
    await stage.clock.advance(900_000);
    expect(drained.isDone).toBe(false);

    call.answer(saying('done'));
    await quiescence();

    expect(drained.isDone).toBe(true);
    expect((await stage.types(session_id)).at(-1)).toBe('turn_ended');
  });

  it('S-218: waits for a message whose record was on its way to the disk, and for its turn', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id } = await stage.createChat();
    const flush = gate();
    plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { start: flush.opened });
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    await quiescence();

    const drained = watched(stage.brain.drain(null));
    await quiescence();
    expect(drained.isDone).toBe(false);
    flush.open();
    (await stage.model.calls.at(0)).answer(saying('done'));

    await expect(sent).resolves.toMatchObject({ outcome: 'ended' });
    await quiescence();
    expect(drained.isDone).toBe(true);
  });

  it('S-218: waits for a creation that is under way', async () => {
    const stage = await LivingBrain.start();
    const flush = gate();
    stage.disk.plan = (call) => (call.kind === 'sync' ? { start: flush.opened } : undefined);
    const created = stage.createChat();
    await quiescence();

    const drained = watched(stage.brain.drain(null));
    await quiescence();
    expect(drained.isDone).toBe(false);
    flush.open();

    await expect(created).resolves.toMatchObject({ status: 'idle' });
    await quiescence();
    expect(drained.isDone).toBe(true);
  });

  it('S-222: cancels at its bound what is left, the turn too that had not started then', async () => {
    const { stage, sent } = await stageWithTurn();
    const other = await stage.createChat();
    const flush = gate();
    plan(stage.disk, { kinds: ['sync'], sessionId: other.session_id, times: 1 }, { start: flush.opened });
    const late = stage.sessions.send(TENANT, other.session_id, 'hello');
    await quiescence();
    const drained = watched(stage.brain.drain(5_000));

    await stage.clock.advance(5_000);
    await expect(sent).resolves.toMatchObject({ outcome: 'failed', error: { code: 'shutdown' } });
    flush.open();

    await expect(late).resolves.toMatchObject({ outcome: 'failed', error: { code: 'shutdown' } });
    await quiescence();
    expect(drained.isDone).toBe(true);
  });

  it('S-220: shows followers the last event of the turn, and then ends them', async () => {
    const { stage, session_id, call } = await stageWithTurn();
    const reader = await LiveReader.of(stage.sessions, session_id);
    const drained = stage.brain.drain(null);
    await quiescence();
    expect(reader.hasEnded).toBe(false);
    call.answer(saying('done'));
    await drained;
    await reader.ended;

    expect(reader.types.at(-1)).toBe('turn_ended');
    expect(reader.error).toBe(null);
  });

  it('S-222: lets a caller cancel and end meanwhile', async () => {
    const { stage, session_id, sent } = await stageWithTurn();
    const drained = stage.brain.drain(null);
    const ended = stage.sessions.end(TENANT, session_id);
    await stage.sessions.cancel(TENANT, session_id);

    await expect(sent).resolves.toMatchObject({ error: { code: 'cancelled' } });
    await expect(ended).resolves.toMatchObject({ status: 'ended' });
    await drained;
  });
});

describe('close', () => {
  it('S-213: aborts the signals of the turns that still run, records nothing of them, and closes every file', async () => {
    const { stage, session_id, sent, call } = await stageWithTurn();
    sent.catch(() => undefined);
    await stage.brain.close();

    expect(call.signal.aborted).toBe(true);
    expect(stage.handles.openFiles).toEqual([]);
    const next = await stage.restart();
    expect((await next.journal(session_id)).at(-1)).toMatchObject({ type: 'turn_failed', data: { code: 'interrupted_by_restart' } });
  });

  it('may be called twice', async () => {
    const stage = await LivingBrain.start();
    await stage.brain.close();
    await expect(stage.brain.close()).resolves.toBeUndefined();
  });

  it('tells a tenant whose session nobody looked at since the start that the server shuts down, and not that there is none', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.sessions.create('acme', { surface: 'v1' });
    const { brain } = await stage.restart();
    const asked = brain.sessions.get('acme', session_id);
    const closed = brain.close();

    await expect(asked).rejects.toMatchObject({ code: 'draining' });
    await closed;
    for (const id of [session_id, '0'.repeat(32)]) {
      await expect(brain.sessions.get('acme', id)).rejects.toMatchObject({ code: 'draining' });
    }
  });
});
