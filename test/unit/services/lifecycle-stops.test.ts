/** Stopping a turn, going on after it, and closing for good, as the lifecycle surface does them. */
import { describe, expect, it } from 'vitest';
import { textOf, type Message } from '../../../machines/messages.ts';
import { brokenInvariants } from '../../../machines/invariants.ts';
import { ServiceError } from '../../../services/errors.ts';
import { KeyedCall } from '../../../services/keyed-call.ts';
import { LivingLifecycle } from '../../support/living-lifecycle.ts';
import { TENANT } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { reach } from '../../support/moments.ts';
import { runsLongForms } from '../../support/slow-tests.ts';

const MOMENTS = runsLongForms ? 1_000 : 80;

function isFirst(message: Message | undefined): boolean {
  return message !== undefined && textOf(message) === 'first';
}

const STATES = ['idle', 'running', 'interrupted', 'failed', 'closed'] as const;

/** A session on each of its statuses, of which the model answers nothing by itself. */
async function stageIn(status: (typeof STATES)[number]): Promise<LivingLifecycle> {
  const stage = await LivingLifecycle.set();
  if (status === 'closed') await stage.close();
  if (status === 'running' || status === 'interrupted' || status === 'failed') {
    await stage.queueAll('runs', 'waits');
    const call = await stage.call(0);
    if (status === 'failed') call.answer({ outcome: 'failed', code: 'overloaded', message: 'no' });
    if (status === 'interrupted') await stage.interrupt();
  }
  await quiescence();
  expect(await stage.view).toMatchObject({ lifecycle_status: status });
  return stage;
}

describe('an interrupt', () => {
  it('L-083, L-087, L-088, L-090: stops the running turn and fails what waits behind it; the model’s request is aborted', async () => {
    const stage = await stageIn('running');
    const { signal } = await stage.call(0);
    const told = (await stage.told()).length;
    await stage.interrupt();
    await quiescence();

    expect(signal.aborted).toBe(true);
    expect((await stage.told()).slice(told)).toEqual(['error conflict 6', 'error conflict 3', 'interrupted 3']);
  });

  it.each(STATES.filter((status) => status !== 'running'))('L-085: changes nothing of a session that is %s', async (status) => {
    const stage = await stageIn(status);
    const before = [await stage.brain.journal(stage.id), await stage.view];
    await stage.interrupt();
    await quiescence();

    expect([await stage.brain.journal(stage.id), await stage.view]).toEqual(before);
  });

  it('belongs to one turn: given at any moment around its start it never hits the next, and is never lost on a turn that runs', async () => {
    const words = new Set<string>();
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const model = new ScriptedModel(({ request }) => (request.messages.length === 1 && isFirst(request.messages[0]) ? 'waits' : saying('done')));
      const stage = await LivingLifecycle.set({ model });
      const sent = stage.queue('first');
      await reach(moment);
      await stage.interrupt();
      const first = await sent;
      await quiescence();
      const isStopped = (await stage.view).lifecycle_status === 'interrupted';
      // An interrupt that came before the message was recorded found no turn.
      expect((await stage.brain.types(stage.id)).includes('turn_cancel_requested')).toBe(isStopped);
      if (isStopped) await stage.resume();
      else (await stage.call(0)).answer(saying('done'));
      await quiescence();
      const next = await stage.queue('next');
      await quiescence();

      expect((await stage.told()).slice(-1)).toEqual([`idle ${next.sequence}`]);
      expect(await stage.told()).toContain(isStopped ? `interrupted ${first.sequence}` : `idle ${first.sequence}`);
      words.add(isStopped ? 'stopped' : 'too early');
    }
    expect(words).toContain('stopped');
  });

  it('that was answered takes effect although the process dies at once', async () => {
    const stage = await stageIn('running');
    await stage.interrupt();
    const again = await stage.restart();

    expect((await again.told()).slice(-3)).toEqual(['error conflict 6', 'error conflict 3', 'interrupted 3']);
  });
});

