import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventSource } from 'eventsource';
import { ServiceError } from '../../services/errors.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { Followed } from '../../services/session-service.ts';
import { eventually } from '../support/eventually.ts';
import { eventAt, recordAt, SESSION_ID } from '../support/fake-session-service.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ScriptedFollowing, ScriptedFollowings } from '../support/scripted-following.ts';
import { SseReader } from '../support/sse-reader.ts';

let clock: ManualClock;
let stage: HttpStage;
let followings: ScriptedFollowings<PublicEvent>;
let events: string;

beforeEach(async () => {
  clock = new ManualClock();
  stage = await HttpStage.open({ clock });
  events = `${stage.url}/v1/sessions/${SESSION_ID}/events`;
  followings = new ScriptedFollowings();
  stage.sessions.instead.followEvents = followings.follow;
});

afterEach(async () => {
  await stage.closeOn(clock);
});

function recorded(sequence: number, data?: unknown): Followed<PublicEvent> {
  return { kind: 'recorded', item: eventAt(sequence, data) };
}

function delta(text: string): Followed<PublicEvent> {
  return { kind: 'live', event: { type: 'model_delta', message_sequence: 3, data: { started_sequence: 5, text } } };
}

describe('what a stream says', () => {
  it('S-182, S-192: gives each recorded event its type, its sequence and its whole envelope, to the byte', async () => {
    const text = '你好🦀é 👩‍👩‍👧 \u2028"\\ line\nbreak';
    const connection = stage.connect();
    connection.send(`GET /v1/sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    const following = await followings.at(0);
    const sold: PublicEvent = { sequence: 4, recorded_at: 7, type: 'shop.sold', data: { text }, origin: { kind: 'tool', sequence: 3 } };
    following.add({ kind: 'recorded', item: sold }, delta('你'));
    following.end();
    await eventually(async () => (connection.text.endsWith('0\r\n\r\n') ? true : undefined), 'the end of the stream');
    connection.socket.destroy();

    const [head, ...chunks] = connection.text.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(chunks.join('\r\n\r\n').split('\r\n').filter((_, at) => at % 2 === 1).join('')).toBe(
      `event: shop.sold\nid: 4\ndata: ${JSON.stringify(sold)}\n\n` +
        `event: model_delta\ndata: {"started_sequence":5,"text":"你"}\n\n`,
    );
  });

  it('is not kept, changed or held back on its way', async () => {
    const reader = await SseReader.open(events);
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(reader.headers).not.toHaveProperty('content-encoding');
    reader.close();
  });

  it('keeps a type that holds a line break on its line', async () => {
    const reader = await SseReader.open(events);
    const forged: PublicEvent = { sequence: 4, recorded_at: 1, type: 'a.b\nid: 99\r\ndata: x\rretry: 1', data: null };
    (await followings.at(0)).add({ kind: 'recorded', item: forged }, recorded(5));
    await reader.nextOf('turn_started');
    expect(reader.frames.map(({ id }) => id)).toEqual(['4', '5']);
    expect(reader.frames[0]?.data).toBe(JSON.stringify(forged));
    reader.close();
  });

  it('S-189, L-069: gives no id to what is live only', async () => {
    const reader = await SseReader.open(events);
    (await followings.at(0)).add(recorded(4), delta('a'), recorded(6));
    await reader.next(({ id }) => id === '6', 'the last event');
    expect(reader.frames.map(({ event, id }) => [event, id])).toEqual([
      ['turn_started', '4'],
      ['model_delta', undefined],
      ['turn_started', '6'],
    ]);
    reader.close();
  });

  it('shows the types that are asked for, live ones too', async () => {
    const reader = await SseReader.open(`${events}?types=turn_ended,model_delta`);
    const ended: PublicEvent = { sequence: 5, recorded_at: 1, type: 'turn_ended', data: {} };
    (await followings.at(0)).add(recorded(4), delta('a'), { kind: 'recorded', item: ended });
    await reader.nextOf('turn_ended');
    expect(reader.frames.map(({ event }) => event)).toEqual(['model_delta', 'turn_ended']);
    reader.close();
  });

  it('is written once for all who follow', async () => {
    const readers = [await SseReader.open(events), await SseReader.open(events)] as const;
    let written = 0;
    const data = { toJSON: () => `written ${(written += 1)} times` };
    const item: PublicEvent = { sequence: 4, recorded_at: 1, type: 'turn_started', data };
    for (const index of [0, 1]) (await followings.at(index)).add({ kind: 'recorded', item });
    for (const reader of readers) await reader.nextOf('turn_started');

    expect(written).toBe(1);
    expect(readers[0].frames).toEqual(readers[1].frames);
    for (const reader of readers) reader.close();
  });

  it('shows whole records on the journal', async () => {
    stage.sessions.instead.followJournal = async () => ({ ended: false, items: once({ kind: 'recorded' as const, item: recordAt(3) }) });
    const reader = await SseReader.open(`${stage.url}/v1/sessions/${SESSION_ID}/journal?after=2`);
    await reader.ended;
    expect(reader.frames).toEqual([{ id: '3', event: 'turn_started', data: JSON.stringify(recordAt(3)) }]);
    expect(stage.sessions.calls[0]?.args.slice(0, 3)).toEqual(['local', SESSION_ID, 2]);
  });
});

describe('where a stream begins and ends', () => {
  it.each([
    ['', undefined, 0],
    ['?after=7', undefined, 7],
    ['?after=7', '9', 9],
    ['?after=7', '0', 0],
    ['?after=7', '', 7],
  ])('S-183, L-082: begins after the last event id, else after the cursor: %s with %s', async (query, lastEventId, after) => {
    const reader = await SseReader.open(`${events}${query}`, lastEventId === undefined ? {} : { lastEventId });
    await followings.at(0);
    expect(stage.sessions.calls[0]?.args[2]).toBe(after);
    reader.close();
  });

  it('ends after the last event, and answers 204 to a reader that comes back', async () => {
    const reader = await SseReader.open(events);
    const following = await followings.at(0);
    following.add(recorded(9));
    following.end();
    await reader.ended;
    expect(reader.frames.map(({ id }) => id)).toEqual(['9']);

    let signal: AbortSignal | undefined;
    stage.sessions.instead.followEvents = async (_tenant, _session, _after, given) => {
      signal = given;
      return { ended: true, items: once<Followed<PublicEvent>>() };
    };
    const again = await fetch(events, { headers: { accept: 'text/event-stream', 'last-event-id': '9' } });
    expect([again.status, await again.text()]).toEqual([204, '']);
    expect(signal?.aborted).toBe(true);
  });

  it('answers what is refused before the stream begins as any other refusal', async () => {
    stage.sessions.instead.followEvents = () => Promise.reject(new ServiceError('not_found', 'there is no such session'));
    const response = await fetch(events, { headers: { accept: 'text/event-stream' } });
    expect([response.status, response.headers.get('content-type'), (await errorOf(response)).code]).toEqual([
      404,
      'application/json; charset=utf-8',
      'not_found',
    ]);
  });

  it('ends a stream that fails on its way, and tells the operator why', async () => {
    const reader = await SseReader.open(events);
    const following = await followings.at(0);
    following.add(recorded(4));
    await reader.nextOf('turn_started');
    following.fail(new Error('the disk'));
    await reader.ended;

    expect(reader.frames).toHaveLength(1);
    expect(stage.logged).toMatchObject([
      { level: 'warn', event: 'stream_failed', facts: { session_id: SESSION_ID, trace: expect.stringContaining('the disk') as string } },
    ]);
    expect(following.isReleased).toBe(true);
  });

  it('S-220: gives its last events before a closing server is closed', async () => {
    const reader = await SseReader.open(events);
    const following = await followings.at(0);
    const closed = stage.close({});
    following.add(recorded(4));
    await reader.nextOf('turn_started');
    following.add(recorded(5));
    following.end();
    await closed;
    await reader.ended;
    expect(reader.frames.map(({ id }) => id)).toEqual(['4', '5']);
  });
});

describe('readers', () => {
  it('S1: are paced by their sockets: ten that stall are asked nothing for, and slow nobody down', async () => {
    const bulk = 'x'.repeat(100_000);
    const stalled = await Promise.all(Array.from({ length: 10 }, () => SseReader.open(events, { stalled: true })));
    await followings.at(9);
    const healthy = await SseReader.open(events);
    const lively = await followings.at(10);
    // More than any kernel buffers for ten sockets that nobody reads.
    const count = 1000;
    for (const following of followings.all) following.add(...Array.from({ length: count }, (_, at) => recorded(at + 1, bulk)));
    await healthy.next(({ id }) => id === String(count), 'the last event');

    expect(lively.pulls).toBe(count + 1);
    const pulls = followings.all.slice(0, 10).map((following) => following.pulls);
    expect(Math.max(...pulls)).toBeLessThan(count / 4);
    // No comment is written into a socket that takes nothing.
    clock.advance(60_000);
    healthy.close();

    const [first] = stalled;
    first?.resume();
    await first?.next(({ id }) => id === String(count), 'the last event of one that had stalled');
    expect(first?.frames.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, at) => String(at + 1)));
    expect(first?.comments.all).toEqual([]);
    for (const reader of stalled) reader.close();
    await eventually(async () => (followings.all.every(({ isReleased }) => isReleased) ? true : undefined), 'all to be released');
  });

  it('S-098: are forgotten with their timers and followers when they go', async () => {
    const reader = await SseReader.open(events);
    const following = await followings.at(0);
    await eventually(async () => (clock.timerCount === 1 ? true : undefined), 'the timer');
    reader.close();
    await eventually(async () => (following.isReleased && clock.timerCount === 0 ? true : undefined), 'the release');
    expect(stage.logged.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('are forgotten too when they go while the stream is made', async () => {
    let isAsked = false;
    let release: () => void = () => undefined;
    let following: ScriptedFollowing<PublicEvent> | undefined;
    stage.sessions.instead.followEvents = async (_tenant, _session, _after, signal) => {
      isAsked = true;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      following = new ScriptedFollowing<PublicEvent>(signal);
      return { ended: false, items: following };
    };
    const connection = stage.connect();
    connection.send(`GET /v1/sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    await eventually(async () => (isAsked ? true : undefined), 'the follower');
    connection.socket.destroy();
    await connection.closed;
    // Another request has been served: whatever the server was to hear of the first, it has heard.
    await fetch(`${stage.url}/health/live`);
    release();
    await eventually(async () => following?.isReleased, 'the release');
    expect(clock.timerCount).toBe(0);
  });
});

describe('the keepalive', () => {
  it('L-066: comes 15 seconds after the last byte, and every 15 seconds after that', async () => {
    const reader = await SseReader.open(events);
    const following = await followings.at(0);
    await eventually(async () => (clock.timerCount === 1 ? true : undefined), 'the timer');
    clock.advance(10_000);
    following.add(recorded(4));
    await reader.nextOf('turn_started');
    clock.advance(14_999);
    following.add(recorded(5));
    await reader.next(({ id }) => id === '5', 'the next event');
    expect(reader.comments.all).toEqual([]);

    clock.advance(14_999);
    following.add(delta('after'));
    await reader.nextOf('model_delta');
    expect(reader.comments.all).toEqual([]);
    clock.advance(15_000);
    expect(await reader.comments.at(0)).toBe('keepalive');
    clock.advance(14_999);
    clock.advance(1);
    expect(await reader.comments.at(1)).toBe('keepalive');
    expect(reader.comments.all).toHaveLength(2);
    reader.close();
  });

  it('is the very line `: keepalive`', async () => {
    const connection = stage.connect();
    connection.send(`GET /v1/sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    await eventually(async () => (clock.timerCount === 1 ? true : undefined), 'the timer');
    clock.advance(15_000);
    await eventually(async () => (connection.text.includes('\n: keepalive\n\n') ? true : undefined), 'the comment');
    connection.socket.destroy();
  });
});

describe('a client library', () => {
  it('S-184, S-185: reads on from its last recorded event after every disconnect', async () => {
    const all = [1, 2, 5, 8].map((sequence) => eventAt(sequence, { text: '🦀' }));
    stage.sessions.instead.followEvents = async (_tenant, _session, after) => {
      const rest = all.filter(({ sequence }) => sequence > after);
      // Two events for each connection, with something live after each, and then the connection is over.
      const items = rest.slice(0, 2).flatMap((item): Followed<PublicEvent>[] => [{ kind: 'recorded', item }, delta('x')]);
      return { ended: rest.length === 0, items: once(...items) };
    };
    const seen: unknown[] = [];
    const source = new EventSource(`${events}?after=1`);
    source.addEventListener('turn_started', ({ data }) => seen.push(JSON.parse(data as string)));
    await eventually(async () => (source.readyState === source.CLOSED ? true : undefined), 'the end of the session');
    expect(seen).toEqual(all.slice(1));
  });
});

async function* once<T>(...items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
