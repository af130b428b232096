/** What a failed append costs: that incarnation of that session, and nothing else. */
import { describe, expect, it } from 'vitest';
import { plan } from '../../support/disk-faults.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const modelThatWaits = (): ScriptedModel => new ScriptedModel((_call, index) => (index === 0 ? 'waits' : saying('again')));

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
    const stage = await LivingBrain.start({ model: modelThatWaits() });
    const { session_id } = await stage.createChat();
    const reader = await LiveReader.of(stage.sessions, session_id);
    const sent = stage.sessions.send(TENANT, session_id, 'hello');
    const call = await stage.model.calls.at(0);
    await quiescence();
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
});
