/** The event that says that a turn is over: whoever has seen it finds the session at rest. */
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { faultsOf } from '../support/history.ts';
import { says } from '../support/openai-server.ts';
import { runsLongForms } from '../support/slow-tests.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

const ROUNDS = runsLongForms ? 500 : 100;

let stage: Stage;
afterEach(async () => stage.strike());

async function expectIdle(id: string, lastSequence: number): Promise<void> {
  const [session, { sessions }, transcript] = await Promise.all([stage.api.session(id), stage.api.sessions('?limit=1000'), stage.api.transcript(id)]);
  expect(session).toMatchObject({ status: 'idle', last_sequence: lastSequence });
  expect(sessions.find(({ session_id }) => session_id === id)).toMatchObject({ status: 'idle', last_sequence: lastSequence });
  expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant']);
}

describe('the event that ends a turn', () => {
  it('S-011, S-014: is followed at once by a look that says idle, a send that is accepted, and an end that works', { timeout: 600_000 }, async () => {
    stage = await Stage.set({ model: () => says('Done.') });

    await inParallel(Array.from({ length: ROUNDS }), 2, async (_, round) => {
      const { session_id: id } = await stage.create();
      const reader = await SseReader.open(`${stage.server.url}/v1/sessions/${id}/events`);
      const { sequence: first } = await stage.api.submit(id, 'first');
      const end = await reader.nextOf('turn_ended');

      // In every other round nothing comes before the send.
      if (round % 2 === 0) await expectIdle(id, Number(end.id));
      const sent = await stage.api.submit(id, 'second');
      await reader.next(({ event, id: at }) => event === 'turn_ended' && Number(at) > sent.sequence, 'the end of the second turn');
      const ended = await stage.api.end(id);
      expect(ended.status).toBe('ended');
      await reader.ended;
      expect(reader.recorded).toEqual(await stage.api.events(id));
      const records = await stage.api.journal(id);
      expect(records.filter(({ type }) => type === 'turn_started').map(({ sequence }) => sequence)).toEqual([first, sent.sequence]);
      expect(faultsOf(records)).toEqual([]);
    });
  });
});
