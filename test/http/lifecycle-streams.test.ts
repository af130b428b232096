/** Events of `/sessions` on the wire: pages, frames, cursors, and what a client library makes of them. */
import { EventSource } from 'eventsource';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LifecycleCursor, LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import type { Followed, LiveContent } from '../../services/session-service.ts';
import { eventually } from '../support/eventually.ts';
import { lifecycleEventAt, SESSION_ID } from '../support/fake-session-service.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ScriptedFollowings } from '../support/scripted-following.ts';
import { SseReader } from '../support/sse-reader.ts';

const TIME = '2026-01-01T12:00:00Z';

let clock: ManualClock;
let stage: HttpStage;
let followings: ScriptedFollowings<LifecycleEvent>;
let events: string;

beforeEach(async () => {
  clock = new ManualClock();
  stage = await HttpStage.open({ clock });
  events = `${stage.url}/sessions/${SESSION_ID}/events`;
  followings = new ScriptedFollowings();
  stage.sessions.instead.followLifecycle = followings.follow;
});

afterEach(async () => {
  const closed = stage.close();
  clock.advance(0);
  await closed;
});

function recorded(item: LifecycleEvent): Followed<LifecycleEvent> {
  return { kind: 'recorded', item };
}

function live(event: LiveContent): Followed<LifecycleEvent> {
  return { kind: 'live', event: { ...event, message_sequence: 3 } };
}

function at(sequence: number, index: number, of: Pick<LifecycleEvent, 'type' | 'data'>, input: number | null = 3): LifecycleEvent {
  const event = { sequence, index, recorded_at: 1_767_268_800_123, ...of, ...(input === null ? {} : { input_sequence: input }) };
  return event as LifecycleEvent;
}

const EACH: readonly (readonly [LifecycleEvent, object])[] = [
  [at(3, 0, { type: 'user.message', data: { text: '你好🦀é', key: 'k' } }), { id: '3.0', input_id: '3.0', text: '你好🦀é', key: 'k' }],
  [at(4, 0, { type: 'session.status', data: { status: 'running' } }), { id: '4.0', input_id: '3.0', status: 'running' }],
  [at(8, 0, { type: 'assistant.message', data: { text: 'hi', reasoning: 'hm', usage: { input_tokens: 1 } } }), { id: '8.0', input_id: '3.0', text: 'hi', reasoning: 'hm', usage: { input_tokens: 1 } }],
  [at(9, 0, { type: 'tool.call', data: { started_sequence: 9, name: 'add', input: { a: 1 } } }), { id: '9.0', input_id: '3.0', call_id: 9, name: 'add', input: { a: 1 } }],
  [
    at(10, 0, { type: 'tool.result', data: { started_sequence: 9, output: [1], is_error: true, outcome: 'unknown' } }),
    { id: '10.0', input_id: '3.0', call_id: 9, output: [1], is_error: true, outcome: 'unknown' },
  ],
  [at(41, 0, { type: 'session.error', data: { code: 'conflict', message: 'stopped' } }), { id: '41.0', input_id: '3.0', code: 'conflict', message: 'stopped' }],
  [at(41, 1, { type: 'session.status', data: { status: 'interrupted' } }), { id: '41.1', input_id: '3.0', status: 'interrupted' }],
  [at(42, 0, { type: 'session.status', data: { status: 'idle' } }, null), { id: '42.0', status: 'idle' }],
];

function shownAs(item: LifecycleEvent, said: object): object {
  return { type: item.type, session_id: SESSION_ID, time: TIME, ...said };
}

