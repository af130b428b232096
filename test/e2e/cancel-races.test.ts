/** A cancel that comes at any moment around a turn: it stops that turn or none, and never the next. */
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import type { JournalRecord } from '../support/brain-api.ts';
import { faultsOf } from '../support/history.ts';
import { calls, says, silence } from '../support/openai-server.ts';
import { runsLongForms } from '../support/slow-tests.ts';
import { Stage } from '../support/stage.ts';

const SESSIONS = 4;
const ROUNDS = (runsLongForms ? 1000 : 100) / SESSIONS;
const MS_MAX = 50;

let stage: Stage;
afterEach(async () => stage.strike());

/** What became of each message, by its place in the session: its turn's records. */
function turnsIn(records: readonly JournalRecord[]): readonly (readonly JournalRecord[])[] {
  return records
    .filter(({ type }) => type === 'message_queued')
    .map(({ sequence }) => {
      const start = records.findIndex(({ type, data }) => type === 'turn_started' && data['message_sequence'] === sequence);
      const end = records.findIndex(({ type, data }) => isTurnEnd(type) && data['message_sequence'] === sequence);
      return records.slice(start, end + 1);
    });
}

function isTurnEnd(type: string): boolean {
  return type === 'turn_ended' || type === 'turn_failed';
}

function endOf(turn: readonly JournalRecord[]): unknown {
  const last = turn.at(-1);
  return last?.type === 'turn_failed' ? last.data['code'] : last?.type;
}

describe('a cancel that races its turn', () => {
  it(
    'S-117, S-196: belongs to one turn, which its journal explains, and the message after it completes',
    { timeout: 600_000 },
    async () => {
      stage = await Stage.set({
        model: async (call) => {
          const last = call.request.messages.at(-1);
          if (last?.role === 'user' && last.content !== 'slow race') return says('Yes.');
          await setTimeout(5);
          return last?.role === 'tool' ? says('Looked.') : calls({ id: 'call_1', name: 'look', arguments: '{}' });
        },
        tools: [{ name: 'look' }],
        tool: () => setTimeout(10, 'seen'),
      });
      const ids = await Promise.all(Array.from({ length: SESSIONS }, async () => (await stage.create()).session_id));
      const cancelledCounts = await inParallel(ids, SESSIONS, async (id, at) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const input = round % 2 === 0 ? 'slow race' : `quick race ${at} ${round}`;
          const sent = stage.api.send(id, input);
          // Every other one is counted from the model's only call, which it answers at once: around the turn's end.
          if (round % 2 === 1) await stage.model.calls.first(({ request }) => request.messages.at(-1)?.content === input);
          // A wait for nothing: every distance is tried in turn.
          await setTimeout((round * SESSIONS + at) % (MS_MAX + 1));
          const cancelled = stage.api.cancel(id);
          const raced = await sent;
          expect(raced.error?.code ?? raced.outcome).toMatch(/^(ended|cancelled)$/);
          // A cancel that is not answered yet may well stop what is sent meanwhile.
          await cancelled;
          expect(await stage.api.send(id, 'after')).toMatchObject({ outcome: 'ended', result: { text: 'Yes.' }, status: 'idle' });
        }

        const records = await stage.api.journal(id);
        expect(faultsOf(records)).toEqual([]);
        const turns = turnsIn(records);
        expect(turns).toHaveLength(2 * ROUNDS);
        for (const [index, turn] of turns.entries()) {
          const requests = turn.filter(({ type }) => type === 'turn_cancel_requested');
          expect(requests.length, `turn ${index}`).toBe(endOf(turn) === 'cancelled' ? 1 : 0);
          if (index % 2 === 1) expect(endOf(turn)).toBe('turn_ended');
        }
        // None stands outside of a turn.
        expect(records.filter(({ type }) => type === 'turn_cancel_requested')).toHaveLength(
          turns.filter((turn) => endOf(turn) === 'cancelled').length,
        );
        return turns.filter((turn) => endOf(turn) === 'cancelled').length;
      });
      const cancelledCount = cancelledCounts.reduce((sum, count) => sum + count, 0);
      console.log(`${SESSIONS * ROUNDS} cancels within ${MS_MAX} ms of a send: ${cancelledCount} stopped its turn`);

      // Otherwise there was no race.
      expect(cancelledCount).toBeGreaterThan(0);
      expect(stage.model.refusals).toEqual([]);
      expect(stage.tools.repeated).toEqual([]);
    },
  );

  it('S-196: lets the next message in as soon as it is taken, and the cancel does not reach that one', { timeout: 600_000 }, async () => {
    stage = await Stage.set({ model: (call) => (call.request.messages.at(-1)?.content === 'after' ? says('Yes.') : silence(call)) });
    const { session_id: id } = await stage.create();

    for (let round = 0; round < ROUNDS; round += 1) {
      const { sequence } = await stage.api.submit(id, 'race');
      const cancelling = stage.api.cancel(id);
      // Asked for over and over from the very moment of the cancel on.
      let answer = await stage.api.request('POST', `/v1/sessions/${id}/messages`, { input: 'after' });
      while (answer.status === 409) answer = await stage.api.request('POST', `/v1/sessions/${id}/messages`, { input: 'after' });
      await cancelling;
      expect(answer).toMatchObject({ status: 200, body: { outcome: 'ended', result: { text: 'Yes.' } } });
      expect((answer.body as { readonly sequence: number }).sequence).toBeGreaterThan(sequence);
    }
    const records = await stage.api.journal(id);
    expect(faultsOf(records)).toEqual([]);
    expect(turnsIn(records).map(endOf).filter((_, index) => index % 2 === 1)).toEqual(Array.from({ length: ROUNDS }, () => 'turn_ended'));
  });
});
