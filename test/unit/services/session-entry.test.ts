/** What a failed append costs: that incarnation of that session, and nothing else. */
import { describe, expect, it } from 'vitest';
import { plan } from '../../support/disk-faults.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { ScriptedTools, WAITS } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const modelThatWaits = (): ScriptedModel => new ScriptedModel((_call, index) => (index === 0 ? 'waits' : saying('again')));

/** A turn in its first model call, with a follower. */
async function atWork(options: LivingBrainOptions = {}) {
  const stage = await LivingBrain.start({ model: modelThatWaits(), ...options });
  const { session_id } = await stage.createChat();
  const reader = await LiveReader.of(stage.sessions, session_id);
  const sent = stage.sessions.send(TENANT, session_id, 'hello');
  sent.catch(() => undefined);
  const call = await stage.model.calls.at(0);
  await quiescence();
  return { stage, session_id, reader, sent, call };
}

describe('a session whose append failed', () => {
  it.each([
    { kinds: ['write'], code: 'EIO', answer: 'journal_unavailable' },
    { kinds: ['sync'], code: 'EIO', answer: 'journal_unavailable' },
    { kinds: ['write'], code: 'ENOSPC', answer: 'disk_full' },
  ] as const)('answers $answer where $kinds said $code, and takes the next message once the disk works', async ({ kinds, code, answer }) => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    const before = await stage.journal(session_id);
    const faults = plan(stage.disk, { kinds, sessionId: session_id, times: 1 }, { fails: code });

    await expect(stage.sessions.send(TENANT, session_id, 'hello')).rejects.toMatchObject({ code: answer });

    expect(faults.count).toBe(1);
    expect(await stage.journal(session_id)).toEqual(before);
    await expect(stage.sessions.send(TENANT, session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
  });

  it('S-137: shows nothing of the commit that failed, to no reader and after no power cut', async () => {
    const stage = await LivingBrain.start();
    const { session_id, last_sequence } = await stage.createChat();
    const reader = await LiveReader.of(stage.sessions, session_id);
    await quiescence();
    plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { fails: 'EIO' });

    await expect(stage.sessions.submit(TENANT, session_id, 'hello')).rejects.toMatchObject({ code: 'journal_unavailable' });
    await quiescence();

    expect(reader.recorded.at(-1)?.sequence).toBe(last_sequence);
    expect((await stage.afterPowerCut(session_id)).at(-1)?.sequence).toBe(last_sequence);
  });

  it('S-114, S-143: ends the turn under way as recovery does, for a follower and a waiting sender, without a gap or a repeat', async () => {
    const { stage, session_id, reader, sent, call } = await atWork();
    plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { fails: 'EIO' });

    call.answer(saying('lost'));

    await expect(sent).resolves.toMatchObject({ outcome: 'failed', error: { code: 'interrupted_by_restart' } });
    await quiescence();
    expect(call.signal.aborted).toBe(true);
    const { items } = await stage.sessions.events(TENANT, session_id, { after: 0, limit: 1_000 });
    expect(reader.recorded).toEqual(items);
    expect(reader.types.slice(-3)).toEqual(['model_call_failed', 'activation_failed', 'turn_failed']);
    expect(items.find(({ type }) => type === 'model_call_failed')).toMatchObject({ data: { outcome: 'unknown' } });
    await expect(stage.sessions.send(TENANT, session_id, 'again')).resolves.toMatchObject({ outcome: 'ended' });
  });

  it('S-126: records no answer that comes late, and waits no longer than its cleanup bound for executors that are deaf', async () => {
    const tools = new ScriptedTools(['look', 'act'], ({ tool }) => (tool === 'look' ? 'seen' : WAITS));
    const model = new ScriptedModel(() => calling({ tool: 'look' }, { tool: 'act' }));
    const stage = await LivingBrain.start({ tools, model });
    const { session_id } = await stage.createChat();
    tools.script = ({ tool }) => {
      if (tool === 'look') plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { fails: 'EIO' });
      return tool === 'look' ? 'seen' : WAITS;
    };
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    const act = await tools.calls.first(({ tool }) => tool === 'act');
    await quiescence();
    expect(act.context.signal.aborted).toBe(true);
    let isRead = false;
    const read = stage.journal(session_id).finally(() => (isRead = true));
    await stage.clock.advance(9_999);
    expect(isRead).toBe(false);
    await stage.clock.advance(1);

    await expect(sent).resolves.toMatchObject({ outcome: 'failed', error: { code: 'interrupted_by_restart' } });
    act.answer('late');
    await expect(act.context.emit('acme.late', 1)).rejects.toThrow();
    await quiescence();
    expect(await stage.journal(session_id)).toEqual(await read);
    const ends = (await read).filter(({ type }) => type === 'tool_call_ended');
    expect(ends).toMatchObject([{ data: { outcome: 'unknown' } }, { data: { outcome: 'unknown' } }]);
    expect(tools.calls.all).toHaveLength(2);
  });

  it('S-118: tells the executors of its turn, although none of them had asked for what failed', async () => {
    const { stage, session_id, sent, call } = await atWork();
    plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { fails: 'EIO' });

    await expect(stage.sessions.end(TENANT, session_id)).rejects.toMatchObject({ code: 'journal_unavailable' });

    expect(call.signal.aborted).toBe(true);
    await expect(sent).resolves.toMatchObject({ error: { code: 'interrupted_by_restart' } });
    expect(await stage.atRest(session_id)).toMatchObject({ status: 'idle' });
  });

  it('takes no other session with it', async () => {
    const { stage, session_id, call } = await atWork();
    const other = await stage.createChat();
    const reader = await LiveReader.of(stage.sessions, other.session_id);
    const faults = plan(stage.disk, { kinds: ['sync', 'truncate'], sessionId: session_id }, { fails: 'EIO' });
    call.answer(saying('lost'));
    await quiescence();

    await expect(stage.sessions.send(TENANT, other.session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
    expect(reader.error).toBe(null);
    expect(faults.count).toBeGreaterThan(1);
  });

  it('answers journal_unavailable as long as it cannot be cut back, to every read and command, and comes back with the disk', async () => {
    const { stage, session_id, reader, sent, call } = await atWork();
    const faults = plan(stage.disk, { kinds: ['sync', 'truncate'], sessionId: session_id }, { fails: 'EIO' });
    call.answer(saying('lost'));
    await expect(sent).rejects.toMatchObject({ code: 'journal_unavailable' });
    await reader.ended;
    expect(reader.error).toMatchObject({ code: 'journal_unavailable' });
    const { sessions } = stage;
    for (const ask of [
      () => sessions.get(TENANT, session_id),
      () => sessions.send(TENANT, session_id, 'x'),
      () => sessions.cancel(TENANT, session_id),
      () => sessions.transcript(TENANT, session_id),
      () => sessions.events(TENANT, session_id, { after: 0, limit: 1 }),
      () => LiveReader.of(sessions, session_id),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'journal_unavailable' });
    }
    faults.heal();

    const after = reader.recorded.at(-1)?.sequence ?? 0;
    const again = await LiveReader.of(sessions, session_id, after);
    await expect(sessions.send(TENANT, session_id, 'again')).resolves.toMatchObject({ outcome: 'ended' });
    await quiescence();
    const { items } = await sessions.events(TENANT, session_id, { after: 0, limit: 1_000 });
    expect([...reader.recorded, ...again.recorded]).toEqual(items);
    expect(items.filter(({ type }) => type === 'turn_failed')).toHaveLength(1);
  });
});

