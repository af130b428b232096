/** Event streams as readers see them: nothing is missed, nothing comes twice, and no reader costs another anything. */
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { calls, says, silence } from '../support/openai-server.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

let stage: Stage;
afterEach(async () => stage.strike());

function streamOf(id: string, after = 0): string {
  return `${stage.server.url}/v1/sessions/${id}/events?after=${after}`;
}

describe('a stream', () => {
  it('S-010, S-184, S-185: shows live what a replay and the pages show later, less what was only live', async () => {
    stage = await Stage.set({
      model: (call) => (call.index % 2 === 0 ? calls({ id: 'call_1', name: 'look', arguments: '{"at":1}' }) : says('I have seen it all.')),
      tools: [{ name: 'look' }],
    });
    const { session_id: id } = await stage.create();
    const live = await SseReader.open(streamOf(id));
    await stage.api.send(id, 'first');
    const midway = await SseReader.open(streamOf(id));
    await stage.api.send(id, 'second');
    await stage.api.end(id);
    await live.ended;
    await midway.ended;

    const replay = await SseReader.open(streamOf(id));
    await replay.ended;
    const events = await stage.api.events(id);

    expect(events.map(({ type }) => type)).toContain('session_ended');
    expect(await stage.api.events(id, 1)).toEqual(events);
    expect(replay.recorded).toEqual(events);
    expect(live.recorded).toEqual(events);
    expect(midway.recorded).toEqual(events);
    expect(live.frames.filter(({ event }) => event === 'model_delta').length).toBeGreaterThan(0);
    for (const { event, id: frameId, data } of replay.frames) {
      expect({ event, id: frameId }).toEqual({ event: typeIn(data), id: sequenceIn(data) });
    }
  });

  it('is sent as it comes: never buffered, never compressed, and ended with 204 where nothing follows', async () => {
    stage = await Stage.set({ model: silence });
    const { session_id: id } = await stage.create();
    const reader = await SseReader.open(streamOf(id));
    const { last_sequence } = await stage.api.end(id);
    await reader.ended;

    expect(reader.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(reader.headers).not.toHaveProperty('content-encoding');
    expect((await SseReader.open(streamOf(id, last_sequence))).status).toBe(204);
  });

  it('S-189, S-190: gives live-only events no id, so that a reconnect right after a delta misses nothing', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    stage = await Stage.set({ model: () => ({ parts: [{ text: 'It takes ' }, { wait: held }, { text: 'a while.' }] }) });
    const { session_id: id } = await stage.create();
    const before = await SseReader.open(streamOf(id));
    await stage.api.submit(id, 'slowly');
    await before.nextOf('model_delta');
    before.close();
    const seen = before.frames.filter((frame) => frame.id !== undefined);

    const after = await SseReader.open(streamOf(id), { lastEventId: seen.at(-1)?.id ?? '' });
    release();
    await after.nextOf('turn_ended');
    after.close();

    expect(before.frames.filter(({ event }) => event === 'model_delta').every((frame) => frame.id === undefined)).toBe(true);
    expect([...before.recorded, ...after.recorded]).toEqual(await stage.api.events(id));
  });

  it('gives the end of a turn exactly once to a reader that left just before it', async () => {
    let release = (): void => undefined;
    stage = await Stage.set({ model: () => ({ parts: [{ text: 'Nearly' }, { wait: new Promise<void>((resolve) => (release = resolve)) }] }) });
    const { session_id: id } = await stage.create();

    for (let round = 0; round < 20; round++) {
      const { last_sequence } = await stage.api.session(id);
      const reader = await SseReader.open(streamOf(id, last_sequence));
      await stage.api.submit(id, 'go');
      await reader.nextOf('model_delta');
      const left = reader.frames.filter((frame) => frame.id !== undefined).at(-1)?.id ?? '';
      // The turn's end and the reader's going cross each other.
      release();
      reader.close();

      const again = await SseReader.open(streamOf(id, last_sequence), { lastEventId: left });
      await again.nextOf('turn_ended');
      again.close();
      expect(again.frames.filter(({ event }) => event === 'turn_ended')).toHaveLength(1);
    }
  });

  it('S-011: shows a turn as over no sooner than the session takes the next message', async () => {
    stage = await Stage.set({ model: () => says('Done.') });
    const { session_id: id } = await stage.create();
    const reader = await SseReader.open(streamOf(id));
    let shown = 0;

    for (let round = 0; round < 60; round++) {
      const { sequence } = await stage.api.submit(id, `round ${round}`);
      const end = await reader.next(
        ({ event, data }) => event === 'turn_ended' && Number(sequenceIn(data)) > sequence,
        `the end of round ${round}`,
      );
      const session = await stage.api.session(id);
      expect(session.status).toBe('idle');
      expect(session.last_sequence).toBeGreaterThanOrEqual(Number(sequenceIn(end.data)));
      shown++;
    }
    await stage.api.end(id);
    await reader.ended;

    expect(shown).toBe(60);
    expect(reader.recorded).toEqual(await stage.api.events(id));
  });

  it('S-165: follows a session that rests, and shows a turn that starts later', async () => {
    stage = await Stage.set({ model: () => says('Good morning.') });
    const { session_id: id } = await stage.create();
    const reader = await SseReader.open(streamOf(id));
    await reader.nextOf('session_ready');
    expect(await stage.api.session(id)).toMatchObject({ resident: false });

    await stage.server.api.send(id, 'wake up');
    await reader.nextOf('turn_ended');
    reader.close();

    expect(await stage.api.session(id)).toMatchObject({ resident: false });
  });

  it('S-187: costs next to nothing while its reader stalls, and gives it everything in the end', async () => {
    const filler = { count: 4000, characters: 4000 };
    stage = await Stage.set({
      model: (call) =>
        call.index % 2 === 0 ? calls({ id: 'call_1', name: 'emit_many', arguments: JSON.stringify(filler) }) : says('Emitted.'),
      environment: { BRAIN_MAX_EMITTED_BYTES: '100000000' },
    });
    const { session_id: id } = await stage.create({ tools: ['emit_many'] });
    await stage.api.send(id, 'warm up');
    const { last_sequence } = await stage.api.session(id);
    const stalled = await inParallel(Array.from({ length: 40 }), 10, async () =>
      SseReader.open(streamOf(id, last_sequence), { stalled: true }),
    );
    const healthy = await SseReader.open(streamOf(id, last_sequence));
    const memoryBefore = await stage.server.residentBytes();

    await stage.api.send(id, 'go');
    await healthy.nextOf('turn_ended');
    const grown = (await stage.server.residentBytes()) - memoryBefore;
    healthy.close();
    console.log(`forty stalled readers of ${filler.count} events: the server grew by ${Math.round(grown / 1e6)} MB`);

    expect(idsIn(healthy).length).toBeGreaterThan(filler.count);
    // Forty queues would hold forty times the 16 MB of these events, and forty pages of them more than this.
    expect(grown).toBeLessThan(200e6);
    for (const reader of stalled.splice(0, 10)) {
      reader.resume();
      await reader.nextOf('turn_ended');
      reader.close();
      expect(idsIn(reader)).toEqual(idsIn(healthy));
    }
    for (const reader of stalled) reader.close();
  });
});

function idsIn(reader: SseReader): readonly string[] {
  return reader.frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
}

function typeIn(data: string): unknown {
  return fieldIn(data, 'type');
}

/** As an id: the sequence of a recorded event. */
function sequenceIn(data: string): string {
  return String(fieldIn(data, 'sequence'));
}

function fieldIn(data: string, field: string): unknown {
  return (JSON.parse(data) as Readonly<Record<string, unknown>>)[field];
}
