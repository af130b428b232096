/** How a turn ends, whatever its loop does. */
import { describe, expect, it } from 'vitest';
import type { TurnResult } from '../../../services/loops/agent-loop.ts';
import { plan } from '../../support/disk-faults.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { ScriptedTools, WAITS } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { TestLoops, type Turn } from '../../support/test-loops.ts';

const RETURNED: TurnResult = { kind: 'returned' };

async function stageWith(turn: Turn, options: Parameters<typeof LivingBrain.start>[0] = {}) {
  const stage = await LivingBrain.start({ ...options, loops: new TestLoops(turn) });
  const { session_id } = await stage.create({ tools: ['look', 'act'] });
  return { stage, session_id };
}

function forEver(): Promise<never> {
  return new Promise(() => undefined);
}

describe('a turn', () => {
  it('S-105: fails with what its loop threw, and the session takes the next message', async () => {
    const { stage, session_id } = await stageWith(async () => {
      throw new Error('I do not know how');
    });

    const answer = await stage.sessions.send(TENANT, session_id, 'hello');

    expect(answer).toMatchObject({ outcome: 'failed', error: { code: 'loop_error', message: 'I do not know how' }, status: 'idle' });
    stage.loops.turn = async () => RETURNED;
    await expect(stage.sessions.send(TENANT, session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
  });

  it.each([
    { what: 'nothing', returned: undefined },
    { what: 'a code of Brain’s own', returned: { kind: 'failed', code: 'cancelled', message: 'x' } },
    { what: 'another kind', returned: { kind: 'done' } },
    { what: 'a result that is text', returned: { kind: 'returned', result: 'what' } },
  ])('$what: fails by its loop’s fault where that returns what is no result, and is closed', async ({ returned }) => {
    const { stage, session_id } = await stageWith(async () => returned as TurnResult);

    const answer = await stage.sessions.send(TENANT, session_id, 'hello');

    expect(answer).toMatchObject({ outcome: 'failed', error: { code: 'loop_error' } });
    await stage.brain.drain(1);
  });

  it('fails where the value that its loop returns is too large to be recorded', async () => {
    const { stage, session_id } = await stageWith(async () => ({ kind: 'returned', result: { value: 'x'.repeat(17 * 1024 * 1024) } }));

    const answer = await stage.sessions.send(TENANT, session_id, 'hello');

    expect(answer).toMatchObject({ outcome: 'failed', error: { code: 'loop_error' } });
    expect(answer.error?.message).toMatch(/too large/);
  });

  it('S-171: is closed, and its session usable, where its loop runs into a read that the disk refuses', async () => {
    const { stage, session_id } = await stageWith(async (_input, host) => {
      const faults = plan(stage.disk, { kinds: ['read'], sessionId: session_id }, { fails: 'EIO' });
      try {
        await host.events(0);
      } finally {
        faults.heal();
      }
      return RETURNED;
    });

    await stage.sessions.submit(TENANT, session_id, 'hello');
    await quiescence();

    expect((await stage.atRest(session_id)).status).toBe('idle');
    expect((await stage.journal(session_id)).at(-1)).toMatchObject({ type: 'turn_failed' });
    stage.loops.turn = async () => RETURNED;
    await expect(stage.sessions.send(TENANT, session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
  });

  it('S-119: ends the calls that its loop left running as cancelled, in the commit order that a reader can follow', async () => {
    const model = new ScriptedModel(() => 'waits');
    const { stage, session_id } = await stageWith(
      async (_input, host) => {
        void host.model({ messages: [] });
        void host.dispatch([{ tool: 'act', tool_use_id: 'one', input_text: '{}' }]);
        await model.calls.at(0);
        return RETURNED;
      },
      { model, tools: new ScriptedTools(['look', 'act'], () => WAITS) },
    );

    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    await quiescence();
    await stage.clock.advance(10_000);

    expect(await sent).toMatchObject({ outcome: 'ended' });
    const records = await stage.journal(session_id);
    expect(records.filter(({ type }) => type === 'model_call_failed' || type === 'tool_call_ended')).toMatchObject([
      { data: { outcome: 'cancelled' } },
      { data: { outcome: 'cancelled' } },
    ]);
    expect(records.at(-1)?.type).toBe('turn_ended');
  });

  it('S-110, S-113, S-116: is cancelled at its wall time, and its open tool call ends cancelled, not timeout', async () => {
    const { stage, session_id } = await stageWith(
      async (_input, host) => {
        await host.dispatch([{ tool: 'act', tool_use_id: 'one', input_text: '{}' }]);
        return RETURNED;
      },
      { limits: { turnMs: 5_000, toolMs: 5_000 }, tools: new ScriptedTools(['look', 'act'], () => WAITS) },
    );
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    await stage.tools.calls.at(0);

    await stage.clock.advance(5_000);
    expect(await stage.types(session_id)).not.toContain('turn_failed');
    await stage.clock.advance(10_000);

    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'turn_timeout' } });
    const records = await stage.journal(session_id);
    expect(records.find(({ type }) => type === 'turn_cancel_requested')).toMatchObject({ data: { by: 'deadline' } });
    expect(records.find(({ type }) => type === 'tool_call_ended')).toMatchObject({ data: { outcome: 'cancelled', is_error: true } });
  });

  it('S-115: is closed after the cleanup bound although its loop never returns, and what that loop does later goes nowhere', async () => {
    let late: () => Promise<unknown> = forEver;
    const { stage, session_id } = await stageWith(async (_input, host) => {
      late = () => Promise.allSettled([
        host.setTranscript([]),
        host.kv.put('late', 1),
        host.kv.read('late'),
        host.kv.delete('late'),
        host.emit('acme.late', 1),
        host.events(0),
        host.model({ messages: [] }),
        host.dispatch([]),
      ]);
      return forEver();
    });
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    await quiescence();
    await stage.sessions.cancel(TENANT, session_id);
    await stage.clock.advance(9_999);
    expect((await stage.atRest(session_id)).status).toBe('running');

    await stage.clock.advance(1);

    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
    const before = await stage.journal(session_id);
    expect(await late()).toMatchObject(Array.from({ length: 8 }, () => ({ status: 'rejected' })));
    expect(await stage.journal(session_id)).toEqual(before);
  });

  it('leaves no timer behind, however it ended', async () => {
    const { stage, session_id } = await stageWith(async (_input, host) => {
      await host.dispatch([{ tool: 'act', tool_use_id: 'one', input_text: '{}' }]);
      return RETURNED;
    });
    await stage.sessions.send(TENANT, session_id, 'hello');
    expect(stage.clock.timerCount).toBe(0);

    stage.tools.script = async () => {
      plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { fails: 'EIO' });
      return 'lost';
    };
    await expect(stage.sessions.send(TENANT, session_id, 'hello')).resolves.toMatchObject({ outcome: 'failed' });
    await quiescence();

    expect(stage.clock.timerCount).toBe(0);
  });

  it('S-109: is failed at the model call over its limit, which is never sent', async () => {
    const { stage, session_id } = await stageWith(
      async (_input, host) => {
        for (let call = 0; call < 5; call += 1) await host.model({ messages: [] });
        return RETURNED;
      },
      { limits: { modelCalls: 2 }, model: new ScriptedModel(() => saying('more')) },
    );

    expect(await stage.sessions.send(TENANT, session_id, 'hello')).toMatchObject({ outcome: 'failed', error: { code: 'model_call_limit' } });

    expect(stage.model.calls.all).toHaveLength(2);
    expect((await stage.types(session_id)).filter((type) => type === 'model_call_started')).toHaveLength(2);
  });

  it('S-108: has no bound where the limits say none', async () => {
    const { stage, session_id } = await stageWith(
      async (_input, host) => {
        for (let call = 0; call < 200; call += 1) await host.model({ messages: [] });
        await host.dispatch([{ tool: 'act', tool_use_id: 'one', input_text: '{}' }]);
        return RETURNED;
      },
      { limits: { modelCalls: null, turnMs: null, toolMs: null }, tools: new ScriptedTools(['look', 'act'], () => WAITS) },
    );
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    const call = await stage.tools.calls.at(0);
    await stage.clock.advance(1_000_000_000);
    call.answer('at last');

    expect(await sent).toMatchObject({ outcome: 'ended' });
    expect((await stage.journal(session_id)).find(({ type }) => type === 'tool_call_started')).toMatchObject({ data: { deadline: null } });
  });
});
