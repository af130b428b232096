/** The mailbox: what shares a frame, what waits for it, and what a command costs that goes wrong. */
import { describe, expect, it } from 'vitest';
import { SessionState } from '../../../machines/replay.ts';
import { SessionActor } from '../../../services/session-actor.ts';
import { MemorySessionStore } from '../../../storage/memory-journal.ts';
import { commitsOf } from '../../support/commits.ts';
import { gate } from '../../support/gate.ts';
import { plan } from '../../support/disk-faults.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import { CREATED, RULES } from '../../support/session-story.ts';
import { quiescence, SimulatedClock } from '../../support/simulated-clock.ts';
import { RETURNED, TurnStage } from '../../support/turn-stage.ts';

/** Holds the next flush of a session's journal until the gate is opened. */
function stalled(stage: LivingBrain, sessionId: string) {
  const flush = gate();
  plan(stage.disk, { kinds: ['sync'], sessionId, times: 1 }, { start: flush.opened });
  return flush;
}

function settled(promise: Promise<unknown>): { readonly state: () => 'waits' | 'done' | 'failed' } {
  let state: 'waits' | 'done' | 'failed' = 'waits';
  promise.then(
    () => (state = 'done'),
    () => (state = 'failed'),
  );
  return { state: () => state };
}

/** An actor by itself, in a turn whose message is record 3. */
async function actorAtWork() {
  let spent = 0;
  const actor = new SessionActor({
    state: SessionState.empty(),
    journal: await new MemorySessionStore().create('0'.repeat(32)),
    clock: new SimulatedClock(),
    rules: RULES,
    reactions: { activation: () => null, committed: () => undefined, quiet: () => undefined, spent: () => (spent += 1) },
  });
  await actor.submit({ kind: 'create', created: CREATED, transcript: [] });
  await actor.submit({ kind: 'send', input: 'hello', mode: 'async' });
  await actor.submit({ kind: 'start_activation', message_sequence: 3, agentloop: 'chat' });
  return { actor, spent: () => spent };
}

describe('a session’s mailbox', () => {
  it.each([
    { when: 'in one moment', isHeld: false },
    { when: 'during a flush', isHeld: true },
  ])('puts the commands that come $when into one frame', async ({ isHeld }) => {
    const stage = await TurnStage.set(async (_input, host) => {
      const flush = isHeld ? stalled(stage.brain, stage.sessionId) : gate();
      const first = host.kv.put('first', 1);
      if (isHeld) await quiescence();
      const others = Array.from({ length: 50 }, (_, index) => host.kv.put(`key ${index}`, index));
      await quiescence();
      flush.open();
      await Promise.all([first, ...others]);
      return RETURNED;
    });
    await stage.send();

    const puts = commitsOf(stage.brain, stage.sessionId).map((types) => types.filter((type) => type === 'kv_put').length);
    expect(puts.filter((count) => count > 0)).toEqual(isHeld ? [1, 50] : [51]);
  });

  it('S-085: gives no receipt, shows no event and reads no record before the flush', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id, last_sequence } = await stage.createChat();
    const reader = await LiveReader.of(stage.sessions, session_id);
    await quiescence();
    const flush = stalled(stage, session_id);
    const receipt = settled(stage.sessions.submit(TENANT, session_id, 'hello'));
    await quiescence();

    expect(receipt.state()).toBe('waits');
    expect(reader.recorded.at(-1)?.sequence).toBe(last_sequence);
    expect(await stage.journal(session_id)).toHaveLength(last_sequence);
    expect(await stage.sessions.get(TENANT, session_id)).toMatchObject({ status: 'idle', last_sequence });
    expect((await stage.sessions.transcript(TENANT, session_id)).through_sequence).toBe(last_sequence);

    flush.open();
    await quiescence();
    expect(receipt.state()).toBe('done');
    expect(reader.types).toContain('turn_started');
  });

  it('S-094: answers a refusal only when the record that it was decided on is durable', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id } = await stage.createChat();
    const flush = stalled(stage, session_id);
    const first = settled(stage.sessions.submit(TENANT, session_id, 'one'));
    const second = stage.sessions.submit(TENANT, session_id, 'two');
    const refusal = settled(second);
    const nothing = settled(stage.sessions.resume(TENANT, session_id).catch(() => undefined));
    await quiescence();
    expect([first.state(), refusal.state(), nothing.state()]).toEqual(['waits', 'waits', 'waits']);

    flush.open();
    await expect(second).rejects.toMatchObject({ code: 'session_busy' });
    expect(first.state()).toBe('done');
  });

  it('decides what waited behind a commit that failed anew, on the recovered session', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    const flush = gate();
    plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { start: flush.opened, fails: 'EIO' });
    const first = stage.sessions.send(TENANT, session_id, 'one');
    await quiescence();
    const second = stage.sessions.send(TENANT, session_id, 'two');
    const ended = settled(second);
    await quiescence();
    expect(ended.state()).toBe('waits');
    flush.open();

    await expect(first).rejects.toMatchObject({ code: 'journal_unavailable' });
    await expect(second).resolves.toMatchObject({ outcome: 'ended' });
    expect((await stage.journal(session_id)).filter(({ type }) => type === 'message_queued')).toMatchObject([{ data: { input: 'two' } }]);
  });

  it.each([
    { what: 'deciding', command: (message_sequence: number) => ({ kind: 'set_transcript', message_sequence, messages: null }) },
    { what: 'writing down', command: (message_sequence: number) => ({ kind: 'put_kv', message_sequence, key: 'bad', value: 10n }) },
  ])('loses one command where $what it throws: those before and after it are committed', async ({ command }) => {
    const { actor, spent } = await actorAtWork();
    const first = actor.submit({ kind: 'put_kv', message_sequence: 3, key: 'first', value: 1 });
    const bad = actor.submit(command(3) as never);
    const last = actor.submit({ kind: 'put_kv', message_sequence: 3, key: 'last', value: 1 });

    await expect(bad).rejects.toThrow(TypeError);
    await expect(first).resolves.toMatchObject({ kind: 'committed' });
    await expect(last).resolves.toMatchObject({ kind: 'committed' });
    expect(spent()).toBe(0);
    expect(actor.state.keyValues.read('last')).toMatchObject({ found: true });
  });

  it('refuses a message that is too large to be recorded, and takes the next', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();

    await expect(stage.sessions.send(TENANT, session_id, 'x'.repeat(17 * 1024 * 1024))).rejects.toMatchObject({ code: 'too_large' });
    await expect(stage.sessions.send(TENANT, session_id, 'small')).resolves.toMatchObject({ outcome: 'ended' });
  });

  it('records no time before the one before it, whatever the clock does', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    await stage.sessions.send(TENANT, session_id, 'one');
    stage.clock.setWall(0);
    await stage.sessions.send(TENANT, session_id, 'two');
    const next = await stage.restart();
    await next.sessions.send(TENANT, session_id, 'three');

    const times = (await next.journal(session_id)).map(({ recorded_at }) => recorded_at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(0);
  });
});
