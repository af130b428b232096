/** A wall clock that somebody sets back: what is recorded, named and timed does not follow it. */
import { describe, expect, it } from 'vitest';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { untilAborted } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const HOUR_MS = 3_600_000;

function setBackAnHour(brain: LivingBrain): void {
  brain.clock.setWall(brain.clock.now() - HOUR_MS);
}

describe('a clock that is set back by an hour', () => {
  it('takes no record back in time, in the middle of a turn, between turns and after a restart', async () => {
    const model = new ScriptedModel(() => 'waits');
    let brain = await LivingBrain.start({ model });
    const { session_id } = await brain.createChat();
    const ended = brain.sessions.send(TENANT, session_id, 'first');
    const call = await model.calls.at(0);
    await brain.clock.advance(1000);
    setBackAnHour(brain);
    call.answer(saying('one'));
    await expect(ended).resolves.toMatchObject({ outcome: 'ended' });
    setBackAnHour(brain);
    brain.sessions.send(TENANT, session_id, 'second').catch(() => undefined);
    await model.calls.at(1);
    setBackAnHour(brain);
    // The restart's own records are the next to be written.
    brain = await brain.restart();
    await brain.sessions.changeMetadata(TENANT, session_id, { after: 'restart' });

    const records = await brain.journal(session_id);
    const times = records.map(({ recorded_at }) => recorded_at);
    expect(records.filter(({ type }) => type === 'turn_failed')).toHaveLength(1);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('gives every new session an id above all those before it, after a restart too', async () => {
    let brain = await LivingBrain.start();
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      ids.push((await brain.createChat()).session_id, (await brain.createChat()).session_id);
      setBackAnHour(brain);
      if (round === 2) brain = await brain.restart();
    }

    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    const listed = (await brain.sessions.list(TENANT, { after: '', limit: 100 })).sessions.map(({ session_id }) => session_id);
    expect(listed).toEqual(ids);
  });

  it('S-110, S-111: moves no bound of a turn, and no stay in memory, by an hour', async () => {
    const model = new ScriptedModel(() => 'waits');
    const brain = await LivingBrain.start({ model, limits: { turnMs: 60_000 }, retain: 5000 });
    const { session_id } = await brain.createChat();
    const sent = brain.sessions.send(TENANT, session_id, 'think');
    await model.calls.at(0);
    await brain.clock.advance(30_000);
    setBackAnHour(brain);
    await brain.clock.advance(29_999);
    await expect(brain.sessions.get(TENANT, session_id)).resolves.toMatchObject({ status: 'running' });

    await brain.clock.advance(1);
    await expect(sent).resolves.toMatchObject({ outcome: 'failed', error: { code: 'turn_timeout' } });
    setBackAnHour(brain);
    await brain.clock.advance(4999);
    await expect(brain.sessions.get(TENANT, session_id)).resolves.toMatchObject({ status: 'idle', resident: true });
    await brain.clock.advance(1);
    await quiescence();
    await expect(brain.sessions.get(TENANT, session_id)).resolves.toMatchObject({ status: 'idle', resident: false });
  });

  it('S-111: moves no deadline of a tool call', async () => {
    const model = new ScriptedModel((_, index) => (index === 0 ? calling({ tool: 'look' }) : saying('too slow')));
    const brain = await LivingBrain.start({ model, limits: { toolMs: 10_000 } });
    brain.tools.script = untilAborted;
    const { session_id } = await brain.createChat();
    const sent = brain.sessions.send(TENANT, session_id, 'look');
    await brain.tools.calls.at(0);
    setBackAnHour(brain);
    await brain.clock.advance(10_000);

    await expect(sent).resolves.toMatchObject({ outcome: 'ended' });
    expect((await brain.journal(session_id)).find(({ type }) => type === 'tool_call_ended')).toMatchObject({ data: { outcome: 'timeout' } });
  });
});
