/** Tool calls: recorded, invoked once, ended once. */
import { describe, expect, it } from 'vitest';
import type { LoopToolAnswer } from '../../../services/loops/agent-loop.ts';
import { plan } from '../../support/disk-faults.ts';
import { gate } from '../../support/gate.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { TENANT } from '../../support/living-brain.ts';
import { ScriptedTools, untilAborted, WAITS, type ToolScriptInProcess } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const MIB = 1024 * 1024;

/** A turn that dispatches these at once, and what it was answered. */
async function dispatching(script: ToolScriptInProcess, calls = [call('act')], options: Parameters<typeof TurnStage.set>[1] = {}) {
  const answers: LoopToolAnswer[] = [];
  const stage = await TurnStage.set(
    async (_input, host) => {
      answers.push(...(await host.dispatch(calls)));
      return RETURNED;
    },
    { tools: new ScriptedTools(['look', 'act'], script), ...options },
  );
  return { stage, answers };
}

describe('a tool call', () => {
  it('S-031: is on the device when its tool is called', async () => {
    const { stage } = await dispatching(() => WAITS);
    void stage.send().catch(() => undefined);
    const { context } = await stage.brain.tools.calls.at(0);

    const durable = await stage.brain.afterPowerCut(stage.sessionId);

    expect(durable.at(-1)).toMatchObject({ type: 'tool_call_started', sequence: context.sequence, data: { tool: 'act' } });
  });

  it('S-035: is answered to the loop only once its end is on the device', async () => {
    const flush = gate();
    const { stage, answers } = await dispatching(() => {
      plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId }, { start: flush.opened });
      return 'done';
    });
    const sent = stage.send();
    await quiescence();
    expect(answers).toEqual([]);

    flush.open();
    await sent;

    expect(answers).toMatchObject([{ outcome: 'ok', output: 'done', is_error: false }]);
  });

  it('S-056: starts in one commit with the others of its dispatch, and is answered in the order of the calls', async () => {
    const { stage, answers } = await dispatching(() => WAITS, [call('look'), call('act'), call('look')]);
    const sent = stage.send();
    const calls = await Promise.all([0, 1, 2].map((index) => stage.brain.tools.calls.at(index)));
    for (const [index, one] of calls.entries()) calls[2 - index]?.answer(`answer ${one.context.sequence}`);
    await sent;

    const started = await stage.records('tool_call_started');
    expect(started.map(({ sequence }, index) => sequence - index)).toEqual(Array.from({ length: 3 }, () => started[0]?.sequence));
    expect(answers.map(({ sequence }) => sequence)).toEqual(started.map(({ sequence }) => sequence));
  });

  it('S-111, S-120, S-125: ends with a timeout at its own deadline, is told so, and its late answer goes nowhere', async () => {
    const { stage, answers } = await dispatching(() => WAITS, [call('act')], { limits: { toolMs: 5_000 } });
    const sent = stage.send();
    const one = await stage.brain.tools.calls.at(0);
    await stage.brain.clock.advance(4_999);
    expect(one.context.signal.aborted).toBe(false);

    await stage.brain.clock.advance(1);
    expect(one.context.signal.aborted).toBe(true);
    expect(answers).toMatchObject([{ outcome: 'timeout', is_error: true }]);
    one.answer('late');
    await sent;

    const [started] = await stage.records('tool_call_started');
    expect(started?.data.deadline).toBe((started?.recorded_at ?? 0) + 5_000);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'timeout' } }]);
  });

  it.each([
    { kind: 'observes its signal', script: untilAborted, afterMs: 0 },
    { kind: 'ignores it', script: () => WAITS, afterMs: 10_000 },
  ])('S-115, S-119: comes back cancelled where its tool $kind, and the turn closes in time', async ({ script, afterMs }) => {
    const { stage, answers } = await dispatching(script);
    const sent = stage.send();
    const one = await stage.brain.tools.calls.at(0);
    await stage.cancel();
    await quiescence();
    expect(answers).toMatchObject([{ outcome: 'cancelled', is_error: true }]);
    expect((await stage.records('turn_failed')).length).toBe(afterMs === 0 ? 1 : 0);

    await stage.brain.clock.advance(afterMs);
    expect(await sent).toMatchObject({ error: { code: 'cancelled' } });

    const before = await stage.brain.journal(stage.sessionId);
    one.answer('late');
    await quiescence();
    expect(await stage.brain.journal(stage.sessionId)).toEqual(before);
  });

  it('tells the loop, the journal and the model that a result is too large to be recorded, and the turn goes on', async () => {
    const { stage, answers } = await dispatching(() => 'x'.repeat(17 * MIB));

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });

    expect(answers).toMatchObject([{ outcome: 'error', is_error: true, output: expect.stringMatching(/too large/) }]);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'error' } }]);
  });

  it('is not dispatched where its arguments are too large to be recorded, and says so', async () => {
    const { stage, answers } = await dispatching(() => 'done', [call('act', { text: 'x'.repeat(17 * MIB) })]);

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });

    expect(answers).toMatchObject([{ outcome: 'error', sequence: null, output: expect.stringMatching(/too large/) }]);
    expect(stage.brain.tools.calls.all).toEqual([]);
  });

  it('S-036: fails with the message of what its tool threw', async () => {
    const { stage, answers } = await dispatching(async () => {
      throw new Error('no \ud800 paper');
    });
    await stage.send();

    expect(answers).toMatchObject([{ outcome: 'error', output: 'no \ufffd paper' }]);
    expect(await stage.records('tool_call_ended')).toMatchObject([{ data: { outcome: 'error', output: 'no \ufffd paper', is_error: true } }]);
  });

  it.each([
    { what: 'a tool that the session does not have', bad: call('other'), says: /no tool/ },
    { what: 'arguments that are no JSON', bad: { tool: 'act', tool_use_id: 'one', input_text: '{"a":' }, says: /nothing was called/ },
  ])('S-057: sends nothing for $what, and the calls beside it all the same', async ({ bad, says }) => {
    const { stage, answers } = await dispatching(() => 'done', [bad, call('look')]);
    await stage.send();

    expect(answers).toMatchObject([{ outcome: 'error', sequence: null, output: expect.stringMatching(says) }, { outcome: 'ok' }]);
    expect(await stage.records('tool_call_started')).toHaveLength(1);
  });

  it('S-058: goes to nobody else where the server has its tool no more, or where its schema was recorded and cannot be used', async () => {
    const { stage, answers } = await dispatching(() => 'done', [call('act'), call('look')], {
      tools: new ScriptedTools(['look', 'act'], () => 'done', { look: { type: 'nonsense' } }),
    });
    const next = await stage.brain.restart({ tools: new ScriptedTools(['look']) });
    await next.sessions.send(TENANT, stage.sessionId, 'hello');

    expect(answers).toMatchObject([
      { outcome: 'error', sequence: null, output: 'nothing was called: this server has no tool act any more' },
      { outcome: 'error', sequence: null, output: expect.stringMatching(/input_schema cannot be used/) },
    ]);
    expect((await next.types(stage.sessionId)).filter((type) => type.startsWith('tool_call'))).toEqual([]);
  });

  it('S-048: emits under its own call as the origin, and no more once it has ended, nor at the cost of the turn', async () => {
    const late: string[] = [];
    const { stage } = await dispatching(async ({ context }) => {
      await context.emit('acme.note', { origin: { kind: 'agentloop', sequence: 1 } });
      return 'done';
    });
    stage.play(async (_input, host) => {
      await host.dispatch([call('act')]);
      const { context } = await stage.brain.tools.calls.at(0);
      await context.emit('acme.late', 'x'.repeat(2 * MIB)).catch(() => late.push('refused'));
      return RETURNED;
    });

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });

    const [started] = await stage.records('tool_call_started');
    const events = await stage.records('extension_emitted');
    expect(events).toMatchObject([{ data: { origin: { kind: 'tool', sequence: started?.sequence } } }]);
    expect(late).toEqual(['refused']);
  });

  it('ends no server where its tool leaves a refused event alone', async () => {
    const { stage } = await dispatching(({ context }) => {
      void context.emit('session.ended', {});
      return 'done';
    });

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });
    await quiescence();
    expect(await stage.records('extension_emitted')).toEqual([]);
  });

  it('S-188: shows its progress to live readers while it runs, and not after', async () => {
    const { stage } = await dispatching(() => WAITS);
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    const sent = stage.send();
    const one = await stage.brain.tools.calls.at(0);
    one.context.progress({ message: 'half', fraction: 0.5 });
    await quiescence();
    one.answer('done');
    await sent;
    one.context.progress({ message: 'late' });
    await quiescence();

    const [started] = await stage.records('tool_call_started');
    expect(reader.live).toEqual([
      { type: 'tool_progress', message_sequence: started?.data.message_sequence, data: { started_sequence: started?.sequence, message: 'half', fraction: 0.5 } },
    ]);
  });
});
