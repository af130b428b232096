import { describe, expect, it } from 'vitest';
import {
  lifecycleEventsAfter,
  lifecycleEventsOf,
  type LifecycleEvent,
} from '../../../../machines/projections/lifecycle-events.ts';
import { LIFECYCLE_STATUS_OF_STATE } from '../../../../machines/projections/status.ts';
import { NO_SESSION, type SessionContext } from '../../../../machines/session-context.ts';
import { RECORD_VISIBILITY, type RecordData, type RecordType, type SessionRecord } from '../../../../machines/records.ts';
import { CREATED, messageOf, startTurn, Story, storyAtWork } from '../../../support/session-story.ts';
import { VARIANTS } from '../../../table/record-variants.ts';

function recordOf<T extends RecordType>(type: T, data: RecordData[T], state = 'running.working'): SessionRecord {
  return { sequence: 9, recorded_at: 5_000, type, state, data } as unknown as SessionRecord;
}

/** In short: the type, what it says, and the message that it belongs to. */
function brief(events: readonly LifecycleEvent[]): readonly unknown[] {
  return events.map(({ type, data, input_sequence }) => [type, data, input_sequence ?? null]);
}

function told(story: Story): readonly unknown[] {
  return brief(story.records.flatMap(lifecycleEventsOf));
}

const status = (said: string, input: number | null): readonly unknown[] => ['session.status', { status: said }, input];
const error = (code: string, input: number): readonly unknown[] => [
  'session.error',
  { code, message: expect.any(String) as unknown },
  input,
];

function queue(story: Story, text: string, key?: string): number {
  story.command({ kind: 'send', input: text, mode: 'queue', ...(key === undefined ? {} : { key }) });
  return story.records.findLast(({ type }) => type === 'message_queued')?.sequence ?? 0;
}

function endTurn(story: Story): void {
  story.command({ kind: 'close_turn', message_sequence: messageOf(story), ending: { kind: 'returned' }, open: 'cancelled' });
}

describe('the lifecycle events of a turn', () => {
  it('L-037, L-070, L-071: are the message, running, and idle where nothing waits, each with the message that it belongs to', () => {
    const { story, message } = storyAtWork();
    endTurn(story);

    expect(told(story)).toEqual([['user.message', { text: 'hello' }, message], status('running', message), status('idle', message)]);
  });

  it('L-072, L-073: go from running to running where another message waits', () => {
    const { story, message } = storyAtWork();
    const next = queue(story, 'next', 'k');
    endTurn(story);
    story.command({ kind: 'start_activation', message_sequence: next, agentloop: 'chat' });
    endTurn(story);

    expect(told(story)).toEqual([
      ['user.message', { text: 'hello' }, message],
      status('running', message),
      ['user.message', { text: 'next', key: 'k' }, next],
      status('running', next),
      status('idle', next),
    ]);
  });

  it('L-074, L-075, L-089, L-090, L-091: that is interrupted on hold are a conflict of each message, and then one interrupted', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    const next = queue(story, 'next');
    story.command({ kind: 'cancel', by: 'caller' });
    endTurn(story);

    expect(told(story).slice(3)).toEqual([error('conflict', next), error('conflict', message), status('interrupted', message)]);
  });

  it.each([
    ['hold', 'deadline', 'turn_timeout', ['failed']],
    ['hold', 'shutdown', 'shutdown', ['failed']],
    ['hold', 'caller', 'conflict', ['interrupted']],
    ['idle', 'deadline', 'turn_timeout', ['failed', 'idle']],
    ['idle', 'caller', 'conflict', ['interrupted', 'idle']],
  ] as const)('on %s, stopped by %s, are an error %s and the statuses %j from its last record', (after_stop, by, code, statuses) => {
    const { story, message } = storyAtWork({ after_stop });
    story.command({ kind: 'cancel', by });
    endTurn(story);
    const last = story.records.at(-1);

    expect(last?.type).toBe('turn_failed');
    const events = lifecycleEventsOf(last as SessionRecord);
    expect(brief(events)).toEqual([
      error(code, message),
      // What the session is after it all belongs to no message.
      ...statuses.map((said) => status(said, said === 'idle' ? null : message)),
    ]);
    expect(events.map(({ sequence, index }) => [sequence, index])).toEqual(events.map((_event, index) => [last?.sequence, index]));
  });

  it('L-075, L-112: that is closed are an error and closed, with no status in between, on either rule', () => {
    for (const after_stop of ['hold', 'idle'] as const) {
      const { story, message } = storyAtWork({ after_stop });
      const next = queue(story, 'next');
      story.command({ kind: 'end', mode: 'interrupt' });
      endTurn(story);

      expect(told(story).slice(3)).toEqual([error('conflict', next), error('conflict', message), status('closed', message)]);
    }
  });

  it('that runs out while its session is to end show closed in place of idle', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'end', mode: 'wait' });
    endTurn(story);

    expect(told(story).slice(2)).toEqual([status('closed', message)]);
  });

  it('L-076: that a restart cut short are a failure, and a conflict of each message behind it', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    const next = queue(story, 'next');
    story.recover();

    expect(told(story).slice(3)).toEqual([error('conflict', next), error('interrupted_by_restart', message), status('failed', message)]);
  });
});

