import { describe, expect, it } from 'vitest';
import { KeyedCall, type KeyedRoute } from '../../../services/keyed-call.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const HOUR_MS = 60 * 60 * 1000;

function keyed<R extends KeyedRoute>(route: R, key = 'key', body = 'one body'): KeyedCall<R> {
  return new KeyedCall(route, key, body);
}

/** A brain with a session whose model waits for the test. */
async function waiting(): Promise<{ readonly brain: LivingBrain; readonly id: string }> {
  const brain = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
  const { session_id: id } = await brain.createChat();
  return { brain, id };
}

describe('a message sent again under its key', () => {
  it('S-092: gets the first receipt while its turn runs, and after a restart, and starts no other turn', async () => {
    const { brain, id } = await waiting();
    const first = await brain.sessions.submit(TENANT, id, 'do it', keyed('submit'));
    const again = keyed('submit');

    expect(await brain.sessions.submit(TENANT, id, 'do it', again)).toEqual(first);
    expect(again.isReplayed).toBe(true);

    const next = await brain.restart();
    expect(await next.sessions.repeated(TENANT, id, keyed('submit'))).toEqual({ answer: first });
    expect((await next.types(id)).filter((type) => type === 'turn_started')).toHaveLength(1);
  });

  it('S-091: is another request in the other mode', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    await brain.sessions.send(TENANT, id, 'do it', keyed('send'));
    await brain.sessions.submit(TENANT, id, 'do it', keyed('submit'));
    await brain.atRest(id);

    expect((await brain.types(id)).filter((type) => type === 'turn_started')).toHaveLength(2);
  });

  it('is told that it is under way while its turn runs, and gets the same answer when it is over', async () => {
    const { brain, id } = await waiting();
    const sent = brain.sessions.send(TENANT, id, 'do it', keyed('send'));
    const call = await brain.model.calls.at(0);

    await expect(brain.sessions.send(TENANT, id, 'do it', keyed('send'))).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    await expect(brain.sessions.repeated(TENANT, id, keyed('send'))).rejects.toMatchObject({ code: 'idempotency_in_progress' });

    call.answer(saying('done'));
    const answer = await sent;
    expect(answer.result?.text).toBe('done');
    expect(await brain.sessions.repeated(TENANT, id, keyed('send'))).toEqual({ answer });
  });

  it('S-154: is ambiguous where a restart closed its turn, names the turn, and never runs again', async () => {
    const { brain, id } = await waiting();
    void brain.sessions.send(TENANT, id, 'do it', keyed('send')).catch(() => undefined);
    await brain.model.calls.at(0);

    const next = await brain.restart();
    await next.clock.advance(1_000 * HOUR_MS);
    await expect(next.sessions.repeated(TENANT, id, keyed('send'))).rejects.toMatchObject({
      code: 'idempotency_ambiguous',
      details: { session_id: id, sequence: 4 },
    });
    await expect(next.sessions.send(TENANT, id, 'do it', keyed('send'))).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
    expect(next.model.calls.all).toHaveLength(1);
  });

  it('gets the answer of a cancelled turn where its cancel was recorded before the kill: that decided how it ends', async () => {
    const { brain, id } = await waiting();
    void brain.sessions.send(TENANT, id, 'do it', keyed('send')).catch(() => undefined);
    await brain.model.calls.at(0);
    // The process dies with the cancel on the disk, and before the turn's end is.
    brain.disk.plan = ({ kind, path }) => (kind === 'sync' && path.includes(id) ? { dies: 'after' } : undefined);
    void brain.sessions.cancel(TENANT, id).catch(() => undefined);
    await brain.hasDied;
    brain.disk.plan = () => undefined;

    const next = await brain.restart();
    const answer = { outcome: 'failed', error: { code: 'cancelled' } };
    expect(await next.sessions.repeated(TENANT, id, keyed('send'))).toMatchObject({ answer });
    expect(await next.sessions.send(TENANT, id, 'do it', keyed('send'))).toMatchObject(answer);
    expect(next.model.calls.all).toHaveLength(1);
    expect((await next.journal(id)).find(({ type }) => type === 'model_call_failed')).toMatchObject({ data: { outcome: 'unknown' } });
  });

  it('with another body is refused, whatever became of the first', async () => {
    const { brain, id } = await waiting();
    await brain.sessions.submit(TENANT, id, 'do it', keyed('submit'));

    await expect(brain.sessions.submit(TENANT, id, 'do that', keyed('submit', 'key', 'another'))).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });

  it('starts one turn of a hundred that come at once', async () => {
    const { brain, id } = await waiting();
    const sent = Array.from({ length: 100 }, () => brain.sessions.submit(TENANT, id, 'do it', keyed('submit')));
    const receipts = new Set((await Promise.all(sent)).map(({ sequence }) => sequence));

    expect(receipts.size).toBe(1);
    expect((await brain.types(id)).filter((type) => type === 'message_queued')).toHaveLength(1);
  });

  it('L-050: is as free as before where the first was refused', async () => {
    const { brain, id } = await waiting();
    await brain.sessions.submit(TENANT, id, 'the first');
    await expect(brain.sessions.submit(TENANT, id, 'do it', keyed('submit'))).rejects.toMatchObject({ code: 'session_busy' });
    (await brain.model.calls.at(0)).answer(saying('done'));
    await brain.atRest(id);

    const call = keyed('submit');
    await brain.sessions.submit(TENANT, id, 'do it', call);
    expect(call.isReplayed).toBe(false);
  });

  it('S-092: is answered before anything is checked: when the session has ended, and while the server drains', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    const answer = await brain.sessions.send(TENANT, id, 'do it', keyed('send'));
    await brain.sessions.end(TENANT, id);
    await brain.brain.drain(null);

    expect(await brain.sessions.repeated(TENANT, id, keyed('send'))).toEqual({ answer });
  });

  it('S-153: is a new request a day after its answer was complete', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    await brain.sessions.send(TENANT, id, 'do it', keyed('send'));

    await brain.clock.advance(24 * HOUR_MS);
    expect(await brain.sessions.repeated(TENANT, id, keyed('send'))).not.toBeNull();
    await brain.clock.advance(1);
    expect(await brain.sessions.repeated(TENANT, id, keyed('send'))).toBeNull();
  });
});

