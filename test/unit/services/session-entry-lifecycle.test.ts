/** Ending, deleting, releasing and coming back: what one entry does, one at a time. */
import { describe, expect, it } from 'vitest';
import { segmentName } from '../../../storage/segment.ts';
import { plan } from '../../support/disk-faults.ts';
import { gate } from '../../support/gate.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { DATA, LivingBrain, TENANT, type LivingBrainOptions } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

async function withTurn(options: LivingBrainOptions = {}) {
  const stage = await LivingBrain.start({ model: new ScriptedModel((_call, index) => (index === 0 ? 'waits' : saying('more'))), ...options });
  const { session_id } = await stage.createChat();
  const sent = stage.sessions.send(TENANT, session_id, 'hello');
  const call = await stage.model.calls.at(0);
  await quiescence();
  return { stage, session_id, sent, call };
}

describe('end', () => {
  it('S-198, S-216: waits for the running turn and takes no message from its record on; a second end does the same', async () => {
    const { stage, session_id, sent, call } = await withTurn();
    const ends = [stage.sessions.end(TENANT, session_id), stage.sessions.end(TENANT, session_id)];
    await quiescence();

    await expect(stage.sessions.send(TENANT, session_id, 'more')).rejects.toMatchObject({ code: 'session_ending' });
    expect((await stage.types(session_id)).filter((type) => type === 'session_end_requested')).toHaveLength(1);
    call.answer(saying('done'));

    expect(await sent).toMatchObject({ outcome: 'ended' });
    expect(await Promise.all(ends)).toMatchObject([{ status: 'ended' }, { status: 'ended' }]);
    await expect(stage.sessions.end(TENANT, session_id)).resolves.toMatchObject({ status: 'ended' });
    await expect(stage.sessions.send(TENANT, session_id, 'more')).rejects.toMatchObject({ code: 'session_ended' });
    expect((await stage.types(session_id)).slice(-3)).toEqual(['turn_ended', 'session_ending', 'session_ended']);
  });

  it.each(['idle', 'hold'] as const)('S-222: is carried out where the turn that it waits for fails, with after_stop %s', async (after_stop) => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id } = await stage.createChat({ after_stop });
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    (await stage.model.calls.at(0)).answer({ outcome: 'failed', code: 'overloaded', message: 'no' });
    const ended = stage.sessions.end(TENANT, session_id);

    expect(await sent).toMatchObject({ outcome: 'failed' });
    expect(await ended).toMatchObject({ status: 'ended' });
  });

  it('L-109, S-142: is carried out by the next process where this one died before the turn was over', async () => {
    const { stage, session_id } = await withTurn();
    void stage.sessions.end(TENANT, session_id);
    await quiescence();
    const next = await stage.restart();

    expect(await next.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
  });

  it('ends its followers exactly once, after session_ended, and a new one at the end says so', async () => {
    const { stage, session_id, call } = await withTurn();
    const reader = await LiveReader.of(stage.sessions, session_id);
    const ended = stage.sessions.end(TENANT, session_id);
    call.answer(saying('done'));
    const { last_sequence } = await ended;
    await reader.ended;

    expect(reader.types.filter((type) => type === 'session_ended')).toHaveLength(1);
    expect(reader.types.at(-1)).toBe('session_ended');
    const signal = new AbortController().signal;
    expect(await stage.sessions.followEvents(TENANT, session_id, last_sequence, signal)).toMatchObject({ ended: true });
    expect(await stage.sessions.followEvents(TENANT, session_id, last_sequence - 1, signal)).toMatchObject({ ended: false });
  });
});

