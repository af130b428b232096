/** Following a session at the very moment at which it ends. */
import { describe, expect, it } from 'vitest';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';

// More steps of promises than an end takes.
const MOMENTS = 120;

describe('a follower that comes back while the session ends', () => {
  it('is told that all is over only where it has been shown the last record', async () => {
    let told = 0;
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const stage = await LivingBrain.start();
      const { session_id } = await stage.create();
      const before = await stage.journal(session_id);
      const ending = stage.sessions.end(TENANT, session_id);
      for (let passed = 0; passed < moment; passed += 1) await Promise.resolve();
      const over: number[] = [];
      for (const after of [0, 1, 2, 3].map((more) => before.length + more)) {
        // A cursor beyond the end of the journal as it is by then is refused.
        const following = await stage.sessions.followEvents(TENANT, session_id, after, new AbortController().signal).catch(() => null);
        if (following?.ended === true) over.push(after);
      }
      await ending;
      const last = (await stage.journal(session_id)).length;
      expect(over.filter((after) => after < last), `moment ${moment}`).toEqual([]);
      told += over.length;
    }
    // Some moments were before the end, and some after it.
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(MOMENTS);
  });
});
