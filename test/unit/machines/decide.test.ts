import { describe, expect, it } from 'vitest';
import type { Command, SessionCommand, TurnCommand } from '../../../machines/commands.ts';
import { closeTurn } from '../../../machines/close-turn.ts';
import { Draft } from '../../../machines/dry-run.ts';
import type { Message } from '../../../machines/messages.ts';
import type { CancelBy, TurnFailureCode } from '../../../machines/records.ts';
import { CREATED, startTurn, Story, storyAtWork } from '../../support/session-story.ts';

const HELLO: Message = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
const FAILED = { kind: 'failed', code: 'loop_error', message: 'it threw' } as const;

/** The types of the records that a command becomes, or what else it becomes. */
function outcomeOf(story: Story, command: Command, options: Parameters<Story['command']>[1] = {}): string {
  const decision = story.command(command, options);
  switch (decision.kind) {
    case 'records':
      return decision.records.map(({ type }) => type).join(' ');
    case 'nothing':
      return 'nothing';
    case 'refused':
      return decision.code;
  }
}

function typesOf(story: Story): readonly string[] {
  return story.records.map(({ type }) => type);
}

function codeOfLastFailure(story: Story): TurnFailureCode | null {
  const failure = story.records.findLast((record) => record.type === 'turn_failed');
  return failure?.data.code ?? null;
}

