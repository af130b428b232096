/** Messages that wait for their turn: their order, their bound, their keys, and how they leave. */
import { describe, expect, it } from 'vitest';
import { brokenInvariants } from '../../../machines/invariants.ts';
import { briefOf, LivingLifecycle } from '../../support/living-lifecycle.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { reach } from '../../support/moments.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const WAITING_MAX = 16;
const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `message ${index}`);

/** What the model was asked last, by each of its calls. */
function asked(stage: LivingLifecycle): readonly string[] {
  return stage.brain.model.calls.all.map(({ request }) => {
    const block = request.messages.at(-1)?.content[0];
    return block?.type === 'text' ? block.text : '';
  });
}

describe('a message', () => {
  it('L-035, L-036: is answered with its event as it is in the journal, and starts its turn where none runs', async () => {
    const stage = await LivingLifecycle.set();
    const event = await stage.queue('hello', 'k');

    expect(event).toMatchObject({ index: 0, type: 'user.message', input_sequence: event.sequence, data: { text: 'hello', key: 'k' } });
    expect(await stage.brain.afterPowerCut(stage.id)).toContainEqual(
      expect.objectContaining({ sequence: event.sequence, type: 'message_queued', data: { input: 'hello', mode: 'queue', key: 'k' } }),
    );
  });

  it('L-043, L-044, L-045, L-051: waits in its order, sixteen beside the one that runs; one more is refused, and its key is free', async () => {
    const stage = await LivingLifecycle.set();
    await stage.queueAll(...texts(1 + WAITING_MAX));
    await expect(stage.queue('one too many', 'k')).rejects.toMatchObject({ code: 'queue_full' });
    expect(await stage.brain.sessions.waiting(TENANT, stage.id)).toHaveLength(WAITING_MAX);
    await stage.answer(0);

    await stage.queue('it fits now', 'k');
    for (let call = 1; call <= WAITING_MAX + 1; call += 1) await stage.answer(call);

    expect(asked(stage)).toEqual([...texts(1 + WAITING_MAX), 'it fits now']);
    expect(await stage.view).toMatchObject({ lifecycle_status: 'idle' });
  });

  it('of a burst of thirty takes a place or is refused, whole, while a turn hangs', async () => {
    const stage = await LivingLifecycle.set();
    await stage.queue('hangs');
    const outcomes = await Promise.allSettled(texts(30).map((text, index) => stage.queue(text, `k${index}`)));

    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map((_, index) => (index < WAITING_MAX ? 'fulfilled' : 'rejected')));
    const records = await stage.brain.journal(stage.id);
    expect(records.filter(({ type }) => type === 'message_queued')).toHaveLength(1 + WAITING_MAX);
    expect(brokenInvariants(records)).toEqual([]);
  });

  it('of the other surface is refused as busy while one waits, and while a turn runs', async () => {
    const stage = await LivingLifecycle.set();
    await stage.queueAll('runs', 'waits');

    await expect(stage.brain.sessions.send(TENANT, stage.id, 'now')).rejects.toMatchObject({ code: 'session_busy' });
    await expect(stage.brain.sessions.submit(TENANT, stage.id, 'now')).rejects.toMatchObject({ code: 'session_busy' });
  });

  it('that comes while a turn is being stopped is refused, not taken and dropped', async () => {
    const stage = await LivingLifecycle.set({ model: new ScriptedModel(() => 'deaf') });
    await stage.queue('hangs');
    await stage.call(0);
    await stage.interrupt();

    await expect(stage.queue('too late', 'k')).rejects.toMatchObject({ code: 'session_busy' });
    await stage.brain.clock.advance(10_000);
    expect(await stage.brain.types(stage.id)).not.toContain('message_failed');
    await stage.resume();
    expect((await stage.queue('again', 'k')).data).toEqual({ text: 'again', key: 'k' });
  });

  it('leaves the queue by the record that starts its turn, and by nothing else: a restart fails the others', async () => {
    const stage = await LivingLifecycle.set();
    const [runs, next, third] = await stage.queueAll('runs', 'waits', 'waits too');
    await stage.answer(0);
    expect((await stage.brain.sessions.waiting(TENANT, stage.id)).map(({ text }) => text)).toEqual(['waits too']);
    const again = await stage.restart();

    expect((await again.told()).filter((told) => !told.startsWith('user.message') && !told.startsWith('assistant'))).toEqual([
      `running ${runs}`,
      `running ${next}`,
      `error conflict ${third}`,
      `error interrupted_by_restart ${next}`,
      `failed ${next}`,
    ]);
    expect(await again.brain.sessions.waiting(TENANT, again.id)).toEqual([]);
  });
});