describe('the lifecycle events of a session at rest', () => {
  it('L-097, L-098: are idle without a message when it is resumed, and closed without one when it is closed', () => {
    const { story } = storyAtWork({ after_stop: 'hold' });
    story.recover();
    const before = told(story).length;
    story.command({ kind: 'resume' });
    story.command({ kind: 'end', mode: 'interrupt' });

    expect(told(story).slice(before)).toEqual([status('idle', null), status('closed', null)]);
  });

  it('are an error and closed where its creation failed', () => {
    expect(brief(lifecycleEventsOf(recordOf('session_failed', { code: 'environment_failed', message: 'no' }, 'unusable')))).toEqual([
      ['session.error', { code: 'environment_failed', message: 'no' }, null],
      status('closed', null),
    ]);
  });
});

describe('a creation', () => {
  it('L-011, L-094: is not there while it is under way, and reads closed once it failed, as its events tell', () => {
    const story = new Story();
    story.record('session_created', CREATED);
    expect([LIFECYCLE_STATUS_OF_STATE.creating, told(story)]).toEqual([null, []]);
    story.recover();

    expect(story.state.state).toBe('unusable');
    expect(told(story)).toEqual([['session.error', expect.objectContaining({ code: 'interrupted_by_restart' }), null], status('closed', null)]);
    expect(LIFECYCLE_STATUS_OF_STATE.unusable).toBe('closed');
  });
});

describe('the lifecycle event of a withdrawn message', () => {
  it('is an error of its own, and its turn never shows', () => {
    const { story } = storyAtWork();
    const next = queue(story, 'next');
    story.command({ kind: 'withdraw', waiting: next });
    endTurn(story);

    expect(told(story).slice(3)).toEqual([error('withdrawn', next), status('idle', 3)]);
  });
});

