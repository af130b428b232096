/** How often a turn waits for the disk: each commit is a flush, and a turn's are in series. */
import { describe, expect, it } from 'vitest';
import { commitsOf } from '../../support/commits.ts';
import { plan } from '../../support/disk-faults.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const STARTED = ['message_queued', 'turn_started', 'activation_started'];
const CALLED = ['transcript_delta', 'model_call_started'];
const ENDED = ['transcript_delta', 'activation_ended', 'turn_ended'];

async function commitsOfTurn(name: string, options: LivingBrainOptions = {}): Promise<readonly (readonly string[])[]> {
  const brain = await LivingBrain.start(options);
  const { session_id, last_sequence } = await brain.create({ agentloop: { name }, tools: ['look', 'act'] });
  await expect(brain.sessions.send(TENANT, session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
  return commitsOf(brain, session_id, last_sequence);
}

describe.each(['chat', 'pi'])('a turn of the loop %s', (name) => {
  it('is four commits where its model is called once', async () => {
    expect(await commitsOfTurn(name)).toEqual([STARTED, CALLED, ['model_call_ended'], ENDED]);
  });

  it('is four commits more for each round of tools, however many are called in it', async () => {
    const model = new ScriptedModel((_call, index) => (index < 2 ? calling({ tool: 'look' }, { tool: 'act' }) : saying('done')));

    const round = [
      CALLED,
      ['model_call_ended'],
      ['transcript_delta', 'tool_call_started', 'tool_call_started'],
      ['tool_call_ended', 'tool_call_ended'],
    ];
    expect(await commitsOfTurn(name, { model })).toEqual([STARTED, ...round, ...round, CALLED, ['model_call_ended'], ENDED]);
  });
});

describe('the start of a loop', () => {
  it('is a commit of its own where the turn had to wait for its slot', async () => {
    const brain = await LivingBrain.start({ runningTurnsMax: 1, model: new ScriptedModel(() => 'waits') });
    const first = await brain.createChat();
    const second = await brain.createChat();
    const sent = [first, second].map(({ session_id }) => brain.sessions.send(TENANT, session_id, 'hello'));
    await quiescence();
    expect(commitsOf(brain, second.session_id, second.last_sequence)).toEqual([['message_queued', 'turn_started']]);

    for (const index of [0, 1]) (await brain.model.calls.at(index)).answer(saying('hello'));
    await Promise.all(sent);
    expect(commitsOf(brain, second.session_id, second.last_sequence).slice(0, 2)).toEqual([['message_queued', 'turn_started'], ['activation_started']]);
  });

  it('stands in the commit that closes the turn before, where its message waited and a slot is free', async () => {
    const brain = await LivingBrain.start({ runningTurnsMax: 2, model: new ScriptedModel(() => 'waits') });
    const { session_id, last_sequence } = await brain.createChat();
    await brain.sessions.queue(TENANT, session_id, { text: 'one' });
    const call = await brain.model.calls.at(0);
    await brain.sessions.queue(TENANT, session_id, { text: 'two' });
    call.answer(saying('hello'));
    await quiescence();

    expect(commitsOf(brain, session_id, last_sequence)).toContainEqual([...ENDED, 'turn_started', 'activation_started']);
  });

  it('leaves no slot taken where its commit fails', async () => {
    const brain = await LivingBrain.start({ runningTurnsMax: 1 });
    const first = await brain.createChat();
    const second = await brain.createChat();
    plan(brain.disk, { kinds: ['sync'], sessionId: first.session_id, times: 1 }, { fails: 'EIO' });

    await expect(brain.sessions.send(TENANT, first.session_id, 'hello')).rejects.toMatchObject({ code: 'journal_unavailable' });
    await expect(brain.sessions.send(TENANT, second.session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
    await expect(brain.sessions.send(TENANT, first.session_id, 'hello')).resolves.toMatchObject({ outcome: 'ended' });
    expect(commitsOf(brain, second.session_id, second.last_sequence)[0]).toEqual(STARTED);
  });
});