describe('a page', () => {
  it('L-055, L-056: has each event with its cursor for an id, and a cursor that is text', async () => {
    stage.sessions.instead.lifecycleEvents = async () => ({ items: EACH.map(([item]) => item), next_cursor: { sequence: 42, index: 0 } });
    const response = await fetch(events);
    expect(await response.json()).toEqual({ events: EACH.map(([item, said]) => shownAs(item, said)), next_cursor: '42.0' });

    stage.sessions.instead.lifecycleEvents = async () => ({ items: [], next_cursor: { sequence: 7, index: null } });
    expect(await (await fetch(events)).json()).toEqual({ events: [], next_cursor: '7' });
  });

  it.each(['*/*', 'application/json', 'text/html', 'text/event-stream;q=0.1, application/json'])('L-054: is what a reader gets that accepts %s', async (accept) => {
    const response = await fetch(events, { headers: { accept } });
    expect([response.status, response.headers.get('content-type'), response.headers.get('vary')]).toEqual([200, 'application/json; charset=utf-8', 'Accept']);
  });

  it.each<readonly [string, LifecycleCursor, number]>([
    ['', { sequence: 0, index: null }, 100],
    ['?after=0', { sequence: 0, index: null }, 100],
    ['?after=41.0&limit=1', { sequence: 41, index: 0 }, 1],
    ['?after=41.12&limit=1000', { sequence: 41, index: 12 }, 1000],
    ['?after=41', { sequence: 41, index: null }, 100],
    [`?after=${Number.MAX_SAFE_INTEGER}`, { sequence: Number.MAX_SAFE_INTEGER, index: null }, 100],
  ])('L-057, L-058, L-081: is asked for with a cursor and a limit: %s', async (query, after, limit) => {
    expect((await fetch(`${events}${query}`)).status).toBe(200);
    expect(stage.sessions.calls).toEqual([{ method: 'lifecycleEvents', args: ['local', SESSION_ID, { after, limit }] }]);
  });

  it.each(['', 'x', '-1', '1.', '.1', '1.-1', '01.0', '1.00', '1.0.0', '1e3', '9007199254740992', '1.9007199254740993', '1,0', '%00'])(
    'is refused with the cursor %s',
    async (after) => {
      for (const accept of ['application/json', 'text/event-stream']) {
        const response = await fetch(`${events}?after=${after}`, { headers: { accept } });
        expect([response.status, (await errorOf(response)).code]).toEqual([400, 'invalid_cursor']);
      }
      expect(stage.sessions.calls).toEqual([]);
    },
  );

  it.each(['0', '1001', '-1', '1.5', 'x', ''])('L-057: is refused with the limit %s', async (limit) => {
    const response = await fetch(`${events}?limit=${limit}`);
    expect([response.status, (await errorOf(response)).code]).toEqual([400, 'invalid_request']);
  });
});

