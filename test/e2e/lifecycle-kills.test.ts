/** A server that is killed the instant that it has acknowledged something on `/sessions`: it takes effect all the same. */
import { afterEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/history.ts';
import { eventFaultsOf, LifecycleApi, type LifecycleEvent } from '../support/lifecycle-api.ts';
import { says, silence } from '../support/openai-server.ts';
import { runsLongForms } from '../support/slow-tests.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

const KILLS = runsLongForms ? 40 : 3;

let stage: Stage;
afterEach(async () => stage.strike());

function api(): LifecycleApi {
  return new LifecycleApi(stage.server.url);
}

/** A session with a turn that runs and two messages that wait. */
async function busy(round: number): Promise<{ readonly id: string; readonly messages: readonly LifecycleEvent[] }> {
  const { id } = await api().create();
  const messages: LifecycleEvent[] = [];
  for (const at of [0, 1, 2]) messages.push(await api().send(id, `message ${at}`, `key ${at}`));
  await stage.model.calls.at(round);
  return { id, messages };
}

/** In one breath: the kill is on its way when the answer has come. */
async function killedUpon(acknowledged: Promise<unknown>): Promise<void> {
  await acknowledged;
  await stage.server.killAndStart();
}

async function expectSettled(id: string, messages: readonly LifecycleEvent[], status: string): Promise<void> {
  const events = await api().events(id);
  expect(eventFaultsOf(events)).toEqual([]);
  expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  expect(events.filter(({ type }) => type === 'user.message')).toEqual(messages);
  const errors = events.filter(({ type }) => type === 'session.error');
  expect(errors.map(({ code, input_id }) => [code, input_id]).toSorted()).toEqual(messages.map(({ id: input }) => ['conflict', input]).toSorted());
  expect(events.at(-1)).toMatchObject({ type: 'session.status', status });
  expect(await api().session(id)).toMatchObject({ status });
}

describe('a kill at the very moment of an answer', () => {
  it('L-083, L-091: to an interrupt leaves the session interrupted, and a resume frees it', async () => {
    stage = await Stage.set({ model: silence });
    for (let round = 0; round < KILLS; round += 1) {
      const { id, messages } = await busy(round);
      await killedUpon(api().interrupt(id));
      await expectSettled(id, messages, 'interrupted');
      expect(await api().resume(id)).toMatchObject({ status: 'idle', checkpoint: { offset: 0 } });
    }
    expect(stage.model.calls.all).toHaveLength(KILLS);
  });

  it('L-109, L-111, L-112: to a close leaves the session closed', async () => {
    stage = await Stage.set({ model: silence });
    for (let round = 0; round < KILLS; round += 1) {
      const { id, messages } = await busy(round);
      await killedUpon(api().close(id));
      await expectSettled(id, messages, 'closed');
      const answer = await api().request('POST', `/sessions/${id}/events`, { type: 'user.message', text: 'more' });
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'session_ended' } } });
    }
  });

  it('L-036, L-053, L-076: to a message leaves it recorded under its key, with one end', async () => {
    stage = await Stage.set({ model: silence });
    for (let round = 0; round < KILLS; round += 1) {
      const { id } = await api().create();
      const first = await api().send(id, 'first');
      await stage.model.calls.at(round);
      let event: LifecycleEvent | null = null;
      await killedUpon(api().send(id, 'second', 'key').then((sent) => (event = sent)));

      expect(await api().send(id, 'second', 'key')).toEqual(event);
      const events = await api().events(id);
      expect(eventFaultsOf(events)).toEqual([]);
      expect(events.filter(({ type }) => type === 'user.message')).toEqual([first, event]);
      expect(events.filter(({ type }) => type === 'session.error').map(({ code, input_id }) => [code, input_id])).toEqual([
        ['conflict', (event as LifecycleEvent | null)?.id],
        ['interrupted_by_restart', first.id],
      ]);
      expect(await api().session(id)).toMatchObject({ status: 'failed' });
    }
  });

  it('L-014: to a create leaves the session, and to a resume leaves it idle', async () => {
    stage = await Stage.set({ model: silence });
    for (let round = 0; round < KILLS; round += 1) {
      const { id, messages } = await busy(round);
      await api().interrupt(id);
      await stage.server.killAndStart();
      await killedUpon(api().resume(id));
      expect(await api().session(id)).toMatchObject({ status: 'idle' });
      const last = (await api().events(id)).at(-1);
      expect([last?.status, last?.input_id, messages.length]).toEqual(['idle', undefined, 3]);

      let created = '';
      await killedUpon(api().create().then((session) => (created = session.id)));
      expect(await api().session(created)).toMatchObject({ status: 'idle', checkpoint: { offset: 0 } });
    }
  });
});

describe('a kill while messages wait', () => {
  const looks: Readonly<Record<string, (id: string) => Promise<void>>> = {
    'a look': async (id) => expect(await api().session(id)).toMatchObject({ status: 'failed' }),
    'a list': async (id) => {
      const { body } = await api().request('GET', '/sessions?status=failed&limit=1000');
      expect((body as { readonly sessions: readonly { readonly id: string }[] }).sessions.map((session) => session.id)).toContain(id);
    },
    'the queue': async (id) => expect((await api().request('GET', `/sessions/${id}/queue`)).body).toEqual({ messages: [] }),
    'the events': async (id) => expect((await api().events(id)).at(-1)).toMatchObject({ status: 'failed' }),
    'a stream': async (id) => {
      const reader = await SseReader.open(api().streamOf(id));
      await reader.next(({ data }) => data.includes('"failed"'), 'the failure');
      reader.close();
    },
  };

  it('L-052, L-076: is settled on the first look, whichever it is: every message is told of, and nothing is running', async () => {
    stage = await Stage.set({ model: silence });
    const sessions = [];
    for (const [round, look] of Object.values(looks).entries()) sessions.push({ ...(await busy(round)), look });
    await stage.server.killAndStart();

    for (const { id, look } of sessions) await look(id);
    for (const { id, messages } of sessions) {
      const events = await api().events(id);
      expect(eventFaultsOf(events)).toEqual([]);
      const [first, ...others] = messages.map((message) => message.id);
      const errors = events.filter(({ type }) => type === 'session.error').map(({ code, input_id }) => [input_id, code]);
      expect(errors).toEqual([...others.map((input) => [input, 'conflict']), [first, 'interrupted_by_restart']]);
      for (const [at, message] of messages.entries()) expect(await api().send(id, `message ${at}`, `key ${at}`)).toEqual(message);
    }
    expect(stage.model.calls.all).toHaveLength(sessions.length);
    stage.model.script = () => says('Here again.');
    const [{ id } = { id: '' }] = sessions;
    await api().resume(id);
    const reader = await SseReader.open(api().streamOf(id));
    const { id: input } = await api().send(id, 'And now?');
    await reader.next(({ data }) => data.includes('"idle"') && data.includes(`"input_id":"${input}"`), 'the end of the turn');
    reader.close();
    expect(stage.model.refusals).toEqual([]);
  });
});
