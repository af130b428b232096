/** Model calls: recorded, sent once, ended once. */
import { describe, expect, it } from 'vitest';
import type { LoopModelAnswer } from '../../../services/loops/agent-loop.ts';
import type { ModelOutcome } from '../../../services/models/model-provider.ts';
import { plan } from '../../support/disk-faults.ts';
import { gate } from '../../support/gate.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { saying, ScriptedModel, type ModelScriptInProcess } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { RETURNED, TurnStage } from '../../support/turn-stage.ts';

async function calling(script: ModelScriptInProcess) {
  const answers: LoopModelAnswer[] = [];
  const stage = await TurnStage.set(
    async (_input, host) => {
      answers.push(await host.model({ messages: [] }));
      return RETURNED;
    },
    { model: new ScriptedModel(script) },
  );
  return { stage, answers };
}

describe('a model call', () => {
  it('S-030: is on the device when the provider is called', async () => {
    const { stage } = await calling(() => 'waits');
    void stage.send().catch(() => undefined);
    await stage.brain.model.calls.at(0);

    expect((await stage.brain.afterPowerCut(stage.sessionId)).at(-1)?.type).toBe('model_call_started');
  });

  it('S-035: is answered to the loop only once its end is on the device', async () => {
    const flush = gate();
    const { stage, answers } = await calling(() => {
      plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId }, { start: flush.opened });
      return saying('yes');
    });
    const sent = stage.send();
    await quiescence();
    expect(answers).toEqual([]);

    flush.open();
    await sent;

    const [ended] = await stage.records('model_call_ended');
    expect(answers).toMatchObject([{ outcome: 'ended', sequence: ended?.sequence }]);
  });

  it('S-034: is sent once whatever its outcome, which is recorded as it is', async () => {
    const failed: ModelOutcome = { outcome: 'unknown', code: 'connection_lost', message: 'the connection was lost' };
    const { stage, answers } = await calling(() => failed);
    await stage.send();

    expect(answers).toEqual([failed]);
    expect(stage.brain.model.calls.all).toHaveLength(1);
    expect(await stage.records('model_call_failed')).toMatchObject([{ data: failed }]);
  });

  it('S-039: goes to the model of its session alone, whatever became of the one before', async () => {
    const asked: unknown[] = [];
    const model = new ScriptedModel((_call, index) => (index < 2 ? { outcome: 'unknown', code: 'connection_lost', message: 'lost' } : saying('yes')));
    const provider = model.provider.bind(model);
    model.provider = (...given: readonly unknown[]) => (asked.push(given), provider());
    const stage = await TurnStage.set(
      async (input, host) => {
        await host.model({ messages: [input.message] });
        await host.model({ messages: [input.message] });
        return RETURNED;
      },
      { model, session: { model: { provider: 'mine', name: 'one' } } },
    );
    await stage.send();
    await stage.send();

    expect(asked).toEqual(Array.from({ length: 4 }, () => [{ provider: 'mine', name: 'one', protocol: 'scripted' }]));
    expect(model.calls.all).toHaveLength(4);
    expect((await stage.records('model_call_failed')).map(({ data }) => data.outcome)).toEqual(['unknown', 'unknown']);
  });

  it('fails where its answer is too large to be recorded, and the turn goes on', async () => {
    const { stage, answers } = await calling(() => saying('x'.repeat(17 * 1024 * 1024)));

    expect(await stage.send()).toMatchObject({ outcome: 'ended' });

    expect(answers).toMatchObject([{ outcome: 'failed', code: 'too_large' }]);
    expect(await stage.records('model_call_failed')).toMatchObject([{ data: { outcome: 'failed', code: 'too_large' } }]);
  });

  it('S-037: ends unknown where its provider breaks its word and throws', async () => {
    const { stage, answers } = await calling(() => {
      throw new Error('a secret of the provider');
    });
    await stage.send();

    expect(answers).toMatchObject([{ outcome: 'unknown' }]);
    expect(JSON.stringify(await stage.brain.journal(stage.sessionId))).not.toContain('secret');
  });

  it('S-117, S-118: is cancelled at once with its turn, even if the provider is deaf, and its late answer goes nowhere', async () => {
    const { stage, answers } = await calling(() => 'deaf');
    const reader = await LiveReader.of(stage.brain.sessions, stage.sessionId);
    const sent = stage.send();
    const one = await stage.brain.model.calls.at(0);
    one.say({ text: 'heard' });
    await stage.cancel();
    await quiescence();
    expect(one.signal.aborted).toBe(true);
    expect(answers).toMatchObject([{ outcome: 'cancelled' }]);
    one.say({ text: 'late' });
    await stage.brain.clock.advance(10_000);

    expect(await sent).toMatchObject({ error: { code: 'cancelled' } });
    one.answer(saying('late'));
    await quiescence();
    expect(await stage.records('model_call_ended')).toEqual([]);
    expect(await stage.records('model_call_failed')).toMatchObject([{ data: { outcome: 'cancelled' } }]);
    expect(reader.live).toMatchObject([{ data: { text: 'heard' } }]);
  });

  it('S-033: is not sent where a cancel was recorded with its start', async () => {
    const flush = gate();
    const { stage } = await calling(() => 'waits');
    stage.play(async (_input, host) => {
      plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { start: flush.opened });
      void host.kv.put('holds', 'the disk');
      await quiescence();
      await host.model({ messages: [] });
      return RETURNED;
    });
    const sent = stage.send();
    for (let rest = 0; rest < 2; rest += 1) await quiescence();
    const cancelled = stage.cancel();
    flush.open();
    await cancelled;

    expect(await sent).toMatchObject({ error: { code: 'cancelled' } });
    expect(stage.brain.model.calls.all).toEqual([]);
    const types = await stage.brain.types(stage.sessionId);
    expect(types.filter((type) => type.startsWith('model_call'))).toEqual(['model_call_started', 'model_call_failed']);
  });
});
