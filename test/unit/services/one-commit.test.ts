/** What is decided while a flush is under way shares the next frame: what came of one command, others hear in time. */
import { describe, expect, it } from 'vitest';
import { KeyedCall } from '../../../services/keyed-call.ts';
import { gate, type Gate } from '../../support/gate.ts';
import { plan } from '../../support/disk-faults.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';
import type { Turn } from '../../support/test-loops.ts';

/** How the calls of a session's journal are flushed: the next waits for the gate, and the ones after it are counted. */
function heldFlush(brain: LivingBrain, sessionId: string) {
  const flush = gate();
  plan(brain.disk, { kinds: ['sync'], sessionId, times: 1 }, { start: flush.opened });
  const written: number[] = [];
  const before = brain.disk.plan;
  brain.disk.plan = (one) => {
    if (one.kind === 'write' && one.path.includes(`${sessionId}/journal`)) written.push(one.bytes);
    return before(one);
  };
  return { open: () => flush.open(), written };
}

/** A turn whose loop starts an effect while a flush is under way, in the commit in which it is cancelled, too. */
async function cancelledInOneCommit(effect: Turn): Promise<TurnStage> {
  let flush: Pick<Gate, 'open'> = gate();
  const asked = gate();
  const stage: TurnStage = await TurnStage.set(async (input, host) => {
    flush = heldFlush(stage.brain, stage.sessionId);
    void host.kv.put('first', 1);
    await quiescence();
    const running = effect(input, host);
    await quiescence();
    asked.open();
    return running;
  });
  const sent = stage.send();
  await asked.opened;
  const cancelled = stage.cancel();
  await quiescence();
  flush.open();
  await cancelled;
  await expect(sent).resolves.toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
  return stage;
}

describe('an effect whose turn is cancelled in the commit that starts it', () => {
  it('is not dispatched where it is a tool call, and ends cancelled', async () => {
    const stage = await cancelledInOneCommit(async (_input, host) => {
      await host.dispatch([call('act'), call('look')]);
      return RETURNED;
    });

    const [first, second] = await stage.records('tool_call_started');
    const [cancel] = await stage.records('turn_cancel_requested');
    expect([first?.sequence, second?.sequence]).toEqual([(cancel?.sequence ?? 0) - 2, (cancel?.sequence ?? 0) - 1]);
    expect(stage.brain.tools.calls.all).toEqual([]);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'cancelled' } }, { data: { outcome: 'cancelled' } }]);
  });

  it('is not sent where it is a model call, and fails as cancelled', async () => {
    const stage = await cancelledInOneCommit(async (_input, host) => {
      await host.model({ messages: [] });
      return RETURNED;
    });

    const [started] = await stage.records('model_call_started');
    const [cancel] = await stage.records('turn_cancel_requested');
    expect(started?.sequence).toBe((cancel?.sequence ?? 0) - 1);
    expect(stage.brain.model.calls.all).toEqual([]);
    expect(await stage.records('model_call_failed')).toMatchObject([{ data: { outcome: 'cancelled' } }]);
  });
});

describe('one key in one commit', () => {
  async function twoAtOnce(bodies: readonly [string, string]) {
    const brain = await LivingBrain.start();
    const { session_id } = await brain.create();
    const flush = heldFlush(brain, session_id);
    const changed = brain.sessions.changeMetadata(TENANT, session_id, { team: 'blue' });
    await quiescence();
    const calls = bodies.map((body) => new KeyedCall('submit', 'key', body));
    const sent = Promise.allSettled(calls.map((one) => brain.sessions.submit(TENANT, session_id, 'do it', one)));
    await quiescence();
    flush.open();
    await changed;
    const answers = await sent;
    await brain.atRest(session_id);
    expect((await brain.types(session_id)).filter((type) => type === 'message_queued')).toHaveLength(1);
    return { calls, answers };
  }

  it('S-092: starts one turn, and both get its receipt', async () => {
    const { calls, answers } = await twoAtOnce(['body', 'body']);

    expect(answers).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
    expect(answers[1]).toEqual(answers[0]);
    expect(calls.map(({ isReplayed }) => isReplayed)).toEqual([false, true]);
  });

  it('is refused to the second where its body is another', async () => {
    const { answers } = await twoAtOnce(['body', 'another']);

    expect(answers).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'idempotency_mismatch' } }]);
  });
});

