/**
 * What each command becomes in each chart state, written out by hand and counted by the compiler: the records' types,
 * `nothing` (it is so already), or the code of a refusal. `fault` is a command that nobody may give there.
 */
import { describe, expect, it } from 'vitest';
import type { Command, EnvironmentResult, SessionCommand, TurnCommand } from '../../machines/commands.ts';
import { RefusedByChart } from '../../machines/dry-run.ts';
import { CHART_STATES, type ChartState } from '../../machines/projections/status.ts';
import type { SessionCreated } from '../../machines/records.ts';
import { CREATED, environmentOf, startTurn, Story } from '../support/session-story.ts';

type Row = readonly [
  none: string,
  creating: string,
  idle: string,
  suspended: string,
  working: string,
  cancelling: string,
  interrupted: string,
  failed: string,
  unusable: string,
  ending: string,
  ended: string,
];

/** A command that has two sides at a session is two rows. */
type SessionRows = Exclude<SessionCommand['kind'], 'send' | 'end'> | 'send sync' | 'send async' | 'send queue' | 'end wait' | 'end interrupt';
type TurnRows = TurnCommand['kind'];

const METADATA = 'session_metadata_changed';
const GONE = 'session_ending session_ended';
const STARTED = 'message_queued turn_started';

const SESSION_ROWS: Readonly<Record<SessionRows, Row>> = {
  create: ['session_created session_ready', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault'],
  'send sync': ['session_busy', 'session_busy', STARTED, STARTED, 'session_busy', 'session_busy', 'must_resume', 'must_resume', 'session_ended', 'session_ending', 'session_ended'],
  'send async': ['session_busy', 'session_busy', STARTED, STARTED, 'session_busy', 'session_busy', 'must_resume', 'must_resume', 'session_ended', 'session_ending', 'session_ended'],
  'send queue': ['session_busy', 'session_busy', STARTED, STARTED, 'message_queued', 'session_busy', 'must_resume', 'must_resume', 'session_ended', 'session_ending', 'session_ended'],
  withdraw: ['not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting', 'not_waiting'],
  cancel: ['nothing', 'nothing', 'nothing', 'nothing', 'turn_cancel_requested', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing'],
  'end wait': ['nothing', 'session_end_requested', GONE, GONE, 'session_end_requested', 'session_end_requested', GONE, GONE, GONE, 'nothing', 'nothing'],
  'end interrupt': ['nothing', 'session_end_requested', GONE, GONE, 'session_end_requested turn_cancel_requested', 'session_end_requested', GONE, GONE, GONE, 'nothing', 'nothing'],
  resume: ['not_resumable', 'not_resumable', 'nothing', 'nothing', 'not_resumable', 'not_resumable', 'session_resumed', 'session_resumed', 'not_resumable', 'not_resumable', 'not_resumable'],
  delete: ['must_end', 'must_end', 'must_end', 'must_end', 'must_end', 'must_end', 'must_end', 'session_delete_requested', 'session_delete_requested', 'must_end', 'session_delete_requested'],
  change_metadata: ['session_ended', METADATA, METADATA, METADATA, METADATA, METADATA, METADATA, METADATA, METADATA, METADATA, 'session_ended'],
  end_environment_operation: ['operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over', 'operation_over'],
  suspend: ['nothing', 'nothing', 'session_suspended', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'nothing'],
};

/** While one operation of an environment is under way, in the states in which one can be. */
type OpenRow = readonly [creating: string, unusable: string, ending: string, ended: string];

const OPEN_ROWS: Readonly<Record<Exclude<SessionRows, 'end_environment_operation'> | 'operation done' | 'operation failed', OpenRow>> = {
  create: ['fault', 'fault', 'fault', 'fault'],
  'send sync': ['session_busy', 'session_ended', 'session_ending', 'session_ended'],
  'send async': ['session_busy', 'session_ended', 'session_ending', 'session_ended'],
  'send queue': ['session_busy', 'session_ended', 'session_ending', 'session_ended'],
  withdraw: ['not_waiting', 'not_waiting', 'not_waiting', 'not_waiting'],
  cancel: ['nothing', 'nothing', 'nothing', 'nothing'],
  'end wait': ['session_end_requested', 'session_ending', 'nothing', 'nothing'],
  'end interrupt': ['session_end_requested', 'session_ending', 'nothing', 'nothing'],
  resume: ['not_resumable', 'not_resumable', 'not_resumable', 'not_resumable'],
  delete: ['must_end', 'session_busy', 'must_end', 'session_busy'],
  change_metadata: [METADATA, METADATA, METADATA, 'session_ended'],
  suspend: ['nothing', 'nothing', 'nothing', 'nothing'],
  'operation done': ['environment_setup_ended session_ready', 'environment_teardown_ended', 'environment_detach_ended session_ended', 'environment_teardown_ended'],
  'operation failed': ['environment_setup_failed session_failed', 'environment_teardown_failed', 'environment_detach_failed session_ended', 'environment_teardown_failed'],
};

/** A turn's commands outside of a turn are late, and refused as that. */
function whileRunning(working: string, cancelling: string): Row {
  return ['turn_over', 'turn_over', 'turn_over', 'turn_over', working, cancelling, 'turn_over', 'turn_over', 'turn_over', 'turn_over', 'turn_over'];
}

const TURN_ROWS: Readonly<Record<TurnRows, Row>> = {
  start_activation: whileRunning('turn_over', 'turn_cancelled'),
  start_model_call: whileRunning('model_call_started', 'turn_cancelled'),
  end_model_call: whileRunning('model_call_ended', 'model_call_ended'),
  fail_model_call: whileRunning('model_call_failed', 'model_call_failed'),
  start_tool_calls: whileRunning('tool_call_started tool_call_started', 'turn_cancelled'),
  end_tool_call: whileRunning('tool_call_ended', 'tool_call_ended'),
  emit: whileRunning('extension_emitted', 'extension_emitted'),
  set_transcript: whileRunning('transcript_delta', 'transcript_delta'),
  put_kv: whileRunning('kv_put', 'kv_put'),
  delete_kv: whileRunning('kv_deleted', 'kv_deleted'),
  close_turn: whileRunning(
    'model_call_failed tool_call_ended activation_ended turn_ended',
    'model_call_failed tool_call_ended activation_failed turn_failed',
  ),
};

const CALL = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;

/** A session on a given state; one that runs has a loop at work, a model call, a tool call and a key. */
const STORIES: Readonly<Record<ChartState, () => Story>> = {
  none: () => new Story(),
  creating: () => {
    const story = new Story();
    story.record('session_created', CREATED);
    return story;
  },
  idle: () => created({ retain: 0 }),
  suspended: () => created(),
  'running.working': () => running(),
  'running.cancelling': () => stopped(),
  interrupted: () => {
    const story = stopped({ after_stop: 'hold' });
    story.recover();
    return story;
  },
  failed: () => {
    const story = running({ after_stop: 'hold' });
    story.recover();
    return story;
  },
  unusable: () => {
    const story = new Story();
    story.record('session_created', CREATED);
    story.recover();
    return story;
  },
  ending: () => {
    const story = created();
    story.record('session_ending', {});
    return story;
  },
  ended: () => {
    const story = created();
    story.command({ kind: 'end', mode: 'wait' });
    return story;
  },
};

const OPEN_STATES = ['creating', 'unusable', 'ending', 'ended'] as const satisfies readonly ChartState[];
type OpenState = (typeof OPEN_STATES)[number];

/** A session in whose environment something is under way. */
const OPEN_STORIES: Readonly<Record<OpenState, () => Story>> = {
  creating: () => created({ environments: [environmentOf('laptop')] }),
  unusable: () => {
    const story = created({ environments: [environmentOf('laptop')] });
    story.recover();
    story.command({ kind: 'delete' });
    return story;
  },
  ending: () => {
    const story = created({ environments: [environmentOf('laptop')] });
    story.command(endOfOperation(story, DONE));
    story.command({ kind: 'end', mode: 'wait' });
    return story;
  },
  ended: () => {
    const story = OPEN_STORIES.ending();
    story.command(endOfOperation(story, DONE));
    story.command({ kind: 'delete' });
    return story;
  },
};

const DONE: EnvironmentResult = { kind: 'done', receipt: { type: 'accepted' } };
const NOT_DONE: EnvironmentResult = { kind: 'failed', outcome: 'unknown', code: 'x', message: 'x' };

function endOfOperation(story: Story, result: EnvironmentResult): SessionCommand {
  const started_sequence = story.state.context.open[0]?.sequence ?? 0;
  return { kind: 'end_environment_operation', started_sequence, result };
}

function openCommand(story: Story, name: string): SessionCommand {
  if (name === 'operation done') return endOfOperation(story, DONE);
  return name === 'operation failed' ? endOfOperation(story, NOT_DONE) : SESSION_COMMANDS[name as SessionRows];
}

function created(how: Partial<SessionCreated> = {}): Story {
  const story = new Story();
  story.command({ kind: 'create', created: { ...CREATED, ...how }, transcript: [] });
  return story;
}

function running(how: Partial<SessionCreated> = {}): Story {
  const story = created(how);
  const { message } = startTurn(story, 'hello');
  story.command({ kind: 'put_kv', message_sequence: message, key: 'k', value: 1 });
  story.command({ kind: 'start_model_call', message_sequence: message, provider: 'demo', model: 'echo', messages: [], difference: {} });
  story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [CALL] });
  return story;
}

