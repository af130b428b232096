/** The application API where it is more than its parts. */
import { describe, expect, it } from 'vitest';
import type { ServiceError } from '../../../services/errors.ts';
import { plan } from '../../support/disk-faults.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

describe('create', () => {
  it('S-159, S-160: records the seed as the opening conversation', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat({ transcript: [user('before')] });

    expect(await stage.types(session_id)).toEqual(['session_created', 'transcript_delta', 'session_ready']);
    expect(await stage.sessions.transcript(TENANT, session_id)).toMatchObject({ messages: [user('before')] });
  });

  it.each([
    { what: 'a reference to a record', transcript: [{ role: 'user', content: [], sequences: [1] }] },
    { what: 'no message', transcript: [null] },
    { what: 'a message of nobody', transcript: [{ role: 'system', content: [] }] },
  ])('refuses a seed with $what, and leaves nothing of the session', async ({ transcript }) => {
    const stage = await LivingBrain.start();

    await expect(stage.createChat({ transcript: transcript as never })).rejects.toMatchObject({ code: 'invalid_request', details: { field: '/transcript' } });

    expect(await stage.sessions.list(TENANT, { after: '', limit: 10 })).toEqual({ sessions: [], next_cursor: null });
  });

  it('refuses a seed that is too large to be recorded, and leaves nothing of the session', async () => {
    const stage = await LivingBrain.start();

    await expect(stage.createChat({ transcript: [user('x'.repeat(17 * 1024 * 1024))] })).rejects.toMatchObject({ code: 'too_large' });

    expect((await stage.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toEqual([]);
    // What was taken away is removed when there is time.
    await quiescence();
    expect(stage.handles.openFiles).toEqual([]);
    expect((await (await stage.restart()).sessions.list(TENANT, { after: '', limit: 10 })).sessions).toEqual([]);
  });

  it.each(['write', 'sync', 'makeDirectory', 'syncDirectory'] as const)('leaves nothing of a session whose %s failed, now and after a restart', async (kind) => {
    const stage = await LivingBrain.start();
    stage.disk.plan = (call) => (call.kind === kind && call.path.includes('/sessions') ? { fails: 'EIO' } : undefined);
    await expect(stage.createChat()).rejects.toMatchObject({ code: 'journal_unavailable' });
    stage.disk.plan = () => undefined;

    expect((await stage.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toEqual([]);
    const { session_id } = await stage.createChat();
    const next = await stage.restart();
    expect((await next.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toMatchObject([{ session_id }]);
  });

  it('S-058: records what the names stood for, and asks no more', async () => {
    const stage = await LivingBrain.start();
    const { session_id, model, tools } = await stage.createChat({ model: { provider: 'any', name: 'one' } });
    stage.model.resolve = () => {
      throw new Error('a session is moved');
    };

    expect(await stage.sessions.send(TENANT, session_id, 'hello')).toMatchObject({ outcome: 'ended' });
    expect((await stage.journal(session_id))[0]).toMatchObject({ data: { model, tools } });
  });
});

describe('list', () => {
  it('S-014, S-138: shows what recovery closed, for each session that a kill interrupted', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'deaf') });
    const { session_id } = await stage.createChat();
    await stage.sessions.submit(TENANT, session_id, 'hello');
    await stage.model.calls.at(0);
    const next = await stage.restart();

    const { sessions } = await next.sessions.list(TENANT, { after: '', limit: 10 });

    expect(sessions).toMatchObject([{ session_id, status: 'idle', resident: false }]);
    expect((await next.journal(session_id)).at(-1)).toMatchObject({ type: 'turn_failed', data: { code: 'interrupted_by_restart' } });
  });

  it('L-118, L-120: says that there is more only where there is more of this tenant', async () => {
    const stage = await LivingBrain.start();
    const mine = [await stage.createChat(), await stage.createChat()].map(({ session_id }) => session_id);
    await stage.sessions.create('acme', { surface: 'v1', agentloop: { name: 'chat' } });

    const first = await stage.sessions.list(TENANT, { after: '', limit: 1 });
    expect(first).toMatchObject({ sessions: [{ session_id: mine[0] }], next_cursor: mine[0] });
    const second = await stage.sessions.list(TENANT, { after: mine[0] ?? '', limit: 1 });
    expect(second).toMatchObject({ sessions: [{ session_id: mine[1] }], next_cursor: null });
  });

  it('shows a damaged session to the operator as damaged, and takes no other down with it', async () => {
    const stage = await LivingBrain.start();
    const bad = await stage.createChat();
    const good = await stage.createChat();
    await stage.brain.close();
    const file = stage.disk.files(`/data/sessions/${bad.session_id}/journal`)[0] ?? '';
    stage.disk.damage(file, (bytes) => bytes.map((byte, index) => (index === 80 ? byte ^ 1 : byte)));
    const next = await stage.restart();

    const { sessions } = await next.sessions.list(TENANT, { after: '', limit: 10 });

    expect(sessions).toMatchObject([{ session_id: bad.session_id, damaged: true }, { session_id: good.session_id, status: 'idle' }]);
    await expect(next.sessions.get(TENANT, bad.session_id)).rejects.toMatchObject({ code: 'journal_corrupt', details: { file: expect.stringContaining('sessions/') } });
    await expect(next.sessions.get('acme', bad.session_id)).rejects.toMatchObject({ code: 'not_found' });
  });

  // Its own tenant was told that there is no such session, and the operator of damage that was none of its business.
  it('shows a damaged session to its tenant as damaged, and to nobody else, while its beginning tells whose it is', async () => {
    const stage = await LivingBrain.start();
    const { session_id: id } = await stage.sessions.create('acme', { surface: 'v1', agentloop: { name: 'chat' } });
    await stage.sessions.send('acme', id, 'hello');
    await stage.brain.close();
    const file = stage.disk.files(`/data/sessions/${id}/journal`)[0] ?? '';
    stage.disk.damage(file, (bytes) => bytes.map((byte, index) => (index === bytes.length - 300 ? byte ^ 1 : byte)));
    const next = await stage.restart();

    await expect(next.sessions.get('acme', id)).rejects.toMatchObject({ code: 'journal_corrupt' });
    expect((await next.sessions.list('acme', { after: '', limit: 10 })).sessions).toMatchObject([{ session_id: id, damaged: true }]);
    for (const other of [TENANT, 'beta']) {
      await expect(next.sessions.get(other, id)).rejects.toMatchObject({ code: 'not_found' });
      expect((await next.sessions.list(other, { after: '', limit: 10 })).sessions).toEqual([]);
    }
  });

  it('lists the others while one cannot be read, since its disk fails', async () => {
    const stage = await LivingBrain.start();
    const bad = await stage.createChat();
    const good = await stage.createChat();
    plan(stage.disk, { kinds: ['sync', 'truncate'], sessionId: bad.session_id }, { fails: 'EIO' });
    await expect(stage.sessions.send(TENANT, bad.session_id, 'hello')).rejects.toMatchObject({ code: 'journal_unavailable' });

    const { sessions } = await stage.sessions.list(TENANT, { after: '', limit: 10 });

    expect(sessions).toMatchObject([{ session_id: bad.session_id, damaged: true }, { session_id: good.session_id, status: 'idle' }]);
  });
});

describe('a tenant', () => {
  it('L-125, L-126: is told of another tenant’s session what it is told of none', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    const { sessions } = stage;
    const signal = new AbortController().signal;
    const asked = (id: string) => [
      () => sessions.get('acme', id),
      () => sessions.send('acme', id, 'x'),
      () => sessions.submit('acme', id, 'x'),
      () => sessions.cancel('acme', id),
      () => sessions.resume('acme', id),
      () => sessions.end('acme', id),
      () => sessions.delete('acme', id),
      () => sessions.events('acme', id, { after: 99, limit: 1 }),
      () => sessions.journal('acme', id, { after: 0, limit: 1 }),
      () => sessions.transcript('acme', id),
      () => sessions.followEvents('acme', id, 99, signal),
      () => sessions.followJournal('acme', id, 0, signal),
    ];
    const refusal = async (ask: () => Promise<unknown>) =>
      ask().then(
        () => expect.fail('it was answered'),
        (error: unknown) => {
          const { code, message, details } = error as ServiceError;
          return { code, message, details };
        },
      );

    for (const [index, ask] of asked(session_id).entries()) {
      const none = asked('0'.repeat(32))[index] ?? expect.fail('the same verb');
      expect(await refusal(ask)).toEqual(await refusal(none));
    }
    expect(await stage.types(session_id)).toHaveLength(2);
  });

  it('hears of its own session that the journal is unavailable, not that it is gone', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => saying('yes')) });
    const { session_id } = await stage.sessions.create('acme', { surface: 'v1', agentloop: { name: 'chat' } });
    const faults = plan(stage.disk, { kinds: ['sync', 'truncate'], sessionId: session_id }, { fails: 'EIO' });
    await expect(stage.sessions.send('acme', session_id, 'x')).rejects.toMatchObject({ code: 'journal_unavailable' });
    await quiescence();

    await expect(stage.sessions.get('acme', session_id)).rejects.toMatchObject({ code: 'journal_unavailable' });
    await expect(stage.sessions.get('other', session_id)).rejects.toMatchObject({ code: 'not_found' });
    faults.heal();

    await expect(stage.sessions.send('acme', session_id, 'x')).resolves.toMatchObject({ outcome: 'ended' });
  });
});
