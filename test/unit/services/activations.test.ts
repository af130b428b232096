/** When a turn runs, what its loop brings along and leaves, and what those see of it who did not wait. */
import { describe, expect, it } from 'vitest';
import type { Block, Message } from '../../../machines/messages.ts';
import type { TurnInput } from '../../../services/loops/agent-loop.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel, type ScriptedModelCall } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import type { Turn } from '../../support/test-loops.ts';
import { never, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

describe('a turn', () => {
  it('S-104: begins with a message, and with nothing else that a client does', async () => {
    let turns = 0;
    const stage = await TurnStage.set(async () => ((turns += 1), Promise.reject(new Error('no'))), { session: { after_stop: 'hold', transcript: [user('before')] } });
    const { sessions } = stage.brain;
    const otherwise = [
      () => sessions.get(TENANT, stage.sessionId),
      () => sessions.changeMetadata(TENANT, stage.sessionId, { team: 'red' }),
      () => sessions.transcript(TENANT, stage.sessionId),
      () => LiveReader.of(sessions, stage.sessionId),
      () => sessions.resume(TENANT, stage.sessionId),
      () => sessions.cancel(TENANT, stage.sessionId),
    ];
    for (const act of otherwise) await act();
    await quiescence();
    expect(turns).toBe(0);

    await stage.send();
    for (const act of otherwise) await act();
    await sessions.submit(TENANT, stage.sessionId, 'again');
    await quiescence();
    await sessions.resume(TENANT, stage.sessionId);
    await sessions.end(TENANT, stage.sessionId);

    expect(turns).toBe(2);
    const [first, second] = await stage.records('message_queued');
    expect((await stage.records('turn_started')).map(({ data }) => data.message_sequence)).toEqual([first?.sequence, second?.sequence]);
  });

  it('S-086: gives its receipt while nothing is known of its end', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'deaf') });
    const { session_id } = await stage.createChat();

    const receipt = await stage.sessions.submit(TENANT, session_id, 'hello');

    await stage.model.calls.at(0);
    expect((await stage.journal(session_id))[receipt.sequence - 1]).toMatchObject({ type: 'turn_started' });
    expect(await stage.sessions.get(TENANT, session_id)).toMatchObject({ status: 'running' });
    expect(await stage.types(session_id)).not.toContain('turn_ended');
  });

  it.each([
    { end: async () => RETURNED, last: 'turn_ended', status: 'idle' },
    { end: () => Promise.reject(new Error('no')), last: 'turn_failed', status: 'failed' },
  ] as const)('S-095, S-096: that was only submitted shows its rest after its receipt, up to $last, and its session says $status', async ({ end, last, status }) => {
    const stage = await TurnStage.set(
      async (input, host) => {
        await host.model({ messages: [input.message] });
        await host.emit('acme.note', 1);
        return end();
      },
      { session: { after_stop: 'hold' } },
    );
    const { sessions } = stage.brain;
    const receipt = await sessions.submit(TENANT, stage.sessionId, 'hello');
    const reader = await LiveReader.of(sessions, stage.sessionId, receipt.sequence);
    await quiescence();

    const { items } = await sessions.events(TENANT, stage.sessionId, { after: receipt.sequence, limit: 100 });
    const rest = ['activation_started', 'model_call_started', 'model_call_ended', 'acme.note', last === 'turn_ended' ? 'activation_ended' : 'activation_failed', last];
    expect(items.map(({ type }) => type)).toEqual(rest);
    expect(reader.recorded).toEqual(items);
    expect(await sessions.get(TENANT, stage.sessionId)).toMatchObject({ status });
    await reader.leave();
  });
});

