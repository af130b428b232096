/** What becomes of a stream when the token that opened it counts no more. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import { eventually } from '../support/eventually.ts';
import { eventAt, SESSION_ID } from '../support/fake-session-service.ts';
import { HttpStage } from '../support/http-stage.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ScriptedFollowing, ScriptedFollowings } from '../support/scripted-following.ts';
import { SseReader } from '../support/sse-reader.ts';

let clock: ManualClock;
let stage: HttpStage;
let followings: ScriptedFollowings<PublicEvent>;

beforeEach(async () => {
  clock = new ManualClock();
  stage = await HttpStage.open({ clock, apiKey: 'key' });
  followings = new ScriptedFollowings();
  stage.sessions.instead.followEvents = followings.follow;
});

afterEach(async () => {
  await stage.closeOn(clock);
});

function read(token: string, options: { readonly stalled?: boolean } = {}): Promise<SseReader> {
  return SseReader.open(`${stage.url}/v1/sessions/${SESSION_ID}/events?access_token=${token}`, options);
}

describe('the end of a token', () => {
  it('ends its streams and lets their followers go, and no other', async () => {
    const mine = stage.tokens.give('mine');
    const readers = await Promise.all([read(mine), read(mine), read(stage.tokens.give('other')), read('key')]);
    for (const index of readers.keys()) (await followings.at(index)).add({ kind: 'recorded', item: eventAt(4) });
    for (const reader of readers) await reader.nextOf('turn_started');

    stage.tokens.takeBack(mine);

    await Promise.all(readers.slice(0, 2).map(({ ended }) => ended));
    await eventually(async () => (followings.all.filter(({ isReleased }) => isReleased).length === 2 ? true : undefined), 'two to be released');
    for (const following of followings.all) if (!following.isReleased) following.add({ kind: 'recorded', item: eventAt(5) });
    for (const reader of readers.slice(2)) {
      await reader.next(({ id }) => id === '5', 'what came later');
      reader.close();
    }
    expect((await stage.request('GET', `/v1/sessions/${SESSION_ID}/events?access_token=${mine}`, { headers: { accept: 'text/event-stream' } })).status).toBe(401);
  });

  it('ends the answer properly for a reader that reads, on a connection that goes on', async () => {
    const token = stage.tokens.give('mine');
    const connection = stage.connect();
    connection.send(`GET /v1/sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`);
    await followings.at(0);
    stage.tokens.takeBack(token);
    await eventually(async () => (connection.text.endsWith('\r\n0\r\n\r\n') ? true : undefined), 'the last chunk');
    connection.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(async () => (connection.text.includes('HTTP/1.1 204') ? true : undefined), 'the next answer');
    connection.socket.destroy();
  });

  it('cuts off a reader that takes nothing, after a second', async () => {
    const token = stage.tokens.give('mine');
    const reader = await read(token, { stalled: true });
    const following = await followings.at(0);
    following.add(...Array.from({ length: 200 }, (_, at) => ({ kind: 'recorded' as const, item: eventAt(at + 1, { text: 'x'.repeat(100_000) }) })));
    const stalledAt = await settled(following);
    expect(stalledAt).toBeLessThan(200);

    stage.tokens.takeBack(token);
    await eventually(async () => (following.isReleased ? true : undefined), 'the release');
    await eventually(async () => (clock.timerCount === 1 ? true : undefined), 'the last second to begin');
    clock.advance(1_000);
    // It reads to the end of what the system still has for it, and that is the end.
    reader.resume();
    await reader.ended;
    expect(reader.frames.length).toBeLessThan(200);
  });

  it('that comes while the stream is made leaves nobody waiting', async () => {
    const token = stage.tokens.give('mine');
    stage.sessions.instead.followEvents = async (_tenant, _session, _after, signal) => {
      stage.tokens.takeBack(token);
      return { ended: false, items: new ScriptedFollowing<PublicEvent>(signal) };
    };
    const connection = stage.connect();
    connection.send(`GET /v1/sessions/${SESSION_ID}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`);
    expect(await connection.closed).not.toContain('data:');
  });
});

describe('a token that counts', () => {
  it('remembers no stream that is over', async () => {
    const token = stage.tokens.give('mine');
    const ended = (await stage.tokens.holderOf(token))?.ended;
    if (ended === undefined) throw new Error('the token counts');
    const readers = await Promise.all(Array.from({ length: 30 }, () => read(token)));
    expect(getEventListeners(ended, 'abort')).toHaveLength(30);
    for (const reader of readers) reader.close();

    await eventually(async () => (getEventListeners(ended, 'abort').length === 0 ? true : undefined), 'all to be forgotten');
  });
});

/** How often an item was asked for, once nobody asks for more. */
async function settled(following: ScriptedFollowing<PublicEvent>): Promise<number> {
  let before = -1;
  return eventually(async () => {
    const { pulls } = following;
    const isSettled = pulls === before && pulls > 1;
    before = pulls;
    // Another request is served in between: whatever the socket was to take by then, it has taken.
    await fetch(`${stage.url}/health/live`);
    return isSettled ? pulls : undefined;
  }, 'the reader to stall');
}