describe('a resume', () => {
  it('L-095, L-099, L-100, L-101, L-102, L-107: goes on from the last completed turn; the model sees no more of the stopped one, and history all', async () => {
    const stage = await LivingLifecycle.set();
    await stage.queue('first');
    await stage.answer(0, 'one');
    await stage.queue('second');
    (await stage.call(1)).answer(calling({ tool: 'act' }));
    await quiescence();
    await stage.interrupt();
    await quiescence();
    const [events, calls, invocations] = [await stage.events(), stage.brain.model.calls.all.length, stage.brain.tools.calls.all.length];
    expect(invocations).toBe(1);
    await stage.resume();
    await quiescence();

    expect([stage.brain.model.calls.all.length, stage.brain.tools.calls.all.length]).toEqual([calls, invocations]);
    expect((await stage.events()).slice(0, events.length)).toEqual(events);
    expect((await stage.told()).slice(events.length)).toEqual(['idle']);
    await stage.queue('third');
    const { request } = await stage.call(calls);
    expect(request.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'first' }],
      [{ type: 'text', text: 'one' }],
      [{ type: 'text', text: 'third' }],
    ]);
  });

  it('L-093, L-094, L-096, L-104: answers with the session, idle, as it was created, and with its checkpoint', async () => {
    for (const status of ['interrupted', 'failed'] as const) {
      const stage = await stageIn(status);
      const { lifecycle_status: before, ...stopped } = await stage.view;
      const resumed = await stage.resume();

      expect(before).toBe(status);
      const { last_sequence } = resumed;
      expect(resumed).toEqual({ ...stopped, explanation: undefined, status: 'idle', lifecycle_status: 'idle', last_sequence });
      expect(last_sequence).toBe(stopped.last_sequence + 1);
    }
  });

  it('L-105: leaves an idle session as it was', async () => {
    const stage = await stageIn('idle');
    const [view, records] = [await stage.view, await stage.brain.journal(stage.id)];

    expect(await stage.resume()).toEqual(view);
    expect(await stage.brain.journal(stage.id)).toEqual(records);
  });

  it('L-103: is what a message to a stopped session is told to do, and with which scope', async () => {
    for (const status of ['interrupted', 'failed'] as const) {
      const refused = await (await stageIn(status)).queue('on').catch((error: unknown) => error);

      expect(refused).toBeInstanceOf(ServiceError);
      expect(refused).toMatchObject({ code: 'must_resume', message: expect.stringMatching(/\bmanage\b/) as unknown });
    }
  });

  it('that was answered takes effect although the process dies at once', async () => {
    const stage = await stageIn('interrupted');
    await stage.resume();
    const again = await stage.restart();

    expect(await again.view).toMatchObject({ lifecycle_status: 'idle' });
    expect((await again.queue('on')).type).toBe('user.message');
  });
});

