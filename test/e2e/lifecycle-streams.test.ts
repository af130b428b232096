/** Streams of `/sessions` as readers see them: nothing is missed, nothing comes twice, and what they say is so by then. */
import { EventSource } from 'eventsource';
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/gate.ts';
import { eventFaultsOf, LifecycleApi, type LifecycleEvent } from '../support/lifecycle-api.ts';
import { calls, says } from '../support/openai-server.ts';
import { runsLongForms } from '../support/slow-tests.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

const IDLE_ROUNDS = runsLongForms ? 500 : 60;
const LEAVING_ROUNDS = runsLongForms ? 100 : 10;

let stage: Stage;
let api: LifecycleApi;
afterEach(async () => stage.strike());

async function set(options: Parameters<typeof Stage.set>[0]): Promise<void> {
  stage = await Stage.set(options);
  api = new LifecycleApi(stage.server.url);
}

function isIdle({ data }: { readonly data: string }): boolean {
  return data.includes('"status":"idle"');
}

describe('a stream', () => {
  it('L-056, L-060, L-061, L-062, L-068, L-069: shows live what a replay and the pages show later, less what was only live', async () => {
    await set({
      model: (call) => (call.index % 2 === 0 ? calls({ id: 'call_1', name: 'look', arguments: '{"at":1}' }) : says('I have seen it all.')),
      tools: [{ name: 'look' }],
    });
    const { id } = await api.create({ tools: ['look'] });
    const live = await SseReader.open(api.streamOf(id));
    await api.send(id, 'first');
    await live.next(isIdle, 'the end of the turn');
    const midway = await SseReader.open(api.streamOf(id));
    await api.send(id, 'second');
    await api.send(id, 'third');
    await live.next((frame) => isIdle(frame) && frame.id !== live.frames.find(isIdle)?.id, 'the end of the last turn');
    await api.close(id);
    await live.ended;
    await midway.ended;

    const replay = await SseReader.open(api.streamOf(id));
    await replay.ended;
    const events = await api.events(id);
    expect(eventFaultsOf(events)).toEqual([]);
    expect(await api.events(id, 1)).toEqual(events);
    expect(await api.events(id, 3)).toEqual(events);
    for (const reader of [live, midway, replay]) expect(reader.recorded).toEqual(events);
    for (const { id: cursor, event, data } of replay.frames) {
      expect([cursor, event]).toEqual([(JSON.parse(data) as LifecycleEvent).id, (JSON.parse(data) as LifecycleEvent).type]);
    }
    const only = live.frames.filter(({ id: cursor }) => cursor === undefined);
    expect(new Set(only.map(({ event }) => event))).toEqual(new Set(['assistant.delta']));
    expect(replay.frames.filter(({ id: cursor }) => cursor === undefined)).toEqual([]);
    const inputs = events.filter(({ type }) => type === 'user.message').map((event) => event.id);
    expect(new Set(only.map(({ data }) => (JSON.parse(data) as LifecycleEvent).input_id))).toEqual(new Set(inputs));
    expect((await SseReader.open(api.streamOf(id, events.at(-1)?.id))).status).toBe(204);
  });

  it('L-078: goes on after any of its events, each of the two of one record included', async () => {
    await set({ model: () => ({ status: 400, message: 'no' }) });
    const { id } = await api.create();
    await api.send(id, 'fail');
    await eventually(async () => ((await api.session(id)).status === 'failed' ? true : undefined), 'the failure');
    await api.close(id);
    const events = await api.events(id);
    expect(events.filter((event) => event.id.endsWith('.1')).map(({ status }) => status)).toEqual(['failed']);

    for (const [index, event] of events.entries()) {
      const rest = events.slice(index + 1);
      const { body } = await api.request('GET', `/sessions/${id}/events?after=${event.id}`);
      expect(body).toMatchObject({ events: rest });
      const reader = await SseReader.open(api.streamOf(id), { lastEventId: event.id });
      await reader.ended;
      expect([event.id, reader.recorded]).toEqual([event.id, rest]);
    }
  });

  it('L-062, L-078: gives the end of a turn exactly once to a reader that left just before it', async () => {
    let [begin, release] = [gate(), gate()];
    await set({ model: () => ({ parts: [{ wait: begin.opened }, { text: 'Nearly' }, { wait: release.opened }] }) });
    const { id } = await api.create();
    for (let round = 0; round < LEAVING_ROUNDS; round += 1) {
      [begin, release] = [gate(), gate()];
      const { id: input } = await api.send(id, 'go');
      const reader = await SseReader.open(api.streamOf(id), { lastEventId: input });
      // A delta is shown to whoever is there: the reader has to be.
      await reader.next(({ event }) => event === 'session.status', 'the beginning of the turn');
      begin.open();
      await reader.nextOf('assistant.delta');
      const left = reader.frames.findLast((frame) => frame.id !== undefined)?.id ?? input;
      // The turn's end and the reader's going cross each other.
      release.open();
      reader.close();
      const again = await SseReader.open(api.streamOf(id), { lastEventId: left });
      await again.next(isIdle, 'the end of the turn');
      again.close();
      expect(again.frames.filter(isIdle)).toHaveLength(1);
    }
    expect(eventFaultsOf(await api.events(id))).toEqual([]);
  });

  it('L-071, L-123: says idle no sooner than a look, a message and a close find it so', { timeout: 600_000 }, async () => {
    await set({ model: () => says('Done.') });
    await inParallel(Array.from({ length: IDLE_ROUNDS }), 2, async (_, round) => {
      const { id } = await api.create();
      const reader = await SseReader.open(api.streamOf(id));
      await api.send(id, 'first');
      const idle = await reader.next(isIdle, 'the end of the turn');
      // In every other round nothing comes before the message.
      if (round % 2 === 0) {
        expect(await api.session(id)).toMatchObject({ status: 'idle', checkpoint: { offset: Number.parseInt(idle.id ?? '', 10) } });
      }
      const { id: input } = await api.send(id, 'second');
      const second = await reader.next(({ data }) => data.includes(`"input_id":"${input}","status":"running"`), 'the second turn');
      expect(second.event).toBe('session.status');
      await reader.next((frame) => isIdle(frame) && frame.id !== idle.id, 'the end of the second turn');
      await api.close(id);
      expect(await api.session(id)).toMatchObject({ status: 'closed' });
      await reader.ended;
      const events = await api.events(id);
      expect(reader.recorded).toEqual(events);
      expect(eventFaultsOf(events)).toEqual([]);
    });
  });

  it('L-077, L-082: is read on by a client library after it went, and the turn goes on meanwhile', async () => {
    const held = gate();
    await set({ model: () => ({ parts: [{ text: 'It takes ' }, { wait: held.opened }, { text: 'a while.' }] }) });
    const { id } = await api.create();
    const seen: LifecycleEvent[] = [];
    const watch = (after?: string): EventSource => {
      const source = new EventSource(api.streamOf(id, after));
      for (const type of ['user.message', 'session.status', 'assistant.message', 'session.error']) {
        source.addEventListener(type, ({ data }) => seen.push(JSON.parse(data as string) as LifecycleEvent));
      }
      return source;
    };
    const source = watch();
    await eventually(async () => (source.readyState === source.OPEN ? true : undefined), 'the stream');
    await api.send(id, 'slowly');
    await eventually(async () => (seen.length >= 2 ? true : undefined), 'the beginning of the turn');
    source.close();
    held.open();
    await eventually(async () => ((await api.session(id)).status === 'idle' ? true : undefined), 'the end of the turn, which nobody watched');
    const rest = watch(seen.at(-1)?.id);
    await api.close(id);
    await eventually(async () => (rest.readyState === rest.CLOSED ? true : undefined), 'the end of the session');
    expect(seen).toEqual(await api.events(id));
  });
});