describe('decide, for a turn', () => {
  const everyCommandOf = (message_sequence: number): readonly TurnCommand[] => [
    { kind: 'start_activation', message_sequence, agentloop: 'chat' },
    { kind: 'start_model_call', message_sequence, provider: 'demo', model: 'echo', messages: [HELLO], difference: {} },
    { kind: 'end_model_call', message_sequence, started_sequence: 6, message: HELLO, finish_reason: 'stop' },
    { kind: 'fail_model_call', message_sequence, started_sequence: 6, outcome: 'unknown', code: 'x', message: 'x' },
    { kind: 'start_tool_calls', message_sequence, calls: [] },
    {
      kind: 'start_tool_calls',
      message_sequence,
      calls: [{ tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' }],
    },
    { kind: 'end_tool_call', message_sequence, started_sequence: 6, outcome: 'ok', output: null },
    { kind: 'emit', message_sequence, origin: { kind: 'agentloop', sequence: 5 }, name: 'a.b', data: null },
    { kind: 'set_transcript', message_sequence, messages: [] },
    { kind: 'set_transcript', message_sequence, messages: [HELLO] },
    { kind: 'put_kv', message_sequence, key: 'k', value: null },
    { kind: 'delete_kv', message_sequence, key: 'missing' },
    { kind: 'close_turn', message_sequence, ending: { kind: 'returned' }, open: 'cancelled' },
  ];

  it('refuses every late command of a closed turn, those that would change nothing too', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'close_turn', message_sequence: message, ending: FAILED, open: 'unknown' });

    expect(everyCommandOf(message).map((command) => outcomeOf(story, command))).toEqual(
      everyCommandOf(message).map(() => 'turn_over'),
    );
  });

  it('refuses every late command of a closed turn as such while a later turn is being cancelled', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'close_turn', message_sequence: message, ending: FAILED, open: 'unknown' });
    startTurn(story, 'the next');
    story.command({ kind: 'cancel', by: 'caller' });

    expect(everyCommandOf(message).map((command) => outcomeOf(story, command))).toEqual(
      everyCommandOf(message).map(() => 'turn_over'),
    );
  });

  it('starts nothing new once the turn is cancelled, and says so', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'cancel', by: 'caller' });
    const commands = everyCommandOf(message).filter(({ kind }) => kind.startsWith('start_'));
    const outcomes = commands.map((command) => outcomeOf(story, command));

    expect(outcomes).toEqual(['turn_cancelled', 'turn_cancelled', 'nothing', 'turn_cancelled']);
  });

  it('S-073: takes transcript, key values and events of a cancelled turn until it closes, and keeps them', () => {
    const { story, message, activation } = storyAtWork();
    story.command({ kind: 'cancel', by: 'caller' });
    const origin = { kind: 'agentloop', sequence: activation } as const;
    const outcomes = [
      outcomeOf(story, { kind: 'set_transcript', message_sequence: message, messages: [HELLO] }),
      outcomeOf(story, { kind: 'put_kv', message_sequence: message, key: 'k', value: 1 }),
      outcomeOf(story, { kind: 'emit', message_sequence: message, origin, name: 'a.b', data: null }),
    ];
    story.command({ kind: 'close_turn', message_sequence: message, ending: FAILED, open: 'cancelled' });

    expect(outcomes).toEqual(['transcript_delta', 'kv_put', 'extension_emitted']);
    expect(story.state.transcript.messages()).toEqual([HELLO]);
    expect(story.state.keyValues.read('k')).toEqual({ found: true, value: 1 });
  });

  it('S-036: ends each call by a record that names its start, and refuses a second end', () => {
    const { story, message } = storyAtWork();
    const call = { tool: 'clock', tool_use_id: 'same', input_text: '{}', deadline: 7, effect: 'read' } as const;
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [call, call] });
    const [first, second] = story.state.context.open.map(({ sequence }) => sequence).slice(1);
    const end = (started_sequence: number): Command => ({
      kind: 'end_tool_call',
      message_sequence: message,
      started_sequence,
      outcome: 'ok',
      output: 1,
    });

    expect([second, second, first, 0].map((sequence) => outcomeOf(story, end(sequence ?? 0)))).toEqual([
      'tool_call_ended',
      'turn_over',
      'tool_call_ended',
      'turn_over',
    ]);
  });

  it.each(['error', 'timeout', 'cancelled', 'unknown'] as const)('S-125: marks a result %s as an error', (outcome) => {
    const { story, message } = storyAtWork();
    const call = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [call] });
    const started_sequence = story.state.lastSequence;
    story.command({ kind: 'end_tool_call', message_sequence: message, started_sequence, outcome, output: null });

    expect(story.records.at(-1)?.data).toMatchObject({ outcome, is_error: true });
  });

  it('S-048: takes an event only from an execution that is under way, named by its own start', () => {
    const { story, message, activation } = storyAtWork();
    const call = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [call] });
    const callSequence = story.state.lastSequence;
    const emit = (kind: 'agentloop' | 'tool', sequence: number): string =>
      outcomeOf(story, { kind: 'emit', message_sequence: message, origin: { kind, sequence }, name: 'a.b', data: null });
    const whileOpen = [
      emit('agentloop', activation),
      emit('tool', callSequence),
      emit('tool', activation),
      emit('agentloop', callSequence),
      emit('tool', 1),
    ];
    story.command({
      kind: 'end_tool_call',
      message_sequence: message,
      started_sequence: callSequence,
      outcome: 'ok',
      output: null,
    });

    expect(whileOpen).toEqual(['extension_emitted', 'extension_emitted', 'turn_over', 'turn_over', 'turn_over']);
    expect(emit('tool', callSequence)).toBe('turn_over');
  });

  it('writes no transcript record where nothing differs, and none for a key that is not there', () => {
    const { story, message } = storyAtWork();
    const set: Command = { kind: 'set_transcript', message_sequence: message, messages: [HELLO] };

    expect([outcomeOf(story, set), outcomeOf(story, set)]).toEqual(['transcript_delta', 'nothing']);
    expect(outcomeOf(story, { kind: 'delete_kv', message_sequence: message, key: 'k' })).toBe('nothing');
  });
});