describe('a verb sent again under its key', () => {
  it('is answered as it was, though the session went on', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    const labelled = await brain.sessions.changeMetadata(TENANT, id, { team: 'blue' }, keyed('change_metadata'));
    await brain.sessions.changeMetadata(TENANT, id, { team: 'red' });
    await brain.sessions.send(TENANT, id, 'go on');

    const again = await brain.sessions.repeated(TENANT, id, keyed('change_metadata'));
    expect(again?.answer).toEqual({ ...labelled, resident: false });
  });

  it('that changed nothing is known all the same', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    await brain.sessions.cancel(TENANT, id, keyed('cancel'));

    const next = await brain.restart();
    expect(await next.sessions.repeated(TENANT, id, keyed('cancel'))).toEqual({ answer: null });
  });

  it('ends once: in progress while the turn runs out, then the same answer', async () => {
    const { brain, id } = await waiting();
    await brain.sessions.submit(TENANT, id, 'do it');
    const call = await brain.model.calls.at(0);
    const ended = brain.sessions.end(TENANT, id, keyed('end'));
    await quiescence();
    await expect(brain.sessions.repeated(TENANT, id, keyed('end'))).rejects.toMatchObject({ code: 'idempotency_in_progress' });

    call.answer(saying('done'));
    const view = await ended;
    expect(view.status).toBe('ended');
    expect((await brain.sessions.repeated(TENANT, id, keyed('end')))?.answer).toEqual(view);
  });

  it('is in progress as long as the end that came before it is, and then gets the same answer', async () => {
    const { brain, id } = await waiting();
    await brain.sessions.submit(TENANT, id, 'do it');
    const call = await brain.model.calls.at(0);
    const first = brain.sessions.end(TENANT, id);
    const second = brain.sessions.end(TENANT, id, keyed('end'));
    await quiescence();
    await expect(brain.sessions.repeated(TENANT, id, keyed('end'))).rejects.toMatchObject({ code: 'idempotency_in_progress' });

    call.answer(saying('done'));
    await first;
    const view = await second;
    expect(view.status).toBe('ended');
    expect((await brain.sessions.repeated(TENANT, id, keyed('end')))?.answer).toEqual(view);
  });

  it('gets the answer that it had, though another change came with it', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    const [labelled] = await Promise.all([
      brain.sessions.changeMetadata(TENANT, id, { a: '1' }, keyed('change_metadata')),
      brain.sessions.changeMetadata(TENANT, id, { b: '2' }),
    ]);

    const again = await brain.sessions.repeated(TENANT, id, keyed('change_metadata'));
    expect({ ...again?.answer, resident: false }).toEqual({ ...labelled, resident: false });
  });

  it('S-154: is ambiguous where a restart carried the end out', async () => {
    const { brain, id } = await waiting();
    await brain.sessions.submit(TENANT, id, 'do it');
    await brain.model.calls.at(0);
    void brain.sessions.end(TENANT, id, keyed('end')).catch(() => undefined);
    await quiescence();

    const next = await brain.restart();
    await expect(next.sessions.repeated(TENANT, id, keyed('end'))).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
  });
});