describe('a stream', () => {
  it('L-059, L-063, L-064, L-065: has for each event its type, its cursor and one line of JSON, to the byte', async () => {
    const connection = stage.connect();
    connection.send(`GET /sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    const source = await followings.at(0);
    source.add(...EACH.map(([item]) => recorded(item)));
    source.end();
    await eventually(async () => (connection.text.endsWith('0\r\n\r\n') ? true : undefined), 'the end of the stream');
    connection.socket.destroy();

    const [head = '', ...chunks] = connection.text.split('\r\n\r\n');
    for (const line of ['Content-Type: text/event-stream', 'Cache-Control: no-cache, no-transform', 'X-Accel-Buffering: no']) {
      expect(head.toLowerCase()).toContain(line.toLowerCase());
    }
    const frames = chunks.join('\r\n\r\n').split('\r\n').filter((_, line) => line % 2 === 1).join('').split('\n\n').slice(0, -1);
    expect(frames.map((frame) => frame.split('\n').map((line) => line.split(': ')[0]))).toEqual(EACH.map(() => ['event', 'id', 'data']));
    for (const [index, [item, said]] of EACH.entries()) {
      const [event, id, data = ''] = frames[index]?.split('\n') ?? [];
      expect([event, id]).toEqual([`event: ${item.type}`, `id: ${item.sequence}.${item.index}`]);
      expect(JSON.parse(data.slice('data: '.length))).toEqual(shownAs(item, said));
    }
  });

  it('L-067: shows live what passes by, with its input and without an id, and not what this surface does not tell', async () => {
    const reader = await SseReader.open(events);
    (await followings.at(0)).add(
      live({ type: 'model_delta', data: { started_sequence: 6, text: 'Hel' } }),
      live({ type: 'model_delta', data: { started_sequence: 6, reasoning: 'hm' } }),
      live({ type: 'model_delta', data: { started_sequence: 6, tool_input: '{"a"' } }),
      live({ type: 'tool_progress', data: { started_sequence: 9, message: 'half', fraction: 0.5 } }),
      live({ type: 'telemetry', data: { message_sequence: 3, record: { a: 1 } } }),
      recorded(lifecycleEventAt(10)),
    );
    await reader.nextOf('user.message');
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const said = { session_id: SESSION_ID, time, input_id: '3.0' };
    expect(reader.frames.slice(0, -1).map(({ id, event, data }) => [id, event, JSON.parse(data) as unknown])).toEqual([
      [undefined, 'assistant.delta', { type: 'assistant.delta', ...said, text: 'Hel' }],
      [undefined, 'assistant.delta', { type: 'assistant.delta', ...said, reasoning: 'hm' }],
      [undefined, 'tool.progress', { type: 'tool.progress', ...said, call_id: 9, message: 'half', fraction: 0.5 }],
    ]);
    reader.close();
  });

  it.each<readonly [string, string | undefined, LifecycleCursor]>([
    ['', undefined, { sequence: 0, index: null }],
    ['?after=7.1', undefined, { sequence: 7, index: 1 }],
    ['?after=7.1', '9.0', { sequence: 9, index: 0 }],
    ['?after=7.1', '9', { sequence: 9, index: null }],
    ['?after=7.1', '0', { sequence: 0, index: null }],
    ['?after=7.1', '', { sequence: 7, index: 1 }],
  ])('L-060, L-061, L-082: begins after the last event id, else after the cursor, else at the start: %s with %s', async (query, lastEventId, after) => {
    const reader = await SseReader.open(`${events}${query}`, lastEventId === undefined ? {} : { lastEventId });
    await followings.at(0);
    expect(stage.sessions.calls[0]?.args[2]).toEqual(after);
    reader.close();
  });

  it.each(['x', '-1', '1.', '1.0.0', '9007199254740992'])('is refused with the last event id %s', async (lastEventId) => {
    const response = await fetch(events, { headers: { accept: 'text/event-stream', 'last-event-id': lastEventId } });
    const { code, details } = await errorOf(response);
    expect([response.status, code, details?.field]).toEqual([400, 'invalid_cursor', '/Last-Event-ID']);
  });

  it('ends after the last event, and is 204 for whoever comes back', async () => {
    const reader = await SseReader.open(events);
    const source = await followings.at(0);
    source.add(recorded(lifecycleEventAt(9)));
    source.end();
    await reader.ended;
    expect(reader.frames.map(({ id }) => id)).toEqual(['9.0']);

    stage.sessions.instead.followLifecycle = async () => ({ ended: true, items: once() });
    const again = await fetch(events, { headers: { accept: 'text/event-stream', 'last-event-id': '9.0' } });
    expect([again.status, await again.text()]).toEqual([204, '']);
  });

  it('L-066: says `: keepalive` 15 seconds after its last byte', async () => {
    const connection = stage.connect();
    connection.send(`GET /sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    await eventually(async () => (clock.timerCount === 1 ? true : undefined), 'the timer');
    clock.advance(14_999);
    expect(connection.text).not.toContain('keepalive');
    clock.advance(1);
    await eventually(async () => (connection.text.includes('\n: keepalive\n\n') ? true : undefined), 'the comment');
    connection.socket.destroy();
  });

  it('L-077, L-078, L-082: is read on by a client library from its last retained event, after every disconnect', async () => {
    const all = [3, 5, 8, 9].flatMap((sequence) => [0, 1].map((index) => ({ ...lifecycleEventAt(sequence), index })));
    stage.sessions.instead.followLifecycle = async (_tenant, _session, { sequence, index }) => {
      const rest = all.filter((event) => event.sequence > sequence || (event.sequence === sequence && index !== null && event.index > index));
      // Three events for each connection, with something live after each, and then the connection is over.
      const items = rest.slice(0, 3).flatMap((item) => [recorded(item), live({ type: 'model_delta', data: { started_sequence: 6, text: 'x' } })]);
      return { ended: rest.length === 0, items: once(...items) };
    };
    const seen: unknown[] = [];
    // The stale cursor stays in the address: the header that the library sends wins over it.
    const source = new EventSource(`${events}?after=3.0`);
    source.addEventListener('user.message', ({ data }) => seen.push((JSON.parse(data as string) as { readonly id: string }).id));
    await eventually(async () => (source.readyState === source.CLOSED ? true : undefined), 'the end of the session');
    expect(seen).toEqual(['3.1', '5.0', '5.1', '8.0', '8.1', '9.0', '9.1']);
  });
});

async function* once<T>(...items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