describe('decide, closing a turn', () => {
  it('S-114: closes in one commit and one order: open effects, activation, waiting messages, turn, end', () => {
    const { story, message } = storyAtWork();
    const call = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [call] });
    story.command({
      kind: 'start_model_call',
      message_sequence: message,
      provider: 'demo',
      model: 'echo',
      messages: [],
      difference: {},
    });
    story.command({ kind: 'send', input: 'waits', mode: 'queue' });
    story.command({ kind: 'end', mode: 'interrupt' });

    expect(
      outcomeOf(story, { kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'cancelled' }),
    ).toBe(
      'tool_call_ended model_call_failed activation_failed message_failed turn_failed session_ending session_ended',
    );
    expect(codeOfLastFailure(story)).toBe('closed');
  });

  it.each([
    ['caller', 'cancelled'],
    ['deadline', 'turn_timeout'],
    ['close', 'closed'],
    ['shutdown', 'shutdown'],
  ] as const)('L-091: fails a turn that was cancelled by %s with %s even if its loop returns', (by: CancelBy, code) => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'cancel', by });
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'cancelled' });

    expect(codeOfLastFailure(story)).toBe(code);
  });

  it.each([
    [['deadline', 'caller'], 'cancelled'],
    [['shutdown', 'caller'], 'cancelled'],
    [['caller', 'deadline'], 'cancelled'],
    [['deadline', 'shutdown'], 'turn_timeout'],
    [['close', 'caller'], 'closed'],
    [['shutdown', 'deadline'], 'shutdown'],
  ] as const)('lets the first cancel decide, and the caller over deadline and shutdown: %j is %s', (cancels, code) => {
    const { story, message } = storyAtWork();
    for (const by of cancels) story.command({ kind: 'cancel', by });
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'cancelled' });

    expect(codeOfLastFailure(story)).toBe(code);
  });

  it('L-072: goes on with the next waiting message in the same commit, with no rest between', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'send', input: 'next', mode: 'queue' });
    const next = story.state.lastSequence;
    const commits = story.commits.length;
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'cancelled' });

    expect(story.commits.length).toBe(commits + 1);
    expect(typesOf(story).slice(-3)).toEqual(['activation_ended', 'turn_ended', 'turn_started']);
    expect(story.records.at(-2)?.data).toMatchObject({ next, end: false });
    expect(story.state.state).toBe('running.working');
  });

  it('S-216: lets the running turn run out after an end, and fails what waits behind it', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'send', input: 'waits', mode: 'queue' });
    story.command({ kind: 'end', mode: 'wait' });
    const whileItRuns = outcomeOf(story, { kind: 'put_kv', message_sequence: message, key: 'k', value: 1 });
    const closing = outcomeOf(story, {
      kind: 'close_turn',
      message_sequence: message,
      ending: { kind: 'returned' },
      open: 'cancelled',
    });

    expect(whileItRuns).toBe('kv_put');
    expect(closing).toBe('activation_ended message_failed turn_ended session_ending session_ended');
  });

  it('L-076: reports each waiting message of a turn that failed in conflict', () => {
    const { story, message } = storyAtWork();
    const waiting = ['a', 'b'].map((input) => {
      story.command({ kind: 'send', input, mode: 'queue' });
      return story.state.lastSequence;
    });
    story.command({ kind: 'close_turn', message_sequence: message, ending: FAILED, open: 'unknown' });

    expect(
      story.records.flatMap((record) => (record.type === 'message_failed' ? [record.data.message_sequence] : [])),
    ).toEqual(waiting);
  });

  it('S-076: lets a loop return whatever it likes, and changes nothing saved by it', () => {
    const { story, message } = storyAtWork();
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [HELLO] });
    story.command({ kind: 'put_kv', message_sequence: message, key: 'k', value: 1 });
    const result = { value: { messages: [], k: 2 } };
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'returned', result }, open: 'cancelled' });

    expect(story.records.find(({ type }) => type === 'activation_ended')?.data).toMatchObject({ result });
    expect(story.state.transcript.messages()).toEqual([HELLO]);
    expect(story.state.keyValues.read('k')).toEqual({ found: true, value: 1 });
  });

  it('does not close a turn that is not there', () => {
    expect(() => closeTurn(new Draft(new Story().state.snapshot), FAILED, 'unknown')).toThrow('no turn is running');
  });
});