describe('delete', () => {
  it('S-204: is answered as another that it came during, where that is refused', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    const deletes = [stage.sessions.delete(TENANT, session_id), stage.sessions.delete(TENANT, session_id)];

    for (const one of deletes) await expect(one).rejects.toMatchObject({ code: 'must_end' });
  });

  it('S-204: is refused in every state but ended and failed', async () => {
    const { stage, session_id, call, sent } = await withTurn();
    await expect(stage.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'must_end' });
    call.answer(saying('done'));
    await sent;
    await expect(stage.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'must_end' });
    const held = await stage.createChat({ after_stop: 'hold' });
    stage.model.script = () => ({ outcome: 'failed', code: 'no', message: 'no' });
    await stage.sessions.send(TENANT, held.session_id, 'fail');
    await expect(stage.sessions.delete(TENANT, held.session_id)).resolves.toBeUndefined();
    await stage.sessions.end(TENANT, session_id);
    await expect(stage.sessions.delete(TENANT, session_id)).resolves.toBeUndefined();
    expect((await stage.sessions.list(TENANT, { after: '', limit: 10 })).sessions).toEqual([]);
  });

  it('S-201: takes the session away for good, for two callers at once, and nothing brings it back', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    await stage.sessions.end(TENANT, session_id);

    await Promise.allSettled([stage.sessions.delete(TENANT, session_id), stage.sessions.delete(TENANT, session_id)]);

    await expect(stage.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(stage.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
    stage.disk.cutPower(() => 0);
    const next = await LivingBrain.start({ disk: stage.disk });
    await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('ends readers and followers that are on without an error, and gives the next not_found', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => ({ outcome: 'failed', code: 'no', message: 'no' })) });
    const { session_id } = await stage.createChat({ after_stop: 'hold' });
    await stage.sessions.send(TENANT, session_id, 'fail');
    const waiting = await LiveReader.of(stage.sessions, session_id);
    await quiescence();
    const reads = gate();
    plan(stage.disk, { kinds: ['read'], sessionId: session_id }, { start: reads.opened });
    const reading = await LiveReader.of(stage.sessions, session_id, 1);
    const page = stage.sessions.events(TENANT, session_id, { after: 0, limit: 10 });
    await quiescence();
    const deleted = stage.sessions.delete(TENANT, session_id);
    await quiescence();
    reads.open();

    await deleted;
    expect((await page).items.length).toBeGreaterThan(0);
    await Promise.all([waiting.ended, reading.ended]);
    expect([waiting.error, reading.error]).toEqual([null, null]);
    await expect(LiveReader.of(stage.sessions, session_id)).rejects.toMatchObject({ code: 'not_found' });
    expect(stage.handles.openFiles).toEqual([]);
  });

  it('says so where the disk refuses, and can be asked for again', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    await stage.sessions.end(TENANT, session_id);
    stage.disk.plan = ({ kind }) => (kind === 'rename' ? { fails: 'EIO' } : undefined);
    await expect(stage.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'journal_unavailable' });
    await expect(stage.sessions.get(TENANT, session_id)).resolves.toMatchObject({ status: 'ended' });
    stage.disk.plan = () => undefined;

    await expect(stage.sessions.delete(TENANT, session_id)).resolves.toBeUndefined();
    await expect(stage.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a session that is just being closed', () => {
  it('takes the command that comes meanwhile', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    await stage.sessions.send(TENANT, session_id, 'one');
    const second = stage.sessions.send(TENANT, session_id, 'two');

    await expect(second).resolves.toMatchObject({ outcome: 'ended' });
  });
});