function stopped(how: Partial<SessionCreated> = {}): Story {
  const story = running(how);
  story.command({ kind: 'cancel', by: 'caller' });
  return story;
}

const SESSION_COMMANDS: Readonly<Record<SessionRows, SessionCommand>> = {
  create: { kind: 'create', created: CREATED, transcript: [] },
  'send sync': { kind: 'send', input: 'x', mode: 'sync' },
  'send async': { kind: 'send', input: 'x', mode: 'async' },
  'send queue': { kind: 'send', input: 'x', mode: 'queue' },
  withdraw: { kind: 'withdraw', waiting: 3 },
  cancel: { kind: 'cancel', by: 'caller' },
  'end wait': { kind: 'end', mode: 'wait' },
  'end interrupt': { kind: 'end', mode: 'interrupt' },
  resume: { kind: 'resume' },
  delete: { kind: 'delete' },
  change_metadata: { kind: 'change_metadata', changes: { team: 'blue' } },
  suspend: { kind: 'suspend' },
  end_environment_operation: { kind: 'end_environment_operation', started_sequence: 2, result: { kind: 'done', receipt: { type: 'accepted' } } },
};

function turnCommand(story: Story, kind: TurnRows): TurnCommand {
  const message_sequence = story.state.context.turn?.message_sequence ?? 3;
  const openOf = (wanted: string): number => story.state.context.open.find((one) => one.kind === wanted)?.sequence ?? 5;
  const message = { role: 'assistant', content: [] } as const;
  const commands: { readonly [K in TurnRows]: TurnCommand & { readonly kind: K } } = {
    start_activation: { kind: 'start_activation', message_sequence, agentloop: 'chat' },
    start_model_call: { kind: 'start_model_call', message_sequence, provider: 'demo', model: 'echo', messages: [], difference: {} },
    end_model_call: { kind: 'end_model_call', message_sequence, started_sequence: openOf('model_call'), message, finish_reason: 'stop' },
    fail_model_call: { kind: 'fail_model_call', message_sequence, started_sequence: openOf('model_call'), outcome: 'failed', code: 'x', message: 'x' },
    start_tool_calls: { kind: 'start_tool_calls', message_sequence, calls: [CALL, CALL] },
    end_tool_call: { kind: 'end_tool_call', message_sequence, started_sequence: openOf('tool_call'), outcome: 'ok', output: null },
    emit: { kind: 'emit', message_sequence, origin: { kind: 'agentloop', sequence: openOf('activation') }, name: 'a.b', data: null },
    set_transcript: { kind: 'set_transcript', message_sequence, messages: [message] },
    put_kv: { kind: 'put_kv', message_sequence, key: 'k', value: null },
    delete_kv: { kind: 'delete_kv', message_sequence, key: 'k' },
    close_turn: { kind: 'close_turn', message_sequence, ending: { kind: 'returned' }, open: 'cancelled' },
  };
  return commands[kind];
}