describe('decide, for a session', () => {
  const create = (): Story => {
    const story = new Story();
    story.command({ kind: 'create', created: { ...CREATED, retain: 0 }, transcript: [] });
    return story;
  };

  it('S-160: records a seed between the creation and its end, as the first checkpoint', () => {
    const story = new Story();
    story.command({ kind: 'create', created: CREATED, transcript: [HELLO] });

    expect(typesOf(story)).toEqual(['session_created', 'transcript_delta', 'session_ready']);
    expect(story.state.context.checkpoint).toEqual({ sequence: 3, transcript_length: 1 });
  });

  it('L-044: lets as many messages wait as the rules say beside the one that runs, and refuses one more', () => {
    const { story } = storyAtWork();
    const send = (): string =>
      outcomeOf(story, { kind: 'send', input: 'x', mode: 'queue' }, { rules: { queueMessagesMax: 3 } });

    expect([send(), send(), send(), send()]).toEqual([
      'message_queued',
      'message_queued',
      'message_queued',
      'queue_full',
    ]);
  });

  it.each(['sync', 'async'] as const)('S-094: refuses a %s message while a turn runs', (mode) => {
    expect(outcomeOf(storyAtWork().story, { kind: 'send', input: 'x', mode })).toBe('session_busy');
  });

  it('writes that an idle session was suspended before a command that finds no actor, and not for one without effect', () => {
    const nothing: readonly SessionCommand[] = [
      { kind: 'resume' },
      { kind: 'cancel', by: 'caller' },
      { kind: 'delete' },
    ];
    for (const command of nothing) {
      const story = create();
      story.command(command, { wasResident: false });
      expect(story.state.state).toBe('idle');
    }
    expect(outcomeOf(create(), { kind: 'send', input: 'x', mode: 'sync' }, { wasResident: false })).toBe(
      'session_suspended message_queued turn_started',
    );
    expect(outcomeOf(create(), { kind: 'end', mode: 'wait' }, { wasResident: false })).toBe(
      'session_suspended session_ending session_ended',
    );
  });

  it('S-198: refuses messages from the acceptance of an end on, while the turn still runs', () => {
    const { story } = storyAtWork();
    story.command({ kind: 'end', mode: 'wait' });

    expect(outcomeOf(story, { kind: 'send', input: 'x', mode: 'queue' })).toBe('session_ending');
  });

  it('interrupts what an end only waited for, once', () => {
    const { story } = storyAtWork();
    const end = (mode: 'wait' | 'interrupt'): string => outcomeOf(story, { kind: 'end', mode });

    expect([end('wait'), end('wait'), end('interrupt'), end('interrupt'), end('wait')]).toEqual([
      'session_end_requested',
      'nothing',
      'session_end_requested turn_cancel_requested',
      'nothing',
      'nothing',
    ]);
  });

  it('L-095: resumes to the last completed turn, in transcript and key values', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    story.command({ kind: 'set_transcript', message_sequence: message, messages: [HELLO] });
    story.command({ kind: 'put_kv', message_sequence: message, key: 'k', value: null });
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'cancelled' });
    const second = startTurn(story, 'more').message;
    story.command({ kind: 'set_transcript', message_sequence: second, messages: [] });
    story.command({ kind: 'delete_kv', message_sequence: second, key: 'k' });
    story.command({ kind: 'cancel', by: 'caller' });
    story.command({ kind: 'close_turn', message_sequence: second, ending: FAILED, open: 'cancelled' });
    const stopped = story.state.state;
    story.command({ kind: 'resume' });

    expect([stopped, story.state.state]).toEqual(['interrupted', 'suspended']);
    expect(story.state.transcript.messages()).toEqual([HELLO]);
    expect(story.state.keyValues.read('k')).toEqual({ found: true, value: null });
  });

  it.each(['interrupted', 'failed'] as const)('L-093, L-094, L-099, L-100: resumes from %s by one record, which starts nothing', (from) => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    if (from === 'interrupted') story.command({ kind: 'cancel', by: 'caller' });
    story.command({ kind: 'close_turn', message_sequence: message, ending: FAILED, open: 'cancelled' });
    const stopped = story.state.state;

    expect([stopped, outcomeOf(story, { kind: 'resume' }), story.state.state]).toEqual([from, 'session_resumed', 'suspended']);
  });

  it('L-105: leaves a session that is free as it is when it is resumed', () => {
    expect(outcomeOf(create(), { kind: 'resume' })).toBe('nothing');
  });

  it('S-151: takes a further delete of an ended session as another request', () => {
    const story = create();
    story.command({ kind: 'end', mode: 'wait' });

    expect([outcomeOf(story, { kind: 'delete' }), outcomeOf(story, { kind: 'delete' })]).toEqual([
      'session_delete_requested',
      'session_delete_requested',
    ]);
  });
});
