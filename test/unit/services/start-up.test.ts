import { describe, expect, it } from 'vitest';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

describe('a start after a death', () => {
  it('says how many sessions there are, and how many were at work when the last process died', async () => {
    const brain = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    for (let index = 0; index < 5; index += 1) {
      const { session_id } = await brain.createChat();
      if (index < 3) await brain.sessions.submit(TENANT, session_id, 'work');
    }

    const next = await brain.restart();
    await quiescence();

    const recovered = next.log.find(({ event }) => event === 'sessions_recovered');
    expect(recovered?.facts).toEqual({ sessions: 5, interrupted: 3, refused: 0 });
  });

  it('issues no id below one that was issued, though that session is gone and the clock was set back', async () => {
    const brain = await LivingBrain.start();
    const { session_id } = await brain.createChat();
    await brain.sessions.end(TENANT, session_id);
    await brain.sessions.delete(TENANT, session_id);
    brain.clock.setWall(brain.clock.now() - 3_600_000);

    const next = await brain.restart();
    expect((await next.createChat()).session_id > session_id).toBe(true);
  });
});