describe('the lifecycle events of what a turn does', () => {
  const usage = { input_tokens: 3 };
  const answer = (content: RecordData['model_call_ended']['message']['content']): SessionRecord =>
    recordOf('model_call_ended', { message_sequence: 3, started_sequence: 8, message: { role: 'assistant', content }, finish_reason: 'stop', usage });

  it('show a model call that said something, its text and its reasoning each as one', () => {
    const text = (said: string) => ({ type: 'text', text: said }) as const;
    const reasoning = (said: string) => ({ type: 'reasoning', text: said, provider: { signature: 's' } }) as const;
    const use = { type: 'tool_use', id: 'a', name: 'clock', input_text: '{}', input: {} } as const;

    expect(brief(lifecycleEventsOf(answer([reasoning('hm'), text('it '), use, text('is')])))).toEqual([
      ['assistant.message', { text: 'it is', reasoning: 'hm', usage }, 3],
    ]);
    expect(brief(lifecycleEventsOf(answer([reasoning('hm'), use])))).toEqual([['assistant.message', { text: '', reasoning: 'hm', usage }, 3]]);
    expect(lifecycleEventsOf(answer([use]))).toEqual([]);
    expect(lifecycleEventsOf(answer([reasoning('')]))).toEqual([]);
  });

  it('show a tool call by its own sequence, with the arguments that were sent', () => {
    const start = { message_sequence: 3, tool: 'clock', tool_use_id: 'same', deadline: null, effect: 'read' } as const;
    const call = (input: unknown): readonly unknown[] => [['tool.call', { started_sequence: 9, name: 'clock', input }, 3]];

    expect(brief(lifecycleEventsOf(recordOf('tool_call_started', { ...start, input_text: '{"a": 1}' })))).toEqual(call({ a: 1 }));
    expect(brief(lifecycleEventsOf(recordOf('tool_call_started', { ...start, input_text: '' })))).toEqual(call({}));
    expect(brief(lifecycleEventsOf(recordOf('tool_call_started', { ...start, input_text: '{}', input: null })))).toEqual(call(null));
    const ended = { message_sequence: 3, started_sequence: 7, outcome: 'unknown', output: 'x', is_error: true } as const;
    const { message_sequence, ...result } = ended;
    expect(brief(lifecycleEventsOf(recordOf('tool_call_ended', ended)))).toEqual([['tool.result', result, message_sequence]]);
  });

  it('show the text of a message that was sent as blocks on the other surface', () => {
    const input = [{ type: 'text', text: 'look: ' }, { type: 'image', url: 'https://a/b', media_type: 'image/png' }, { type: 'text', text: 'this' }] as const;

    expect(brief(lifecycleEventsOf(recordOf('message_queued', { input, mode: 'sync' })))).toEqual([['user.message', { text: 'look: this' }, 9]]);
  });

  it('have the time of their record', () => {
    expect(lifecycleEventsOf(recordOf('turn_started', { message_sequence: 3 }))).toEqual([
      { sequence: 9, index: 0, recorded_at: 5_000, type: 'session.status', input_sequence: 3, data: { status: 'running' } },
    ]);
  });
});

const CONTEXT: SessionContext = {
  ...NO_SESSION,
  last_sequence: 8,
  queue: [5],
  turn: { message_sequence: 3, started_sequence: 4, activation: 6, cancel: null },
};

describe('a record of any kind', () => {
  it.each(Object.keys(RECORD_VISIBILITY))('%s shows its events in order and by index, and only those after a cursor', (type) => {
    for (const data of VARIANTS[type as RecordType](CONTEXT)) {
      const record = recordOf(type as RecordType, data, 'suspended');
      const events = lifecycleEventsOf(record);
      expect(events.map(({ index }) => index)).toEqual(events.map((_event, index) => index));
      for (let index = -1; index <= events.length; index += 1) {
        expect(lifecycleEventsAfter(record, { sequence: 9, index })).toEqual(events.slice(index + 1));
      }
      expect(lifecycleEventsAfter(record, { sequence: 9, index: null })).toEqual([]);
      expect(lifecycleEventsAfter(record, { sequence: 8, index: 5 })).toEqual(events);
      expect(lifecycleEventsAfter(record, { sequence: 10, index: 0 })).toEqual([]);
    }
  });
});

describe('a message of the first turn', () => {
  it('is told before anything of its turn is', () => {
    const story = new Story();
    story.command({ kind: 'create', created: storyAtWork().story.state.facts.created, transcript: [] });
    expect(told(story)).toEqual([]);
    const { message } = startTurn(story, 'first');

    expect(told(story)).toEqual([['user.message', { text: 'first' }, message], status('running', message)]);
  });
});
