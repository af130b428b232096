/** A server that is killed in the middle of a turn: what the first look at the session finds, and what the model is told. */
import { afterEach, describe, expect, it } from 'vitest';
import type { BrainApi } from '../support/brain-api.ts';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { calls, says, silence, type ModelScript } from '../support/openai-server.ts';
import { SseReader } from '../support/sse-reader.ts';
import { LOOPS, Stage } from '../support/stage.ts';

let stage: Stage;
afterEach(async () => stage.strike());

/** Each way of looking at a session, and what shows there that its turn is over. */
const FIRST_LOOKS: Readonly<Record<string, (api: BrainApi, id: string) => Promise<void>>> = {
  'a list': async (api, id) => {
    const { sessions } = await api.sessions();
    expect(sessions.find(({ session_id }) => session_id === id)).toMatchObject({ status: 'idle' });
  },
  'a look at it': async (api, id) => {
    expect(await api.session(id)).toMatchObject({ status: 'idle', resident: false });
  },
  'its events': async (api, id) => {
    expect((await api.events(id)).at(-1)).toMatchObject({ type: 'turn_failed', data: { code: 'interrupted_by_restart' } });
  },
  'its stream': async (api, id) => {
    const reader = await SseReader.open(`${api.url}/v1/sessions/${id}/events`);
    await reader.nextOf('turn_failed');
    reader.close();
  },
  'its transcript': async (api, id) => {
    const answer = await api.request('GET', `/v1/sessions/${id}/transcript`);
    expect(answer.body).toMatchObject({ through_sequence: (await api.session(id)).last_sequence });
  },
  'its journal': async (api, id) => {
    expect((await api.journal(id)).at(-1)).toMatchObject({ type: 'turn_failed', state: 'suspended' });
  },
  'the next message': async (api, id) => {
    expect(await api.send(id, 'And now?')).toMatchObject({ outcome: 'ended', result: { text: 'Here I am.' } });
  },
};

const lastUserText = (call: Parameters<ModelScript>[0]): unknown => call.request.messages.findLast(({ role }) => role === 'user')?.content;

describe.each(LOOPS)('a kill while a turn of the loop %s runs', (loop) => {
  it('S-038, S-103, S-138, S-143, S-144, S-175: is recovered on the first look, whichever it is, with open effects unknown and nothing sent again', async () => {
    const answers: ModelScript = (call) => {
      const said = lastUserText(call);
      if (said === 'And now?') return says('Here I am.');
      return said === 'use the tool' ? calls({ id: 'call_1', name: 'slow', arguments: '{}' }) : silence(call);
    };
    stage = await Stage.set({ loop, model: answers, tools: [{ name: 'slow' }], tool: () => new Promise(() => undefined) });
    const looks = Object.entries(FIRST_LOOKS);
    const sessions: { id: string; at: string; look: (typeof looks)[number][1] }[] = [];
    for (const [, look] of looks) {
      for (const at of ['model', 'tool']) {
        const { session_id: id } = await stage.create();
        await stage.api.submit(id, at === 'model' ? 'think' : 'use the tool');
        sessions.push({ id, at, look });
      }
    }
    await stage.model.calls.at(sessions.length - 1);
    await stage.tools.calls.at(looks.length - 1);
    const acknowledged = await Promise.all(sessions.map(async ({ id }) => stage.api.journal(id)));

    await stage.server.killAndStart();

    for (const { id, look } of sessions) await look(stage.api, id);
    for (const [index, { id, at }] of sessions.entries()) {
      const records = await stage.api.journal(id);
      expect(faultsOf(records)).toEqual([]);
      expect(records.slice(0, acknowledged[index]?.length)).toEqual(acknowledged[index]);
      const end = records.find(({ type }) => type === (at === 'model' ? 'model_call_failed' : 'tool_call_ended'));
      expect(end?.data).toMatchObject({ outcome: 'unknown' });
    }
    const messagesAfterwards = 2;
    expect(stage.model.calls.all).toHaveLength(sessions.length + messagesAfterwards);
    expect(stage.tools.calls.all).toHaveLength(looks.length);
    expect(stage.model.refusals).toEqual([]);
  });

  it('S-035: a tool\'s result is in the journal before the model is asked what follows from it', async () => {
    stage = await Stage.set({
      loop,
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'quick', arguments: '{}' }) : silence(call)),
      tools: [{ name: 'quick' }],
      tool: () => 'the result',
    });
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'go');
    await stage.model.calls.at(1);

    await stage.server.killAndStart();

    const records = await stage.api.journal(id);
    expect(records.find(({ type }) => type === 'tool_call_ended')?.data).toMatchObject({ outcome: 'ok', output: 'the result' });
    expect(records.filter(({ type }) => type === 'model_call_started')).toHaveLength(2);
    expect(faultsOf(records)).toEqual([]);
  });

  it('S-122, S-143: of three calls at once the one that hung is told as unknown, in its place, and the others as they ended', async () => {
    stage = await Stage.set({
      loop,
      model: (call) =>
        call.index === 0
          ? calls(...['first', 'hung', 'last'].map((name) => ({ id: `call_${name}`, name, arguments: `{"of":"${name}"}` })))
          : says('All clear.'),
      tools: [{ name: 'first' }, { name: 'hung' }, { name: 'last' }],
      tool: ({ tool }) => (tool === 'hung' ? new Promise(() => undefined) : `${tool} is done`),
    });
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'all three');
    await stage.tools.calls.at(2);
    await eventually(
      async () => ((await stage.api.journal(id)).filter(({ type }) => type === 'tool_call_ended').length === 2 ? true : undefined),
      'two results in the journal',
    );

    await stage.server.killAndStart();
    expect(await stage.api.send(id, 'go on')).toMatchObject({ outcome: 'ended', result: { text: 'All clear.' } });

    const results = stage.model.calls.all[1]?.request.messages.filter(({ role }) => role === 'tool');
    expect(results).toEqual([
      { role: 'tool', tool_call_id: 'call_first', content: 'first is done' },
      { role: 'tool', tool_call_id: 'call_hung', content: expect.stringMatching(/unknown|may have/i) },
      { role: 'tool', tool_call_id: 'call_last', content: 'last is done' },
    ]);
    expect(stage.model.refusals).toEqual([]);
    expect(stage.tools.repeated).toEqual([]);
    expect(stage.tools.calls.all).toHaveLength(3);
  });
});

describe('a session that was killed in its turn', () => {
  it('stays recovered when the server is killed again, before and after the first look', async () => {
    stage = await Stage.set({ model: silence });
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'think');
    await stage.model.calls.at(0);

    await stage.server.killAndStart();
    await stage.server.killAndStart();
    const records = await stage.api.journal(id);
    await stage.server.killAndStart();

    expect(await stage.api.journal(id)).toEqual(records);
    expect(faultsOf(records)).toEqual([]);
    expect(stage.model.calls.all).toHaveLength(1);
  });
});
