import { describe, expect, it } from 'vitest';
import { SessionState } from '../../../../machines/replay.ts';
import { snapshotOf, startTurn, storyAtWork, type Story } from '../../../support/session-story.ts';

function put(story: Story, key: string, value: null | number | string): void {
  story.command({ kind: 'put_kv', message_sequence: story.state.context.turn?.message_sequence ?? 0, key, value });
}

function remove(story: Story, key: string): void {
  story.command({ kind: 'delete_kv', message_sequence: story.state.context.turn?.message_sequence ?? 0, key });
}

function endTurn(story: Story): void {
  const message_sequence = story.state.context.turn?.message_sequence ?? 0;
  story.command({ kind: 'close_turn', message_sequence, ending: { kind: 'returned' }, open: 'cancelled' });
}

describe('KeyValues', () => {
  it('S-071: tells a stored null from a missing key, also after a snapshot', () => {
    const { story } = storyAtWork();
    put(story, 'null', null);

    for (const state of [story.state, SessionState.from(snapshotOf(story.state))]) {
      expect(state.keyValues.read('null')).toEqual({ found: true, value: null });
      expect(state.keyValues.read('missing')).toEqual({ found: false });
    }
  });

  it('S-069, S-070: removes a key from the current state and keeps its history', () => {
    const { story } = storyAtWork();
    put(story, 'k', 1);
    remove(story, 'k');

    expect(story.state.keyValues.read('k')).toEqual({ found: false });
    expect(story.records.slice(-2).map(({ type, data }) => ({ type, data }))).toMatchObject([
      { type: 'kv_put', data: { key: 'k', value: 1 } },
      { type: 'kv_deleted', data: { key: 'k' } },
    ]);
  });

  it('L-095: goes back on resume to what the last completed turn left: put, changed, removed and null alike', () => {
    const { story } = storyAtWork({ after_stop: 'hold' });
    put(story, 'changed', 1);
    put(story, 'removed', null);
    put(story, 'removed twice', 2);
    endTurn(story);
    startTurn(story, 'more');
    put(story, 'changed', 2);
    put(story, 'changed', 3);
    put(story, 'new', null);
    remove(story, 'removed');
    remove(story, 'removed twice');
    put(story, 'removed twice', 9);
    remove(story, 'removed twice');
    story.recover();
    const held = SessionState.from(snapshotOf(story.state));
    const kept = story.records.length;
    story.command({ kind: 'resume' });
    for (const record of story.records.slice(kept)) held.apply(record);

    for (const { keyValues } of [story.state, held]) {
      expect(keyValues.read('changed')).toEqual({ found: true, value: 1 });
      expect(keyValues.read('removed')).toEqual({ found: true, value: null });
      expect(keyValues.read('removed twice')).toEqual({ found: true, value: 2 });
      expect(keyValues.read('new')).toEqual({ found: false });
    }
  });

  it.each(['__proto__', 'constructor', '', 'é\u2028'])('takes the key %j as any other', (key) => {
    const { story } = storyAtWork();
    const before = story.state.keyValues.read(key);
    put(story, key, 'v');

    expect(before).toEqual({ found: false });
    expect(SessionState.from(snapshotOf(story.state)).keyValues.read(key)).toEqual({ found: true, value: 'v' });
  });
});