function outcomeOf(story: Story, command: Command): string {
  try {
    const decision = story.command(command);
    if (decision.kind === 'records') return decision.records.map(({ type }) => type).join(' ');
    return decision.kind === 'refused' ? decision.code : decision.kind;
  } catch (error) {
    if (error instanceof RefusedByChart) return 'fault';
    throw error;
  }
}

function cells(rows: Readonly<Record<string, Row>>): readonly (readonly [string, ChartState, string])[] {
  return Object.entries(rows).flatMap(([name, row]) => CHART_STATES.map((state, column) => [name, state, String(row[column])] as const));
}

function openCells(): readonly (readonly [string, OpenState, string])[] {
  return Object.entries(OPEN_ROWS).flatMap(([name, row]) => OPEN_STATES.map((state, column) => [name, state, String(row[column])] as const));
}

describe('a command', () => {
  it.each(CHART_STATES)('is given where a session is really in %s', (state) => {
    expect(STORIES[state]().state.state).toBe(state);
  });

  it.each(cells(SESSION_ROWS))('%s in %s is %s', (name, state, expected) => {
    expect(outcomeOf(STORIES[state](), SESSION_COMMANDS[name as SessionRows])).toBe(expected);
  });

  it.each(OPEN_STATES)('is given where a session is really in %s, with an operation of its environment open', (state) => {
    const { state: told } = OPEN_STORIES[state]();

    expect(told.state).toBe(state);
    expect(told.context.open).toHaveLength(1);
  });

  it.each(openCells())('%s in %s, with an operation of its environment open, is %s', (name, state, expected) => {
    const story = OPEN_STORIES[state]();

    expect(outcomeOf(story, openCommand(story, name))).toBe(expected);
  });

  it.each(cells(TURN_ROWS))('%s in %s is %s', (name, state, expected) => {
    const story = STORIES[state]();

    expect(outcomeOf(story, turnCommand(story, name as TurnRows))).toBe(expected);
  });

  it('L-106: is refused as not resumable where a session runs or is over, whatever else it is', () => {
    const refused = CHART_STATES.filter((state) => outcomeOf(STORIES[state](), { kind: 'resume' }) === 'not_resumable');

    expect(refused).toEqual(['none', 'creating', 'running.working', 'running.cancelling', 'unusable', 'ending', 'ended']);
  });

  it('S-204: deletes nothing but what has ended or failed', () => {
    const deleted = CHART_STATES.filter((state) => outcomeOf(STORIES[state](), { kind: 'delete' }) !== 'must_end');

    expect(deleted).toEqual(['failed', 'unusable', 'ended']);
  });

  it('L-085: interrupts nothing where no turn runs, and leaves no record of having tried', () => {
    const changed = CHART_STATES.filter((state) => outcomeOf(STORIES[state](), { kind: 'cancel', by: 'caller' }) !== 'nothing');

    expect(changed).toEqual(['running.working']);
  });

  it.each(['running.working', 'running.cancelling'] as const)('takes a message that waits off the queue in %s, and once', (state) => {
    const story = running();
    story.command({ kind: 'send', input: 'next', mode: 'queue' });
    const waiting = story.state.lastSequence;
    if (state === 'running.cancelling') story.command({ kind: 'cancel', by: 'caller' });

    expect(story.state.state).toBe(state);
    expect(outcomeOf(story, { kind: 'withdraw', waiting })).toBe('message_withdrawn');
    expect(outcomeOf(story, { kind: 'withdraw', waiting })).toBe('not_waiting');
    expect(story.state.context.queue).toEqual([]);
  });

  it('starts the loop of a turn that has none yet', () => {
    const story = created();
    story.command({ kind: 'send', input: 'x', mode: 'sync' });

    expect(outcomeOf(story, turnCommand(story, 'start_activation'))).toBe('activation_started');
  });
});
