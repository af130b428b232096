/** What a list says of a session without a look into its journal. */
import { describe, expect, it } from 'vitest';
import { LivingLifecycle } from '../../support/living-lifecycle.ts';
import { TENANT } from '../../support/living-brain.ts';

describe('the row of a session', () => {
  it('names its tenant, the turn that runs, how many messages wait behind it, and when its last record was made', async () => {
    const stage = await LivingLifecycle.set();
    const row = async (): Promise<unknown> => (await stage.brain.sessions.list(TENANT, { after: '', limit: 1 })).sessions[0];
    expect(await row()).toMatchObject({ tenant: TENANT, running_turn: null, queue_length: 0 });

    await stage.queueAll('runs', 'waits', 'waits too');
    const running = await stage.brain.journal(stage.id);
    const turn = running.find(({ type }) => type === 'turn_started')?.sequence;
    expect(await row()).toMatchObject({ running_turn: turn, queue_length: 2, last_recorded_at: running.at(-1)?.recorded_at });

    for (let call = 0; call < 3; call += 1) await stage.answer(call);
    const over = await stage.brain.journal(stage.id);
    expect(await row()).toMatchObject({ running_turn: null, queue_length: 0, last_recorded_at: over.at(-1)?.recorded_at });
  });
});
