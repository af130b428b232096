/** Where a stopped turn leaves its session, and what a resume goes back to. */
import { describe, expect, it } from 'vitest';
import type { PublicEvent } from '../../../machines/projections/public-events.ts';
import { TENANT } from '../../support/living-brain.ts';
import { reach } from '../../support/moments.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { never, RETURNED, TurnStage } from '../../support/turn-stage.ts';
import type { Turn } from '../../support/test-loops.ts';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

const keeping =
  (text: string, end: Turn = async () => RETURNED): Turn =>
  async (input, host) => {
    await host.setTranscript([...input.transcript, user(text)]);
    await host.kv.put('last', text);
    await host.kv.put(text, true);
    await host.emit('acme.note', text);
    return end(input, host);
  };

const failing: Turn = async () => {
  throw new Error('no');
};

async function held() {
  const stage = await TurnStage.set(keeping('good'), { session: { after_stop: 'hold' } });
  await stage.send();
  return stage;
}

describe('after_stop hold', () => {
  it.each([
    { status: 'failed', stop: async (stage: TurnStage) => void (stage.play(keeping('bad', failing)), await stage.send()) },
    {
      status: 'interrupted',
      stop: async (stage: TurnStage) => {
        stage.play(keeping('bad', () => never()));
        const sent = stage.send();
        await quiescence();
        await stage.cancel();
        await stage.brain.clock.advance(10_000);
        await sent;
      },
    },
  ] as const)('L-074, L-091, L-093, L-102: leaves $status, takes no message, and a resume goes back to the checkpoint in everything a loop sees', async ({ status, stop }) => {
    const stage = await held();
    await stop(stage);
    const { sessions } = stage.brain;
    expect(await sessions.get(TENANT, stage.sessionId)).toMatchObject({ status, resident: false });
    await expect(stage.send()).rejects.toMatchObject({ code: 'must_resume' });
    const before = await stage.brain.journal(stage.sessionId);

    expect(await sessions.resume(TENANT, stage.sessionId)).toMatchObject({ status: 'idle' });

    expect((await stage.brain.journal(stage.sessionId)).slice(0, before.length)).toEqual(before);
    expect(await sessions.transcript(TENANT, stage.sessionId)).toMatchObject({ messages: [user('good')] });
    const seen: { kv: unknown[]; events: readonly PublicEvent[]; transcript: unknown } = { kv: [], events: [], transcript: null };
    const looking: Turn = async (input, host) => {
      seen.kv = [await host.kv.read('last'), await host.kv.read('good'), await host.kv.read('bad')];
      seen.events = (await host.events(0)).events;
      seen.transcript = input.transcript;
      return RETURNED;
    };
    for (const restarted of [false, true]) {
      const brain = restarted ? await stage.brain.restart() : stage.brain;
      brain.loops.turn = looking;
      await brain.sessions.send(TENANT, stage.sessionId, 'look');
      expect(seen.kv).toEqual([{ found: true, value: 'good' }, { found: true, value: true }, { found: false }]);
      expect(seen.transcript).toEqual([user('good')]);
      expect(seen.events.filter(({ type }) => type === 'acme.note').map(({ data }) => data)).toEqual(['good']);
      expect(seen.events.map(({ type }) => type)).not.toContain('turn_failed');
    }
  });

  it('L-105, L-106: a resume changes nothing of a session that is idle, and is refused while one runs or is over', async () => {
    const stage = await held();
    const before = await stage.brain.sessions.get(TENANT, stage.sessionId);
    expect(await stage.brain.sessions.resume(TENANT, stage.sessionId)).toEqual(before);
    stage.play(async (_input, host) => {
      await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
      return RETURNED;
    });
    const sent = stage.send();
    await quiescence();
    await expect(stage.brain.sessions.resume(TENANT, stage.sessionId)).rejects.toMatchObject({ code: 'not_resumable' });
    await stage.cancel();
    await sent;
    await stage.brain.sessions.end(TENANT, stage.sessionId);
    await expect(stage.brain.sessions.resume(TENANT, stage.sessionId)).rejects.toMatchObject({ code: 'not_resumable' });
  });
});

describe('after_stop idle', () => {
  it('S-196: takes the next message, with what the stopped turn saved', async () => {
    const stage = await TurnStage.set(keeping('first', failing));
    expect(await stage.send()).toMatchObject({ outcome: 'failed', status: 'idle' });
    stage.play(keeping('second'));
    expect(await stage.send()).toMatchObject({ outcome: 'ended' });

    expect(await stage.brain.sessions.transcript(TENANT, stage.sessionId)).toMatchObject({ messages: [user('first'), user('second')] });
  });
});

describe('a cancel', () => {
  it('S-195: that comes with the message, before the loop starts, stops that turn and calls no loop', async () => {
    let ran = 0;
    const stage = await TurnStage.set(async () => ((ran += 1), RETURNED));
    const sent = stage.send();
    await stage.cancel();

    const answer = await sent;
    expect([answer.outcome, ran]).toEqual(answer.outcome === 'failed' ? ['failed', 0] : ['ended', 1]);
    expect(await stage.send()).toMatchObject({ outcome: 'ended' });
  });

  it('belongs to one turn: given at any moment around its end it never hits the next', async () => {
    for (let moment = 0; moment < 25; moment += 1) {
      const stage = await TurnStage.set(async () => RETURNED);
      const sent = stage.send();
      await reach(moment * 8);
      await stage.cancel();
      const first = await sent;
      expect(first.error?.code ?? 'none').toBe(first.outcome === 'ended' ? 'none' : 'cancelled');

      expect(await stage.send()).toMatchObject({ outcome: 'ended' });
      expect((await stage.records('turn_cancel_requested')).length).toBe(first.outcome === 'ended' ? 0 : 1);
    }
  });

  it('L-085: given twice is recorded once, and given to a session at rest not at all', async () => {
    const stage = await TurnStage.set(() => never());
    const sent = stage.send();
    await quiescence();
    await Promise.all([stage.cancel(), stage.cancel()]);
    await stage.brain.clock.advance(10_000);
    await sent;
    const before = await stage.brain.journal(stage.sessionId);
    expect(before.filter(({ type }) => type === 'turn_cancel_requested')).toHaveLength(1);

    await stage.cancel();

    expect(await stage.brain.journal(stage.sessionId)).toEqual(before);
  });

  it('L-091: fails its turn although the loop returns as if nothing had happened', async () => {
    const stage = await TurnStage.set(async (_input, host) => {
      await new Promise((resolve) => host.signal.addEventListener('abort', resolve));
      return { kind: 'returned', result: { value: 'all is well' } };
    });
    const sent = stage.send();
    await quiescence();
    await stage.cancel();

    expect(await sent).toMatchObject({ outcome: 'failed', error: { code: 'cancelled' } });
    expect(await stage.records('activation_ended')).toEqual([]);
  });
});
