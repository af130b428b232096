import { describe, expect, it } from 'vitest';
import { ReplayError, SessionState } from '../../../machines/replay.ts';
import type { SessionRecord } from '../../../machines/records.ts';
import { CREATED, folded, snapshotOf, startTurn, Story, storyAtWork, throughJson } from '../../support/session-story.ts';

/** A record as damage or another program would have written it. */
function stray(record: { sequence: number; type: string; state: string; data: unknown }): SessionRecord {
  return { recorded_at: 1, ...record } as SessionRecord;
}

function refusalOf(state: SessionState, record: SessionRecord): ReplayError {
  try {
    state.apply(record);
  } catch (error) {
    if (error instanceof ReplayError) return error;
    throw new Error('what was thrown is no ReplayError', { cause: error });
  }
  throw new Error(`record ${record.sequence} was accepted`);
}

describe('SessionState.apply', () => {
  it('S-006: refuses a gap and a repeat in the sequences', () => {
    const { records } = storyAtWork().story;
    const third = records[2];
    if (third === undefined) throw new Error('the story is too short');

    for (const known of [1, 3]) {
      const error = refusalOf(folded(records.slice(0, known)), third);

      expect(error).toMatchObject({ sequence: 3, type: third.type });
      expect(error.message).toContain(`after ${known} is ${known + 1}`);
    }
  });

  it('names sequence, type and state of a record that the chart does not accept', () => {
    const { story } = storyAtWork();
    const error = refusalOf(story.state, stray({ sequence: 6, type: 'session_ready', state: 'suspended', data: {} }));

    expect(error).toMatchObject({ sequence: 6, type: 'session_ready', state: 'running.working' });
    expect(error.message).toBe('record 6 (session_ready) in state running.working: the session chart does not accept it');
  });

  it.each(['xstate.stop', 'xstate.init', 'xstate.error.actor.x', '*', '', '__proto__', 'constructor'])(
    'refuses the record type %j as damage and does not hand it to the chart',
    (type) => {
      const { story } = storyAtWork();
      const error = refusalOf(story.state, stray({ sequence: 6, type, state: 'running.working', data: {} }));

      expect(error).toMatchObject({ sequence: 6, type, state: 'running.working' });
      expect(error.message).toContain('the record type is unknown');
      expect(story.state.snapshot.status).toBe('active');
    },
  );

  it.each(['xstate.stop', 'xstate.init', 'session_ended', '*'])(
    'takes an extension event named %j as any other: nothing stops and nothing moves',
    (name) => {
      const { story, message, activation } = storyAtWork();
      const before = story.state.context;
      story.command({
        kind: 'emit',
        message_sequence: message,
        origin: { kind: 'agentloop', sequence: activation },
        name,
        data: null,
      });

      expect(story.state.context).toEqual({ ...before, last_sequence: before.last_sequence + 1 });
      expect(story.state.snapshot.status).toBe('active');
      expect(story.command({ kind: 'cancel', by: 'caller' }).kind).toBe('records');
    },
  );

  it('refuses a record that says it led to another state than the chart does', () => {
    const story = new Story();
    story.record('session_created', CREATED);
    const error = refusalOf(story.state, stray({ sequence: 2, type: 'session_ready', state: 'idle', data: {} }));

    expect(error.message).toContain('it says that it led to idle, and the session chart says suspended');
  });

  it.each([null, 7, 'text', undefined])('refuses a record whose data is %j as damage, by name', (data) => {
    const { story } = storyAtWork();
    const error = refusalOf(story.state, stray({ sequence: 6, type: 'kv_put', state: 'running.working', data }));

    expect(error).toMatchObject({ sequence: 6, type: 'kv_put', state: 'running.working' });
  });

  it('refuses a record that the chart throws on, and another session goes on', () => {
    const [damaged, sound] = [storyAtWork().story, storyAtWork().story];
    // The guard looks at `data`; the change of the facts looks at `data.messages`, which is missing.
    const delta = { message_sequence: 3, from: 0 };
    const error = refusalOf(
      damaged.state,
      stray({ sequence: 6, type: 'transcript_delta', state: 'running.working', data: delta }),
    );

    expect(error).toMatchObject({ sequence: 6, type: 'transcript_delta', state: 'running.working' });
    expect(error.message).toContain('the session chart threw');
    expect(error.cause).toBeInstanceOf(TypeError);
    expect(sound.command({ kind: 'cancel', by: 'caller' }).kind).toBe('records');
  });

  it('refuses a reference to a record that holds no message', () => {
    const { story } = storyAtWork();
    const delta = { message_sequence: 3, from: 0, messages: [{ sequences: [1] }] };
    const error = refusalOf(
      story.state,
      stray({ sequence: 6, type: 'transcript_delta', state: 'running.working', data: delta }),
    );

    expect(error.message).toContain('the session cannot take it');
    expect(String(error.cause)).toContain('record 1 holds no message');
  });

  it('takes no record after a refusal, not even the right one', () => {
    const { records } = storyAtWork().story;
    const state = folded(records.slice(0, 2));
    refusalOf(state, stray({ sequence: 3, type: 'xstate.stop', state: 'suspended', data: {} }));
    const next = records[2];
    if (next === undefined) throw new Error('the story is too short');

    expect(refusalOf(state, next).message).toContain('an earlier record was refused');
  });

  it('changes nothing of a session by a record that its chart refuses', () => {
    const { story } = storyAtWork();
    const before = snapshotOf(story.state);
    refusalOf(story.state, stray({ sequence: 6, type: 'session_ended', state: 'ended', data: {} }));

    expect(snapshotOf(story.state)).toEqual(before);
  });
});

describe('SessionState.toSnapshot', () => {
  it('is not moved by what the session does later', () => {
    const { story, message } = storyAtWork();
    const say = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [say('a')] });
    const taken = story.state.toSnapshot();
    const then = throughJson(taken);
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [say('b'), say('c')] });
    story.command({ kind: 'put_kv', message_sequence: message, key: 'k', value: 1 });
    story.recover();
    startTurn(story, 'again');

    expect(throughJson(taken)).toEqual(then);
  });

  it('says of each open call what a repeat of it would do', () => {
    const { story, message } = storyAtWork();
    const call = { tool: 'mail', tool_use_id: 'a', input_text: '{}', deadline: null } as const;
    const calls = (['read', 'once', 'idempotent'] as const).map((effect) => ({ ...call, effect }));
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls });
    const [, ...open] = story.state.context.open;

    expect(open.map(({ effect }) => effect)).toEqual(['read', 'once', 'idempotent']);
    expect(SessionState.from(snapshotOf(story.state)).context).toEqual(story.state.context);
  });

  it('cannot be made into a session in a state that the chart does not have', () => {
    const saved = snapshotOf(storyAtWork().story.state);

    for (const state of ['running.sleeping', 'gone', '']) {
      const chart = { ...saved.chart, state: state as typeof saved.chart.state };
      expect(() => SessionState.from({ ...saved, chart }).state).toThrow();
    }
  });

  it('has nothing to give before the first record', () => {
    expect(() => SessionState.empty().toSnapshot()).toThrow('before its first record');
  });
});
