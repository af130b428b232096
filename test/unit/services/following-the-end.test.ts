/** Following a session at the very moment at which it ends. */
import { describe, expect, it } from 'vitest';
import { KeyedCall } from '../../../services/keyed-call.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { reach } from '../../support/moments.ts';

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
      await reach(moment);
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

describe('a follower of a session that is over', () => {
  // What is answered under a key after the end leaves a private record, which no event stream has a cursor for: a browser
  // was given an empty stream each time, and came back for ever.
  it('is told so once it has seen the last event, whatever private records lie behind it', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.create();
    await stage.sessions.end(TENANT, session_id);
    await stage.sessions.cancel(TENANT, session_id, new KeyedCall('cancel', 'key', 'body'));
    expect((await stage.types(session_id)).at(-1)).toBe('request_answered');
    const reader = await LiveReader.of(stage.sessions, session_id);
    await reader.ended;
    const last = reader.recorded.at(-1)?.sequence ?? 0;
    const { signal } = new AbortController();

    expect(await stage.sessions.followEvents(TENANT, session_id, last, signal)).toMatchObject({ ended: true });
    expect(await stage.sessions.followEvents(TENANT, session_id, last - 1, signal)).toMatchObject({ ended: false });
    // Whoever follows the journal itself is still to see that record.
    expect(await stage.sessions.followJournal(TENANT, session_id, last, signal)).toMatchObject({ ended: false });
    expect(await stage.sessions.followJournal(TENANT, session_id, last + 1, signal)).toMatchObject({ ended: true });
  });
});