describe('a key', () => {
  it('L-047, L-048, L-049: is answered with the first event for the same text, and with a conflict for another', async () => {
    const stage = await LivingLifecycle.set();
    const first = await stage.queue('hello', 'k');
    await quiescence();
    const before = await stage.brain.journal(stage.id);

    expect(await stage.queue('hello', 'k')).toEqual(first);
    await expect(stage.queue('Hello', 'k')).rejects.toMatchObject({ code: 'conflict', details: { field: '/key' } });
    expect(await stage.brain.journal(stage.id)).toEqual(before);
    expect((await stage.queue('hello', '__proto__')).sequence).toBeGreaterThan(first.sequence);
    expect(await stage.queue('hello', 'k')).toEqual(first);
  });

  it('L-048: sent a hundred times at once is one message, and everybody gets its event', async () => {
    const stage = await LivingLifecycle.set();
    // While the first is being recorded all the others gather, and are decided together.
    const [, ...events] = await Promise.all([stage.queue('runs'), ...texts(100).map(() => stage.queue('once', 'k'))]);

    expect(new Set(events.map((event) => JSON.stringify(event))).size).toBe(1);
    const records = await stage.brain.journal(stage.id);
    expect(records.filter(({ type }) => type === 'message_queued')).toHaveLength(2);
    expect(brokenInvariants(records)).toEqual([]);
  });

  it('L-047, L-053: holds whatever became of its message and in every state: full, interrupted, failed, draining, closed, after a restart and after a month', async () => {
    let stage = await LivingLifecycle.set();
    const first = await stage.queue('hello', 'k');
    await stage.queueAll(...texts(WAITING_MAX));
    const isKnown = async (): Promise<void> => {
      expect(await stage.queue('hello', 'k')).toEqual(first);
      await expect(stage.queue('other', 'k')).rejects.toMatchObject({ code: 'conflict' });
    };
    await isKnown();
    await stage.interrupt();
    await quiescence();
    expect(await stage.view).toMatchObject({ lifecycle_status: 'interrupted' });
    await isKnown();
    await stage.resume();
    await isKnown();
    await stage.queue('cut short');
    await stage.call(1);
    stage = await stage.restart();
    expect(await stage.view).toMatchObject({ lifecycle_status: 'failed' });
    await isKnown();
    stage.brain.clock.setWall(stage.brain.clock.now() + 31 * 24 * 60 * 60 * 1000);
    await isKnown();
    await stage.close();
    expect(await stage.view).toMatchObject({ lifecycle_status: 'closed' });
    await isKnown();
    await stage.brain.brain.drain(null);
    await isKnown();
    await expect(stage.queue('new', 'new')).rejects.toMatchObject({ code: 'draining' });
  });

  it.each(['closed', 'interrupted', 'draining'] as const)('L-050: is not used up by a message that is refused where the session is %s', async (where) => {
    const stage = await LivingLifecycle.set();
    if (where === 'closed') await stage.close();
    if (where === 'interrupted') await stage.queue('x').then(() => stage.interrupt());
    await quiescence();
    if (where === 'draining') await stage.brain.brain.drain(null);
    const code = { closed: 'session_ended', interrupted: 'must_resume', draining: 'draining' }[where];
    await expect(stage.queue('hello', 'k')).rejects.toMatchObject({ code });
    await expect(stage.queue('other', 'k')).rejects.toMatchObject({ code });
  });

  it('is of one session: another one’s is free, and another tenant learns of none', async () => {
    const stage = await LivingLifecycle.set();
    await stage.queue('hello', 'k');
    const other = await stage.brain.createChat({ surface: 'sessions' });

    expect(await stage.brain.sessions.queue(TENANT, other.session_id, { text: 'other', key: 'k' })).toMatchObject({ data: { text: 'other' } });
    await expect(stage.brain.sessions.queue('else', stage.id, { text: 'hello', key: 'k' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a waiting message', () => {
  it('is listed in its order, with its text and time, until it leaves', async () => {
    const stage = await LivingLifecycle.set();
    expect(await stage.brain.sessions.waiting(TENANT, stage.id)).toEqual([]);
    const [, second, third] = await stage.queueAll('runs', 'second', 'third');
    const recorded_at = stage.brain.clock.now();

    expect(await stage.brain.sessions.waiting(TENANT, stage.id)).toEqual([
      { message_sequence: second, text: 'second', recorded_at },
      { message_sequence: third, text: 'third', recorded_at },
    ]);
  });

  it('is withdrawn for good: it never runs, its key stays known, and its place is free', async () => {
    const stage = await LivingLifecycle.set();
    const [runs] = await stage.queueAll('runs');
    const { sequence } = await stage.queue('taken back', 'k');
    const [last] = await stage.queueAll(...texts(WAITING_MAX - 1)).then((all) => all.slice(-1));
    await stage.withdraw(sequence);
    await stage.queue('in its place');
    await expect(stage.withdraw(sequence)).rejects.toMatchObject({ code: 'not_found' });
    for (let call = 0; call <= WAITING_MAX; call += 1) await stage.answer(call);

    expect(asked(stage)).not.toContain('taken back');
    const events = await stage.events();
    expect(events.filter(({ input_sequence }) => input_sequence === sequence).map(briefOf)).toEqual([`user.message ${sequence}`, `error withdrawn ${sequence}`]);
    expect((await stage.queue('taken back', 'k')).sequence).toBe(sequence);
    for (const started of [runs, last]) await expect(stage.withdraw(started ?? 0)).rejects.toMatchObject({ code: 'already_started' });
  });

  it('withdrawn at any moment around its start is either not run or reported as started', async () => {
    const outcomes = new Set<string>();
    for (let moment = 0; moment < 60; moment += 1) {
      const stage = await LivingLifecycle.set();
      const [, next] = await stage.queueAll('runs', 'next');
      (await stage.call(0)).answer(saying('done'));
      await reach(moment * 2);
      const outcome = await stage.withdraw(next ?? 0).then(
        () => 'withdrawn',
        (error: unknown) => (error as { code: string }).code,
      );
      await quiescence();
      expect(await stage.told()).toContain(outcome === 'withdrawn' ? `error withdrawn ${next}` : `running ${next}`);
      expect(brokenInvariants(await stage.brain.journal(stage.id))).toEqual([]);
      outcomes.add(outcome);
    }
    expect([...outcomes].toSorted()).toEqual(['already_started', 'withdrawn']);
  });

  it.each([0, 1, 2, 4, 99])('is not found at %d, where no message is', async (sequence) => {
    const stage = await LivingLifecycle.set();
    await stage.queue('runs');

    await expect(stage.withdraw(sequence)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that was failed in conflict is found no more', async () => {
    const stage = await LivingLifecycle.set();
    const [, next] = await stage.queueAll('runs', 'next');
    await stage.interrupt();
    await quiescence();

    await expect(stage.withdraw(next ?? 0)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the list', () => {
  it('reads for the lifecycle surface in its own statuses', async () => {
    const brain = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id: idle } = await brain.createChat({ surface: 'sessions' });
    const { session_id: closed } = await brain.createChat();
    await brain.sessions.end(TENANT, closed);
    const ids = async (lifecycle: Parameters<typeof brain.sessions.list>[1]['lifecycle']): Promise<readonly string[]> => {
      const { sessions } = await brain.sessions.list(TENANT, { after: '', limit: 10, ...(lifecycle === undefined ? {} : { lifecycle }) });
      return sessions.map(({ session_id }) => session_id);
    };

    expect(await ids({})).toEqual([idle, closed]);
    expect(await ids({ status: 'closed' })).toEqual([closed]);
    expect(await ids({ status: 'idle' })).toEqual([idle]);
    expect(await ids({ status: 'failed' })).toEqual([]);
  });
});
