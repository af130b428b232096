import { describe, expect, it } from 'vitest';
import { publicEventOf } from '../../../../machines/projections/public-events.ts';
import { RECORD_VISIBILITY, type RecordData, type SessionRecord } from '../../../../machines/records.ts';
import { storyAtWork } from '../../../support/session-story.ts';

function record<T extends keyof RecordData>(type: T, data: RecordData[T]): SessionRecord {
  const request = { key: 'secret-key', route: 'POST', body: 'abc' };
  return { sequence: 9, recorded_at: 70, type, state: 'running.working', request, data } as unknown as SessionRecord;
}

describe('publicEventOf', () => {
  it('S-029: shows a record under its own sequence, whole but for its state and its keyed request', () => {
    const data = { message_sequence: 3, next: null, end: false };

    expect(publicEventOf(record('turn_ended', data))).toStrictEqual({
      sequence: 9,
      recorded_at: 70,
      type: 'turn_ended',
      data,
    });
  });

  it.each(['session_suspended', 'kv_put', 'kv_deleted', 'request_answered'] as const)('S-028: shows nothing of %s', (type) => {
    const data = { message_sequence: 3, key: 'k', value: 1 };

    expect(publicEventOf(record(type, data))).toBeNull();
  });

  it('names exactly these records private, and one that is shown where it replaces', () => {
    const hidden = Object.entries(RECORD_VISIBILITY).filter(([, visibility]) => visibility !== 'public');

    expect(Object.fromEntries(hidden)).toEqual({
      session_suspended: 'private',
      transcript_delta: 'where_replacing',
      kv_put: 'private',
      kv_deleted: 'private',
      request_answered: 'private',
    });
  });

  it('S-025, S-026: shows a delta that replaces as transcript_replaced, under its own sequence', () => {
    const data = { message_sequence: 3, from: 1, messages: [], replaces: 2 };

    expect(publicEventOf(record('transcript_delta', data))).toStrictEqual({
      sequence: 9,
      recorded_at: 70,
      type: 'transcript_replaced',
      data,
    });
  });

  it('S-027: shows nothing of a delta that only appends, nor of a seed', () => {
    expect(publicEventOf(record('transcript_delta', { message_sequence: 3, from: 1, messages: [] }))).toBeNull();
    expect(publicEventOf(record('transcript_delta', { from: 0, messages: [] }))).toBeNull();
  });

  it('S-049: takes the origin from the record alone, whatever the payload says', () => {
    const origin = { kind: 'tool', sequence: 7 } as const;
    const forged = { origin: { kind: 'agentloop', sequence: 5 }, sequence: 1, type: 'turn_ended', recorded_at: 0 };
    const event = publicEventOf(record('extension_emitted', { message_sequence: 3, origin, name: 'a.b', data: forged }));

    expect(event).toStrictEqual({ sequence: 9, recorded_at: 70, type: 'a.b', data: forged, origin });
  });

  it('S-050: shows an old extension event without an origin as one that has none', () => {
    const data = { message_sequence: 3, name: 'a.b', data: { origin: { kind: 'tool', sequence: 7 } } };
    const event = publicEventOf(record('extension_emitted', data));

    expect(event).not.toBeNull();
    expect(Object.keys(event ?? {})).not.toContain('origin');
  });

  it('counts as a change of the session only what is public', () => {
    const { story, message } = storyAtWork();
    const before = story.state.facts;
    story.command({ kind: 'put_kv', message_sequence: message, key: 'k', value: 1 });
    const afterPrivate = story.state.facts;
    story.command({ kind: 'cancel', by: 'caller' });

    expect(afterPrivate.updated_at).toBe(before.updated_at);
    expect(afterPrivate.recorded_at).toBeGreaterThan(before.recorded_at);
    expect(story.state.facts.updated_at).toBe(story.records.at(-1)?.recorded_at);
  });
});