describe('a session at rest', () => {
  it('S-127, S-128: is released after its creation and after each turn, a failed one too, with no file open but its last', async () => {
    const stage = await LivingBrain.start();
    const created = await stage.createChat();
    const { session_id } = created;
    expect(created.resident).toBe(false);
    await stage.sessions.send(TENANT, session_id, 'one');
    expect(await stage.atRest(session_id)).toMatchObject({ resident: false, status: 'idle' });
    stage.model.script = () => ({ outcome: 'failed', code: 'no', message: 'no' });
    await stage.sessions.send(TENANT, session_id, 'two');

    expect(await stage.atRest(session_id)).toMatchObject({ resident: false, status: 'idle' });
    await quiescence();
    expect(stage.handles.openFiles).toEqual([lastSegmentOf(session_id)]);
    expect(stage.clock.timerCount).toBe(0);
  });

  it('S-129, S-130, S-162, S-164, S-165: is activated by no read and no follower, and a follower sees the turn that starts later', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat();
    const reader = await LiveReader.of(stage.sessions, session_id);
    await quiescence();
    await stage.sessions.transcript(TENANT, session_id);
    await stage.sessions.events(TENANT, session_id, { after: 0, limit: 10 });
    expect(await stage.atRest(session_id)).toMatchObject({ resident: false });
    await quiescence();
    expect(stage.handles.openFiles).toEqual([lastSegmentOf(session_id)]);

    await stage.sessions.send(TENANT, session_id, 'one');
    await quiescence();

    expect(reader.types).toContain('turn_ended');
    expect(await stage.atRest(session_id)).toMatchObject({ resident: false });
  });

  it('S-131: wakes for a message, each time for an activation of its own', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const { session_id } = await stage.createChat();
    for (const turn of [0, 1]) {
      expect(await stage.atRest(session_id)).toMatchObject({ resident: false, status: 'idle' });
      const sent = stage.sessions.send(TENANT, session_id, 'hello');
      const call = await stage.model.calls.at(turn);
      expect(await stage.atRest(session_id)).toMatchObject({ resident: true, status: 'running' });
      call.answer(saying('done'));
      await sent;
    }

    expect((await stage.types(session_id)).filter((type) => type === 'activation_started')).toHaveLength(2);
    expect(await stage.atRest(session_id)).toMatchObject({ resident: false, status: 'idle' });
  });

  it('S-133: keeps its actor for the time to live, counted from the turn’s end, which no read renews', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat({ idle_ttl_ms: 60_000 });
    await stage.clock.advance(59_000);
    await stage.sessions.send(TENANT, session_id, 'one');
    expect(await stage.atRest(session_id)).toMatchObject({ resident: true });
    await stage.clock.advance(59_000);
    await stage.sessions.transcript(TENANT, session_id);
    await stage.sessions.cancel(TENANT, session_id);
    await stage.clock.advance(999);
    expect(await stage.atRest(session_id)).toMatchObject({ resident: true });

    await stage.clock.advance(1);

    expect(await stage.atRest(session_id)).toMatchObject({ resident: false, status: 'idle' });
    expect((await stage.types(session_id)).filter((type) => type === 'session_suspended')).toHaveLength(1);
    await quiescence();
    expect(stage.handles.openFiles).toEqual([lastSegmentOf(session_id)]);
  });

  it.each([
    { asked: 0, server: 1_000, kept: true },
    { asked: null, server: 0, kept: false },
    { asked: undefined, server: 0, kept: true },
    { asked: undefined, server: null, kept: false },
  ])('S-134, S-135, S-136: with idle_ttl_ms $asked on a server of $server, keeps its actor: $kept', async ({ asked, server, kept }) => {
    const stage = await LivingBrain.start({ retain: server });
    const { session_id } = await stage.createChat(asked === undefined ? {} : { idle_ttl_ms: asked });
    await stage.sessions.send(TENANT, session_id, 'one');
    await stage.clock.advance(1_000_000_000);

    expect(await stage.atRest(session_id)).toMatchObject({ resident: kept });
    expect(stage.clock.timerCount).toBe(0);
  });

  it('says that it was suspended with its next command after a restart, and not by a read', async () => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat({ idle_ttl_ms: 0 });
    await stage.sessions.send(TENANT, session_id, 'one');
    const next = await stage.restart();
    const before = await next.journal(session_id);
    await next.sessions.transcript(TENANT, session_id);
    expect(before.at(-1)).toMatchObject({ type: 'turn_ended', state: 'idle' });
    expect(await next.journal(session_id)).toEqual(before);

    await next.sessions.send(TENANT, session_id, 'two');

    expect((await next.types(session_id)).slice(before.length, before.length + 2)).toEqual(['session_suspended', 'message_queued']);
  });

  it.each([0, 60_000])('holds no actor after a restart for a command that changes nothing, with idle_ttl_ms %s', async (idle_ttl_ms) => {
    const stage = await LivingBrain.start();
    const { session_id } = await stage.createChat({ idle_ttl_ms });
    const next = await stage.restart();
    const before = await next.journal(session_id);

    await next.sessions.cancel(TENANT, session_id);
    await next.sessions.resume(TENANT, session_id);
    await expect(next.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'must_end' });
    await next.clock.advance(60_000);

    expect(await next.atRest(session_id)).toMatchObject({ resident: false });
    expect(await next.journal(session_id)).toEqual(before);
    expect(next.clock.timerCount).toBe(0);
  });
});

/** It stays open for the next turn; nothing else does. */
function lastSegmentOf(sessionId: string): string {
  return `${DATA}/sessions/${sessionId}/journal/${segmentName(1)}`;
}