describe('a close', () => {
  it.each(STATES)('L-108, L-115: is accepted where a session is %s, twice too, and nothing comes after closed', async (status) => {
    const stage = await stageIn(status);
    await Promise.all([stage.close(), stage.close()]);
    await stage.close();
    await quiescence();

    const told = await stage.told();
    expect(told.filter((one) => one.startsWith('closed'))).toHaveLength(1);
    expect(told.at(-1)).toMatch(/^closed/);
    await expect(stage.queue('no more')).rejects.toMatchObject({ code: 'session_ended' });
    await expect(stage.resume()).rejects.toMatchObject({ code: 'not_resumable' });
    expect(await stage.view).toMatchObject({ lifecycle_status: 'closed', status: 'ended' });
    expect(brokenInvariants(await stage.brain.journal(stage.id))).toEqual([]);
  });

  it('L-110: closes an idle session before it is answered', async () => {
    const stage = await stageIn('idle');
    await stage.close();

    expect((await stage.brain.types(stage.id)).slice(-2)).toEqual(['session_ending', 'session_ended']);
    expect(await stage.told()).toEqual(['closed']);
  });

  it('L-111, L-112: of a running session stops its turn, fails what waits, and shows no interrupted on the way', async () => {
    const stage = await stageIn('running');
    const told = (await stage.told()).length;
    await stage.close();
    await expect(stage.queue('too late')).rejects.toMatchObject({ code: 'session_ending' });
    await quiescence();

    expect((await stage.told()).slice(told)).toEqual(['error conflict 6', 'error conflict 3', 'closed 3']);
  });

  it('L-109: that was answered takes effect although the process dies at once, in every state', async () => {
    for (const status of STATES) {
      const stage = await stageIn(status);
      await stage.close();
      const again = await stage.restart();

      expect(await again.view).toMatchObject({ lifecycle_status: 'closed' });
      expect((await again.told()).at(-1)).toMatch(/^closed/);
    }
  });

  it('follows an end that waits for the turn, and cuts the turn short', async () => {
    const stage = await stageIn('running');
    const ended = stage.brain.sessions.end(TENANT, stage.id);
    await quiescence();
    await stage.close();

    expect(await ended).toMatchObject({ status: 'ended' });
    expect((await stage.told()).slice(-2)).toEqual(['error conflict 3', 'closed 3']);
  });

  it('of a turn that does not stop is over when the cleanup bound is', async () => {
    const stage = await LivingLifecycle.set({ model: new ScriptedModel(() => 'deaf') });
    await stage.queue('hangs');
    const call = await stage.call(0);
    await stage.close();
    await stage.brain.clock.advance(10_000);
    const records = await stage.brain.journal(stage.id);
    call.answer(saying('late'));
    await quiescence();

    expect(await stage.view).toMatchObject({ lifecycle_status: 'closed' });
    expect(await stage.brain.journal(stage.id)).toEqual(records);
  });

  it('is answered again under its key, which is another one on the other surface', async () => {
    const stage = await stageIn('idle');
    const key = (surface: 'v1' | 'sessions', body = 'b') => new KeyedCall('close', 'key', body, surface);
    await stage.brain.sessions.close(TENANT, stage.id, key('sessions'));
    const before = await stage.brain.journal(stage.id);

    const again = key('sessions');
    await stage.brain.sessions.close(TENANT, stage.id, again);
    expect(again.isReplayed).toBe(true);
    expect(await stage.brain.sessions.repeated(TENANT, stage.id, key('sessions'))).toEqual({ answer: null });
    await expect(stage.brain.sessions.repeated(TENANT, stage.id, key('sessions', 'other'))).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    expect(await stage.brain.sessions.repeated(TENANT, stage.id, key('v1'))).toBeNull();
    expect(await stage.brain.journal(stage.id)).toEqual(before);
  });
});

describe('a close, a message and a resume at the same moment', () => {
  it('have one winner each, and a history that explains it', async () => {
    const outcomes = new Set<string>();
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const stage = await stageIn('interrupted');
      const codeOf = (asked: Promise<unknown>): Promise<string> =>
        asked.then(
          () => 'done',
          (error: unknown) => (error as ServiceError).code,
        );
      const steps = [moment % 7, (moment * 3) % 11, (moment * 5) % 13];
      const [closed, sent, resumed] = await Promise.all([
        reach(steps[0] ?? 0).then(() => codeOf(stage.close())),
        reach(steps[1] ?? 0).then(() => codeOf(stage.queue('now'))),
        reach(steps[2] ?? 0).then(() => codeOf(stage.resume())),
      ]);
      await quiescence();

      expect(closed).toBe('done');
      const told = (await stage.told()).slice(5);
      // What was accepted is in the history before the end, and what was refused is not.
      expect(told.filter((one) => one.startsWith('user.message'))).toHaveLength(sent === 'done' ? 1 : 0);
      expect(told.includes('idle')).toBe(resumed === 'done');
      expect(told.at(-1)).toMatch(/^closed/);
      expect(sent === 'done' && resumed !== 'done').toBe(false);
      expect(brokenInvariants(await stage.brain.journal(stage.id))).toEqual([]);
      outcomes.add(`${sent} ${resumed}`);
    }
    expect(outcomes.size).toBeGreaterThan(1);
  });
});

describe('a session of the other surface', () => {
  it('takes the next message after a stopped turn, and says so in the events of its last record', async () => {
    const stage = await LivingLifecycle.set({ session: { surface: 'v1' } });
    await stage.queue('first');
    await stage.call(0);
    await stage.interrupt();
    await quiescence();

    expect((await stage.told()).slice(-3)).toEqual(['error conflict 3', 'interrupted 3', 'idle']);
    const { sequence } = await stage.queue('next');
    await stage.answer(1);
    expect((await stage.told()).slice(-1)).toEqual([`idle ${sequence}`]);
  });
});
