import { describe, expect, it } from 'vitest';
import { KeyedRequests } from '../../../../machines/projections/keyed-requests.ts';
import type { KeyedRequest, SessionRecord } from '../../../../machines/records.ts';
import { CREATED, Story } from '../../../support/session-story.ts';

const HOUR_MS = 60 * 60 * 1000;

function keyed(route: string, key: string): KeyedRequest {
  return { key, route, body: 'ab'.repeat(32) };
}

function created(): Story {
  const story = new Story();
  story.command({ kind: 'create', created: CREATED, transcript: [] });
  return story;
}

/** When the story's last record was written. */
function nowIn(story: Story): number {
  return story.state.facts.recorded_at;
}

function queuedAt(recorded_at: number, sequence: number, request: KeyedRequest): SessionRecord {
  return { sequence, recorded_at, type: 'message_queued', state: 'suspended', request, data: { input: 'x', mode: 'sync' } };
}

function endedAt(recorded_at: number, sequence: number, message_sequence: number): SessionRecord {
  return { sequence, recorded_at, type: 'turn_ended', state: 'suspended', data: { message_sequence, next: null, end: false } };
}

function namesIn(requests: KeyedRequests): readonly string[] {
  return requests.snapshot().map(([name]) => name).toSorted();
}

describe('a keyed request', () => {
  it('L-052: lives in the first record that it caused, which is known by its key and route', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'async' }, { request: keyed('submit', 'a') });

    const queued = story.records.find(({ type }) => type === 'message_queued');
    expect(queued?.request).toEqual(keyed('submit', 'a'));
    expect(story.records.filter(({ request }) => request !== undefined)).toHaveLength(1);
    expect(story.state.requests.find(keyed('submit', 'a'), nowIn(story))?.sequence).toBe(queued?.sequence);
  });

  it('S-091: of one mode of sending says nothing of the other', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'async' }, { request: keyed('submit', 'a') });

    expect(story.state.requests.find(keyed('send', 'a'), nowIn(story))).toBeNull();
    expect(story.state.requests.find(keyed('submit', 'b'), nowIn(story))).toBeNull();
  });

  it('that changes nothing leaves a private record, so that its key is known all the same', () => {
    const story = created();
    story.command({ kind: 'cancel', by: 'caller' }, { request: keyed('cancel', 'a') });

    expect(story.records.at(-1)).toMatchObject({ type: 'request_answered', request: keyed('cancel', 'a') });
    expect(story.state.requests.find(keyed('cancel', 'a'), nowIn(story))).not.toBeNull();
  });

  it('is written behind the suspension that its command says first, into what the command itself caused', () => {
    const story = new Story();
    story.command({ kind: 'create', created: { ...CREATED, retain: 0 }, transcript: [] });
    story.command({ kind: 'send', input: 'x', mode: 'sync' }, { request: keyed('send', 'a'), wasResident: false });

    expect(story.records.find(({ request }) => request !== undefined)?.type).toBe('message_queued');
    expect(story.records.some(({ type }) => type === 'session_suspended')).toBe(true);
  });

  it('S-153: is known for 24 hours after its answer was complete, and free afterwards', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'async' }, { request: keyed('submit', 'a') });
    const at = story.records.find(({ request }) => request !== undefined)?.recorded_at ?? 0;

    expect(story.state.requests.find(keyed('submit', 'a'), at + 24 * HOUR_MS)).not.toBeNull();
    expect(story.state.requests.find(keyed('submit', 'a'), at + 24 * HOUR_MS + 1)).toBeNull();
  });

  it('S-155: of a turn that a restart closed is known for ever', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'sync' }, { request: keyed('send', 'a') });
    story.recover();

    expect(story.state.requests.find(keyed('send', 'a'), nowIn(story) + 1_000 * HOUR_MS)).not.toBeNull();
  });

  it('whose turn is over is forgotten a day after the turn, not after the request', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'sync' }, { request: keyed('send', 'a') });
    story.command({ kind: 'cancel', by: 'caller' });
    const message_sequence = story.state.context.turn?.message_sequence ?? 0;
    story.command({ kind: 'close_turn', message_sequence, ending: { kind: 'returned' }, open: 'cancelled' });
    const endedAt = nowIn(story);

    expect(story.state.requests.find(keyed('send', 'a'), endedAt + 24 * HOUR_MS)).not.toBeNull();
    expect(story.state.requests.find(keyed('send', 'a'), endedAt + 24 * HOUR_MS + 1)).toBeNull();
  });

  it('is forgotten in the order in which the answers were complete, whichever was asked first, in a copy too', () => {
    const asked = ['slow', 'quick', 'never'].map((key, index) => ({ key, sequence: 3 + index }));
    const requests = new KeyedRequests();
    for (const { key, sequence } of asked) requests.apply(queuedAt(0, sequence, keyed('send', key)));
    requests.apply(endedAt(1 * HOUR_MS, 6, 4));
    requests.apply(endedAt(2 * HOUR_MS, 7, 3));
    const copy = KeyedRequests.from(JSON.parse(JSON.stringify(requests.snapshot())) as never);

    for (const one of [requests, copy]) {
      one.apply(queuedAt(25.5 * HOUR_MS, 8, keyed('submit', 'later')));
      expect(namesIn(one)).toEqual(['send never', 'send slow', 'submit later']);
      one.apply(queuedAt(27 * HOUR_MS, 9, keyed('send', 'slow')));
      expect(namesIn(one)).toEqual(['send never', 'send slow', 'submit later']);
      one.apply(endedAt(28 * HOUR_MS, 10, 9));
      expect(one.find(keyed('send', 'slow'), 52 * HOUR_MS)?.sequence).toBe(9);
      expect(one.find(keyed('send', 'slow'), 52 * HOUR_MS + 1)).toBeNull();
    }
  });

  it('is known to a snapshot as to the journal', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'sync' }, { request: keyed('send', '__proto__') });
    const copy = KeyedRequests.from(JSON.parse(JSON.stringify(story.state.requests.snapshot())) as never);

    expect(copy.find(keyed('send', '__proto__'), nowIn(story))).toEqual(story.state.requests.find(keyed('send', '__proto__'), nowIn(story)));
  });
});

describe('metadata', () => {
  it('is merged name by name, and null takes a name away', () => {
    const story = created();
    story.command({ kind: 'change_metadata', changes: { a: '1', b: '2' } });
    story.command({ kind: 'change_metadata', changes: { a: null, c: '3' } });

    expect(story.state.facts.metadata).toEqual({ b: '2', c: '3' });
    expect(story.command({ kind: 'change_metadata', changes: { b: '2', z: null } })).toEqual({ kind: 'nothing' });
  });

  it('has 32 names at most, those that it has already included', () => {
    const story = created();
    const names = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`name${index}`, 'x']));
    story.command({ kind: 'change_metadata', changes: names });

    expect(story.command({ kind: 'change_metadata', changes: { one: 'more' } })).toMatchObject({ code: 'metadata_full' });
    expect(story.command({ kind: 'change_metadata', changes: { one: 'more', name0: null } })).toMatchObject({ kind: 'records' });
  });
});