describe('a create sent again under its key', () => {
  it('S-152: gets the session that the first one made, also after a restart', async () => {
    const brain = await LivingBrain.start();
    const made = await brain.sessions.create(TENANT, { surface: 'v1' }, keyed('create'));
    const again = keyed('create');
    expect(await brain.sessions.create(TENANT, { surface: 'v1' }, again)).toMatchObject({ session_id: made.session_id });
    expect(again.isReplayed).toBe(true);

    const next = await brain.restart();
    await next.sessions.send(TENANT, made.session_id, 'hello');
    expect(await next.sessions.repeated(TENANT, null, keyed('create'))).toEqual({ answer: { ...made, resident: false } });
    expect((await next.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toHaveLength(1);
  });

  it('gets the same answer when the session was deleted since', async () => {
    const brain = await LivingBrain.start();
    const made = await brain.sessions.create(TENANT, { surface: 'v1' }, keyed('create'));
    await brain.sessions.end(TENANT, made.session_id);
    await brain.sessions.delete(TENANT, made.session_id);

    const next = await brain.restart();
    expect(await next.sessions.repeated(TENANT, null, keyed('create'))).toEqual({ answer: { ...made, resident: false } });
  });

  it('S-155: is ambiguous where the server was killed between the claim and the session, for ever', async () => {
    const brain = await LivingBrain.start();
    // The claim is written first, and the session's own files after it.
    brain.disk.plan = ({ path, kind }) => (kind === 'write' && path.includes('/sessions/') ? { dies: 'before' } : undefined);
    void brain.sessions.create(TENANT, { surface: 'v1' }, keyed('create')).catch(() => undefined);
    await quiescence();
    brain.disk.plan = () => undefined;

    const next = await brain.restart();
    await next.clock.advance(1_000 * HOUR_MS);
    await expect(next.sessions.repeated(TENANT, null, keyed('create'))).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
    await expect(next.sessions.create(TENANT, { surface: 'v1' }, keyed('create'))).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
  });

  it('makes one session of fifty that come at once', async () => {
    const brain = await LivingBrain.start();
    const made = await Promise.allSettled(
      Array.from({ length: 50 }, () => brain.sessions.create(TENANT, { surface: 'v1' }, keyed('create'))),
    );

    expect(made.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    expect((await brain.sessions.list(TENANT, { after: '', limit: 100 })).sessions).toHaveLength(1);
  });

  it('makes no second session where the first failed and could not be taken away again', async () => {
    const brain = await LivingBrain.start();
    brain.disk.plan = ({ path, kind }) =>
      path.includes('/sessions/') && (kind === 'sync' || kind === 'rename') ? { fails: 'EIO' } : undefined;
    await expect(brain.sessions.create(TENANT, { surface: 'v1' }, keyed('create'))).rejects.toMatchObject({ code: 'journal_unavailable' });
    brain.disk.plan = () => undefined;

    const next = await brain.restart();
    await next.sessions.create(TENANT, { surface: 'v1' }, keyed('create')).catch(() => undefined);
    expect((await next.sessions.list(TENANT, { after: '', limit: 10 })).sessions.length).toBeLessThanOrEqual(1);
  });

  it('uses nothing up where a name could not be resolved', async () => {
    const brain = await LivingBrain.start();
    const call = keyed('create');
    await expect(brain.sessions.create(TENANT, { surface: 'v1', tools: ['nowhere'] }, call)).rejects.toMatchObject({ code: 'unknown_tool' });

    expect(await brain.sessions.repeated(TENANT, null, keyed('create', 'key', 'another'))).toBeNull();
  });

  it('belongs to its tenant', async () => {
    const brain = await LivingBrain.start();
    await brain.sessions.create(TENANT, { surface: 'v1' }, keyed('create'));

    expect(await brain.sessions.repeated('another', null, keyed('create'))).toBeNull();
  });
});

describe('a delete sent again under its key', () => {
  it('S-153: is answered though the session is gone, also after a restart', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    await brain.sessions.end(TENANT, id);
    await brain.sessions.delete(TENANT, id, keyed('delete'));
    expect(await brain.sessions.repeated(TENANT, id, keyed('delete'))).toEqual({ answer: null });

    const next = await brain.restart();
    expect(await next.sessions.repeated(TENANT, id, keyed('delete'))).toEqual({ answer: null });
    await expect(next.sessions.delete(TENANT, id, keyed('delete', 'another key'))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('uses nothing up where the session had to end first', async () => {
    const brain = await LivingBrain.start();
    const { session_id: id } = await brain.createChat();
    await expect(brain.sessions.delete(TENANT, id, keyed('delete'))).rejects.toMatchObject({ code: 'must_end' });
    await brain.sessions.end(TENANT, id);

    const call = keyed('delete');
    await brain.sessions.delete(TENANT, id, call);
    expect(call.isReplayed).toBe(false);
  });
});

describe('a create under one key on both surfaces', () => {
  it('is two requests, and each is answered again although its session was deleted', async () => {
    const brain = await LivingBrain.start();
    const surfaces = ['v1', 'sessions'] as const;
    const create = (surface: (typeof surfaces)[number]): ReturnType<LivingBrain['create']> =>
      brain.sessions.create(TENANT, { surface }, new KeyedCall('create', 'key', 'one body', surface));
    const [first, second] = [await create('v1'), await create('sessions')];
    expect(first.session_id).not.toBe(second.session_id);
    for (const { session_id } of [first, second]) {
      await brain.sessions.close(TENANT, session_id);
      await brain.sessions.delete(TENANT, session_id);
    }

    for (const [index, surface] of surfaces.entries()) {
      const again = await brain.sessions.repeated(TENANT, null, new KeyedCall('create', 'key', 'one body', surface));
      expect(again).toEqual({ answer: [first, second][index] });
    }
  });
});