describe('the commands that waited for a flush', () => {
  it('are written in frames of a bounded size, in their order; what no frame takes costs itself alone', async () => {
    const sizes = [1, 200_000, 200_000, 17 * 1024 * 1024, 1, 300_000, 1];
    let flush: ReturnType<typeof heldFlush> | undefined;
    const stage: TurnStage = await TurnStage.set(async (_input, host) => {
      flush = heldFlush(stage.brain, stage.sessionId);
      const first = host.kv.put('first', 1);
      await quiescence();
      const puts = sizes.map((size, index) => host.kv.put(`key ${index}`, 'x'.repeat(size)));
      flush.open();
      await first;
      const answers = await Promise.allSettled(puts);
      return { ...RETURNED, result: { value: answers.map(({ status }) => status) } };
    });
    await expect(stage.send()).resolves.toMatchObject({ outcome: 'ended' });

    const [ended] = await stage.records('activation_ended');
    expect(ended?.data.result).toEqual({ value: sizes.map((size) => (size > 16 * 1024 * 1024 ? 'rejected' : 'fulfilled')) });
    expect((await stage.records('kv_put')).map(({ data }) => data.key)).toEqual(['first', 'key 0', 'key 1', 'key 2', 'key 4', 'key 5', 'key 6']);
    const large = (flush?.written ?? []).filter((bytes) => bytes > 150_000);
    expect(large.map((bytes) => Math.round(bytes / 100_000))).toEqual([2, 2, 3]);
  });

  it('share the outcome of the frame that fails, none of them recorded, and those after it go on', async () => {
    const brain = await LivingBrain.start();
    const { session_id } = await brain.create();
    const before = await brain.journal(session_id);
    const flush = heldFlush(brain, session_id);
    const changed = brain.sessions.changeMetadata(TENANT, session_id, { team: 'blue' });
    await quiescence();
    const shared = Promise.allSettled([
      brain.sessions.submit(TENANT, session_id, 'do it', new KeyedCall('submit', 'key', 'body')),
      brain.sessions.submit(TENANT, session_id, 'do it', new KeyedCall('submit', 'key', 'body')),
      // Decided on what is not durable yet: neither its refusal nor a "nothing to do" may be told.
      brain.sessions.submit(TENANT, session_id, 'another'),
      brain.sessions.resume(TENANT, session_id),
    ]);
    await quiescence();
    const failing = gate();
    plan(brain.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { start: failing.opened, fails: 'EIO' });
    flush.open();
    await changed;
    await quiescence();
    const last = brain.sessions.changeMetadata(TENANT, session_id, { team: 'red' });
    await quiescence();
    failing.open();

    for (const one of await shared) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'journal_unavailable' } });
    expect(await last).toMatchObject({ metadata: { team: 'red' } });
    expect((await brain.journal(session_id)).slice(before.length)).toMatchObject([
      { type: 'session_metadata_changed', data: { metadata: { team: 'blue' } } },
      { type: 'session_metadata_changed', data: { metadata: { team: 'red' } } },
    ]);
    // The key is as free as before.
    const again = new KeyedCall('submit', 'key', 'body');
    await brain.sessions.submit(TENANT, session_id, 'do it', again);
    expect(again.isReplayed).toBe(false);
  });
});

describe('a commit that outlives its incarnation', () => {
  it('starts nothing: a server that is closed during a message’s flush runs no turn of it', async () => {
    let turns = 0;
    const stage = await TurnStage.set(async () => {
      turns += 1;
      return RETURNED;
    });
    const flush = heldFlush(stage.brain, stage.sessionId);
    const sent = stage.send().catch((error: unknown) => error);
    await quiescence();
    const closed = stage.brain.brain.close();
    await quiescence();
    flush.open();
    await closed;

    expect(await sent).toMatchObject({ code: 'draining' });
    expect(stage.brain.brain.runningTurns).toBe(0);
    expect(turns).toBe(0);
    expect(stage.brain.clock.timerCount).toBe(0);
    const next = await stage.brain.restart();
    expect((await next.types(stage.sessionId)).slice(-3)).toEqual(['activation_started', 'activation_failed', 'turn_failed']);
  });

  it('creates nothing once the sessions are closed, and says so', async () => {
    const brain = await LivingBrain.start();
    const claim = gate();
    brain.disk.plan = ({ kind, path }) => (kind === 'write' && path.includes('/claims/') ? { start: claim.opened } : undefined);
    const made = brain.sessions.create(TENANT, { surface: 'v1' }, new KeyedCall('create', 'key', 'body')).catch((error: unknown) => error);
    await quiescence();
    const closed = brain.brain.close();
    await quiescence();
    claim.open();
    await closed;

    expect(await made).toMatchObject({ code: 'draining' });
  });
});
