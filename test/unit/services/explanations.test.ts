/** What a look at one session says of why it stands where it stands. */
import { describe, expect, it } from 'vitest';
import { TENANT } from '../../support/living-brain.ts';
import { ScriptedTools, WAITS } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import type { Turn } from '../../support/test-loops.ts';
import { call, never, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const explanationOf = async (stage: TurnStage): Promise<string | undefined> =>
  (await stage.brain.sessions.get(TENANT, stage.sessionId)).explanation;

describe('the explanation of a session', () => {
  it('names the tool that a running turn waits for, and is gone when the turn is over', async () => {
    const turn: Turn = async (_input, host) => {
      await host.dispatch([call('act')]);
      return RETURNED;
    };
    const stage = await TurnStage.set(turn, { tools: new ScriptedTools(['look', 'act'], () => WAITS) });
    await stage.brain.sessions.submit(TENANT, stage.sessionId, 'go');
    const acting = await stage.brain.tools.calls.at(0);

    expect(await explanationOf(stage)).toMatch(/^The session waits for the tool act since .*Z, at most until .*Z\.$/);
    acting.answer('done');
    await quiescence();
    expect(await explanationOf(stage)).toBeUndefined();
  });

  it('is not there for a session at rest, nor for one whose last turn failed and which takes messages all the same', async () => {
    const stage = await TurnStage.set(() => Promise.reject(new Error('no')));
    expect(await explanationOf(stage)).toBeUndefined();
    await stage.send();
    expect(await explanationOf(stage)).toBeUndefined();
  });

  it('tells why a session failed, to whoever looks after a restart too', async () => {
    const stage = await TurnStage.set(() => Promise.reject(new Error('no luck')), { session: { after_stop: 'hold' } });
    await stage.send();
    const before = await explanationOf(stage);
    const restarted = await stage.brain.restart();

    expect(before).toMatch(/with its turn, loop_error: no luck; it takes messages again once it is resumed\.$/);
    expect((await restarted.sessions.get(TENANT, stage.sessionId)).explanation).toBe(before);
  });

  it('says of a turn that a death broke off that it was interrupted by the restart', async () => {
    const stage = await TurnStage.set(never, { session: { after_stop: 'hold' } });
    await stage.brain.sessions.submit(TENANT, stage.sessionId, 'go');
    await quiescence();
    const restarted = await stage.brain.restart();

    expect((await restarted.sessions.get(TENANT, stage.sessionId)).explanation).toContain('interrupted_by_restart');
  });
});