describe('a session that a kill interrupted', () => {
  it.each(['get', 'list', 'events', 'followEvents', 'transcript', 'journal'] as const)(
    'S-138, S-139, S-143: is recovered by %s as the first access, before it answers, once, and without an actor',
    async (route) => {
      const { stage, session_id } = await atWork();
      const next = await stage.restart();
      const { sessions } = next;
      const page = { after: 0, limit: 100 };
      const reads = {
        get: () => sessions.get(TENANT, session_id),
        list: () => sessions.list(TENANT, { after: '', limit: 1 }),
        events: () => sessions.events(TENANT, session_id, page),
        followEvents: async () => {
          const reader = await LiveReader.of(sessions, session_id);
          await quiescence();
          return reader.types;
        },
        transcript: () => sessions.transcript(TENANT, session_id),
        journal: () => sessions.journal(TENANT, session_id, page),
      };
      const answers = await Promise.all([reads[route](), reads[route](), reads[route]()]);

      expect(JSON.stringify(answers[0])).not.toContain('"running"');
      if (route === 'events' || route === 'journal' || route === 'followEvents') expect(JSON.stringify(answers[0])).toContain('turn_failed');
      expect(answers[1]).toEqual(answers[0]);
      const records = await next.journal(session_id);
      expect(records.filter(({ type }) => type === 'turn_failed')).toHaveLength(1);
      expect(next.model.calls.all).toHaveLength(1);
      expect(await next.atRest(session_id)).toMatchObject({ resident: false });
      expect((await (await next.restart()).journal(session_id)).length).toBe(records.length);
    },
  );

  it('S-138: is recovered by a command as the first access, which then finds it at rest', async () => {
    const { stage, session_id } = await atWork();
    const next = await stage.restart();

    await expect(next.sessions.send(TENANT, session_id, 'again')).resolves.toMatchObject({ outcome: 'ended' });
    expect((await next.types(session_id)).filter((type) => type.startsWith('turn_'))).toEqual(['turn_started', 'turn_failed', 'turn_started', 'turn_ended']);
  });
});
