/** How much a turn may have under way: what is open must be closed by one commit, also by the next process. */
import { describe, expect, it } from 'vitest';
import { OPEN_EFFECTS_MAX } from '../../../machines/decide.ts';
import { SNAPSHOT_OF_NO_SESSION } from '../../../machines/chart-step.ts';
import { Draft } from '../../../machines/dry-run.ts';
import { recover } from '../../../machines/recover.ts';
import { encodeRecord, payloadBytesOf, timed } from '../../../services/record-codec.ts';
import type { LoopToolAnswer } from '../../../services/loops/agent-loop.ts';
import { FRAME_PAYLOAD_BYTES_MAX } from '../../../storage/frame.ts';
import { TENANT } from '../../support/living-brain.ts';
import { ScriptedTools, WAITS } from '../../support/scripted-tools.ts';
import { CREATED } from '../../support/session-story.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { call, never, RETURNED, TurnStage } from '../../support/turn-stage.ts';

// As many as a deployment can let wait.
const WAITING = 1_000;

const calls = (count: number) => Array.from({ length: count }, () => call('act'));

describe('a turn with as much under way as may be', () => {
  it('S-143: is closed by the next process, each of its calls unknown', async () => {
    const stage = await TurnStage.set(async (_input, host) => {
      // The loop's own run is open, too.
      await host.dispatch(calls(OPEN_EFFECTS_MAX - 1));
      return RETURNED;
    }, { tools: new ScriptedTools(['act', 'look'], () => WAITS) });
    void stage.send().catch(() => undefined);
    await quiescence();
    expect(stage.brain.tools.calls.all).toHaveLength(OPEN_EFFECTS_MAX - 1);

    const next = await stage.brain.restart();
    const ends = (await next.journal(stage.sessionId)).filter(({ type }) => type === 'tool_call_ended');
    expect(ends).toHaveLength(OPEN_EFFECTS_MAX - 1);
    expect(new Set(ends.map(({ data }) => (data as { readonly outcome: string }).outcome))).toEqual(new Set(['unknown']));
    expect(await next.sessions.get(TENANT, stage.sessionId)).toMatchObject({ status: 'idle' });
  });

  it('starts nothing more, says so to its loop, and goes on once something has ended', async () => {
    const tools = new ScriptedTools(['act', 'look'], () => WAITS);
    const answers: (readonly LoopToolAnswer[])[] = [];
    const refusals: unknown[] = [];
    const stage = await TurnStage.set(async (_input, host) => {
      answers.push(await host.dispatch(calls(OPEN_EFFECTS_MAX)));
      const first = host.dispatch(calls(OPEN_EFFECTS_MAX - 1));
      answers.push(await host.dispatch([call('look')]));
      refusals.push(await host.model({ messages: [] }));
      for (const one of tools.calls.all) one.answer('done');
      await first;
      refusals.push(await host.model({ messages: [] }));
      return RETURNED;
    }, { tools });
    await expect(stage.send()).resolves.toMatchObject({ outcome: 'ended' });

    expect(answers.map((one) => one.length)).toEqual([OPEN_EFFECTS_MAX, 1]);
    for (const answer of answers.flat()) expect(answer).toMatchObject({ outcome: 'error', sequence: null });
    expect(tools.calls.all).toHaveLength(OPEN_EFFECTS_MAX - 1);
    expect(refusals).toMatchObject([{ outcome: 'refused' }, { outcome: 'ended' }]);
  });
});

describe('the commit that closes a turn', () => {
  it('fits into a frame with the most that can be open and can wait', () => {
    const draft = new Draft(SNAPSHOT_OF_NO_SESSION);
    draft.add('session_created', CREATED);
    draft.add('session_ready', {});
    const message_sequence = draft.add('message_queued', { input: 'x', mode: 'queue' });
    draft.add('turn_started', { message_sequence });
    draft.add('activation_started', { message_sequence, agentloop: 'chat' });
    draft.add('message_queued', { input: 'x', mode: 'queue' });
    draft.add('tool_call_started', { message_sequence, tool: 'act', tool_use_id: '', input_text: '{}', deadline: null, effect: 'once' });
    const context = { through_sequence: 1, delta: null };
    draft.add('model_call_started', { message_sequence, provider: 'p', model: 'm', message_count: 0, context });
    const largest = new Map<string, number>();
    for (const record of recover(draft.snapshot)) {
      const grown = timed({ ...record, sequence: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER);
      // Each number in its data may be as long as a sequence gets.
      largest.set(record.type, payloadBytesOf([encodeRecord(grown)]) + 100);
    }
    const bytes = (type: string): number => largest.get(type) ?? Infinity;
    const effect = Math.max(bytes('tool_call_ended'), bytes('model_call_failed'));

    expect(OPEN_EFFECTS_MAX * effect + WAITING * bytes('message_failed')).toBeLessThan(FRAME_PAYLOAD_BYTES_MAX / 2);
  });
});

it('a turn that never ends by itself is closed with all its calls when it is cancelled', async () => {
  const stage = await TurnStage.set(async (_input, host) => {
    void host.dispatch(calls(OPEN_EFFECTS_MAX - 1));
    return never();
  }, { tools: new ScriptedTools(['act', 'look'], () => WAITS) });
  const sent = stage.send();
  await quiescence();
  await stage.cancel();
  await stage.brain.clock.advance(10_000);

  await expect(sent).resolves.toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
  expect(await stage.records('tool_call_ended')).toHaveLength(OPEN_EFFECTS_MAX - 1);
});