describe('an agent loop', () => {
  it('S-075: asks the same in a process of its own for each turn as in one for all, and beside other sessions', async () => {
    const answers = (): ScriptedModel => new ScriptedModel(({ request }) => (request.messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true ? saying('done') : calling({ tool: 'look' }, { tool: 'act' })));
    const asked = ({ request }: ScriptedModelCall): unknown => request;
    const create = { system: 'Be brief.', transcript: [user('before')], agentloop: { name: 'chat', configuration: { temperature: 0.5 } } };
    const together = await LivingBrain.start({ model: answers() });
    const { session_id } = await together.createChat(create);
    for (const text of ['one', 'two', 'three']) await together.sessions.send(TENANT, session_id, text);

    let apart = await LivingBrain.start({ model: answers() });
    const one = await apart.createChat(create);
    const beside = await apart.createChat({ system: 'Be loud.' });
    for (const text of ['one', 'two', 'three']) {
      await apart.sessions.send(TENANT, beside.session_id, 'something else');
      await apart.sessions.send(TENANT, one.session_id, text);
      apart = await apart.restart();
    }

    const ofOne = apart.model.calls.all.filter(({ request }) => request.system === 'Be brief.');
    expect(ofOne.map(asked)).toEqual(together.model.calls.all.map(asked));
    expect(ofOne).toHaveLength(6);
  });

  it('S-063: changes what is saved by asking for it, and by nothing that it does to what it was given or gave', async () => {
    let given: TurnInput | null = null;
    const stage = await TurnStage.set(
      async (input, host) => {
        given = input;
        const own: { role: 'user'; content: Block[] } = { role: 'user', content: [{ type: 'text', text: 'saved' }] };
        const messages: Message[] = [...input.transcript, own];
        await host.setTranscript(messages);
        own.content.push({ type: 'text', text: 'written into it later' });
        messages.push(user('added later'));
        try {
          (input.transcript as unknown[]).push(user('added to what was given'));
        } catch {
          // It may be out of reach.
        }
        return { kind: 'returned', result: { value: { transcript: ['returned'] } } };
      },
      { session: { transcript: [user('before')] } },
    );
    expect(await stage.send()).toMatchObject({ outcome: 'ended' });
    const saved = { messages: [user('before'), user('saved')] };
    expect(await stage.brain.sessions.transcript(TENANT, stage.sessionId)).toMatchObject(saved);

    stage.play(async (input) => {
      given = input;
      return RETURNED;
    });
    await stage.send();

    expect(given).toMatchObject({ transcript: saved.messages });
    expect(await (await stage.brain.restart()).sessions.transcript(TENANT, stage.sessionId)).toMatchObject(saved);
  });
});

describe('what a turn did that was cut short', () => {
  const partly: Turn = async (input, host) => {
    await host.setTranscript([...input.transcript, user('half of it')]);
    await host.emit('acme.step', 1);
    await host.dispatch([{ tool: 'look', tool_use_id: 'one', input_text: '{}' }]);
    return never();
  };

  it.each([
    { by: 'its deadline', cut: async (stage: TurnStage) => stage.brain.clock.advance(60_000), code: 'turn_timeout' },
    { by: 'an interrupt', cut: async (stage: TurnStage) => stage.cancel(), code: 'cancelled' },
    { by: 'a shutdown', cut: async (stage: TurnStage) => (void stage.brain.brain.drain(1_000), stage.brain.clock.advance(1_000)), code: 'shutdown' },
    { by: 'a kill', cut: async () => undefined, code: 'interrupted_by_restart' },
  ])('S-223: stays visible where $by cut it', async ({ cut, code }) => {
    const stage = await TurnStage.set(partly, { limits: { turnMs: 60_000 } });
    await stage.brain.sessions.submit(TENANT, stage.sessionId, 'hello');
    await quiescence();
    await cut(stage);
    await stage.brain.clock.advance(10_000);
    const { sessions } = code === 'interrupted_by_restart' ? await stage.brain.restart() : stage.brain;

    const { items } = await sessions.events(TENANT, stage.sessionId, { after: 0, limit: 100 });
    expect(items.at(-1)).toMatchObject({ type: 'turn_failed', data: { code } });
    expect(items.map(({ type }) => type)).toEqual(expect.arrayContaining(['acme.step', 'tool_call_started', 'tool_call_ended']));
    expect(await sessions.transcript(TENANT, stage.sessionId)).toMatchObject({ messages: [user('half of it')] });
  });
});

describe('a session', () => {
  it('S-229: is left alone by the creation of others, at work, at rest and in memory', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => 'waits') });
    const working = await stage.createChat();
    const resting = await stage.createChat({ transcript: [user('before')] });
    const kept = await stage.createChat({ idle_ttl_ms: 0 });
    const ids = [working, resting, kept].map(({ session_id }) => session_id);
    const sent = stage.sessions.send(TENANT, working.session_id, 'hello');
    const call = await stage.model.calls.at(0);
    const all = async (): Promise<unknown> =>
      Promise.all(ids.map(async (id) => [await stage.sessions.get(TENANT, id), await stage.journal(id), await stage.sessions.transcript(TENANT, id)]));
    const readers = await Promise.all(ids.map((id) => LiveReader.of(stage.sessions, id)));
    await quiescence();
    const before = await all();
    const seen = readers.map((reader) => reader.seen.length);

    for (let count = 0; count < 20; count += 1) {
      await stage.createChat({ transcript: [user('another')], metadata: { number: String(count) } });
      await expect(stage.createChat({ tools: ['nothing'] })).rejects.toMatchObject({ code: 'unknown_tool' });
    }
    await quiescence();

    expect(await all()).toEqual(before);
    expect(readers.map((reader) => reader.seen.length)).toEqual(seen);
    expect(call.signal.aborted).toBe(false);
    call.answer(saying('done'));
    expect(await sent).toMatchObject({ outcome: 'ended' });
  });
});
