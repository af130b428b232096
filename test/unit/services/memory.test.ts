/** What a process holds of sessions that have nothing to do. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { segmentName } from '../../../storage/segment.ts';
import { DATA, LivingBrain, TENANT } from '../../support/living-brain.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { quiescence } from '../../support/simulated-clock.ts';

describe('2,000 sessions of one turn each', () => {
  it('leave no actor, no timer and no listener behind, and a bounded number of open files, and each answers as before', async () => {
    const stage = await LivingBrain.start();
    const abort = new AbortController();
    const ids: string[] = [];
    for (let count = 0; count < 2_000; count += 1) {
      const { session_id } = await stage.createChat();
      const following = await stage.sessions.followEvents(TENANT, session_id, 0, abort.signal);
      const items = following.items[Symbol.asyncIterator]();
      await items.next();
      await stage.sessions.send(TENANT, session_id, 'hello');
      await items.return?.();
      ids.push(session_id);
    }
    await quiescence();

    expect(stage.handles.openFiles).toEqual(ids.slice(-256).map((id) => `${DATA}/sessions/${id}/journal/${segmentName(1)}`));
    expect(stage.clock.timerCount).toBe(0);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    for (const signal of stage.model.calls.all.map((call) => call.signal)) expect(getEventListeners(signal, 'abort')).toEqual([]);
    const { sessions } = await stage.sessions.list(TENANT, { after: '', limit: 1_000_000 });
    expect(sessions.map(({ session_id }) => session_id)).toEqual(ids);
    expect(sessions.filter((session) => !('resident' in session) || session.resident)).toEqual([]);
    const reader = await LiveReader.of(stage.sessions, ids[0] ?? '');
    await quiescence();
    expect(reader.types.at(-1)).toBe('turn_ended');
    await reader.leave();
  });
});
