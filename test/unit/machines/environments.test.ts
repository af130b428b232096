/** What a session's life asks of its environments, and what their answers make of it. */
import { describe, expect, it } from 'vitest';
import type { Command, EnvironmentResult } from '../../../machines/commands.ts';
import { isRemovalDue } from '../../../machines/recover.ts';
import type { EffectOutcome, EndMode, ResolvedEnvironment, Sequence, SessionCreated } from '../../../machines/records.ts';
import type { EffectKind } from '../../../machines/session-context.ts';
import { CREATED, environmentOf, startTurn, Story } from '../../support/session-story.ts';

const ENVIRONMENTS: readonly ResolvedEnvironment[] = [
  { name: 'laptop', driver: 'host', host: 'laptop-1', configuration: { folder: '/src' } },
  { name: 'sandbox', driver: 'http', url: 'http://sandbox.test', credential: 'sandbox-key', configuration: {} },
];
const DONE: EnvironmentResult = { kind: 'done', receipt: { type: 'accepted' } };
const failed = (outcome: EffectOutcome): EnvironmentResult => ({ kind: 'failed', outcome, code: 'x', message: 'x' });

function creating(how: Partial<SessionCreated> = {}): Story {
  const story = new Story();
  story.command({ kind: 'create', created: { ...CREATED, environments: ENVIRONMENTS, ...how }, transcript: [] });
  return story;
}

function created(how: Partial<SessionCreated> = {}): Story {
  const story = creating(how);
  endAll(story, DONE);
  return story;
}

function ended(): Story {
  const story = created();
  story.command({ kind: 'end', mode: 'wait' });
  endAll(story, DONE);
  return story;
}

function outcomeOf(story: Story, command: Command): string {
  const decision = story.command(command);
  if (decision.kind === 'records') return decision.records.map(({ type }) => type).join(' ');
  return decision.kind === 'refused' ? decision.code : 'nothing';
}

/** The environment whose operation of this kind is open; the operation ends. */
function endOf(story: Story, environment: string, result: EnvironmentResult): string {
  return outcomeOf(story, { kind: 'end_environment_operation', started_sequence: openOn(story, environment), result });
}

function openOn(story: Story, environment: string): Sequence {
  const found = story.state.context.open.find(({ sequence }) => nameAt(story, sequence) === environment)?.sequence;
  if (found === undefined) throw new Error(`nothing is asked of ${environment}`);
  return found;
}

function nameAt(story: Story, sequence: Sequence): string | null {
  const record = story.records[sequence - 1];
  return record !== undefined && 'environment' in record.data ? record.data.environment : null;
}

function endAll(story: Story, result: EnvironmentResult): void {
  for (const { sequence: started_sequence } of story.state.context.open) {
    story.command({ kind: 'end_environment_operation', started_sequence, result });
  }
}

/** What is under way: of which kind, and on which environment. */
function asked(story: Story): readonly (readonly [EffectKind, string | null])[] {
  return story.state.context.open.map(({ sequence, kind }) => [kind, nameAt(story, sequence)] as const);
}

describe('a creation with environments', () => {
  it('S-032, S-060, S-061: records in its first commit what it asks of each, by name and whole, and no more of where it is', () => {
    const story = creating();

    expect(story.commits).toHaveLength(1);
    expect(story.records.slice(1).map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'environment_setup_started', data: { environment: 'laptop', request: { type: 'setup', configuration: { folder: '/src' } } } },
      { type: 'environment_setup_started', data: { environment: 'sandbox', request: { type: 'setup', configuration: {} } } },
    ]);
    expect(story.state.state).toBe('creating');
  });

  it.each([['laptop', 'sandbox'], ['sandbox', 'laptop']])('is ready in the commit of the last setup that is done: %s, then %s', (first, last) => {
    const story = creating();

    expect(endOf(story, first, DONE)).toBe('environment_setup_ended');
    expect(story.state.state).toBe('creating');
    expect(endOf(story, last, { kind: 'done', receipt: { type: 'result', output: { port: 1 } } })).toBe('environment_setup_ended session_ready');
    expect(story.records.at(-2)?.data).toMatchObject({ receipt: { type: 'result', output: { port: 1 } } });
    expect(story.state.state).toBe('suspended');
  });

  it.each(['failed', 'unknown', 'cancelled'] as const)('fails when all setups are over where one of them is %s, and names it', (outcome) => {
    const story = creating();

    expect(endOf(story, 'laptop', failed(outcome))).toBe('environment_setup_failed');
    expect(endOf(story, 'sandbox', DONE)).toBe('environment_setup_ended session_failed');
    expect(story.records.at(-1)?.data).toEqual({ code: 'environment_failed', message: 'not set up: laptop' });
    expect(story.state.state).toBe('unusable');
  });

  it.each(['wait', 'interrupt'] satisfies EndMode[])('S-199: is carried out and then ended where an end was asked for meanwhile, to %s', (mode) => {
    const story = creating();

    expect(outcomeOf(story, { kind: 'end', mode })).toBe('session_end_requested');
    endOf(story, 'laptop', DONE);
    expect(endOf(story, 'sandbox', DONE)).toBe(
      'environment_setup_ended session_ready session_ending environment_detach_started environment_detach_started',
    );
    endAll(story, DONE);
    expect(story.state.state).toBe('ended');
  });

  it('S-199: detaches of a creation that failed, where an end was asked for, just what is attached', () => {
    const story = creating();
    story.command({ kind: 'end', mode: 'wait' });
    endOf(story, 'laptop', failed('unknown'));

    expect(endOf(story, 'sandbox', DONE)).toBe('environment_setup_ended session_failed session_ending environment_detach_started');
    expect(asked(story)).toEqual([['environment_detach', 'sandbox']]);
  });

  it('is ended in the same commit where nothing of it is attached', () => {
    const story = creating();
    story.command({ kind: 'end', mode: 'interrupt' });
    endOf(story, 'laptop', failed('cancelled'));

    expect(endOf(story, 'sandbox', failed('failed'))).toBe('environment_setup_failed session_failed session_ending session_ended');
  });

  it('takes environments by the names that every object has', () => {
    const story = creating({ environments: ['constructor', 'toString', 'valueOf'].map((name) => environmentOf(name)) });
    endAll(story, DONE);

    expect(story.state.state).toBe('suspended');
    expect(Object.keys(story.state.context.environments)).toEqual(['constructor', 'toString', 'valueOf']);
  });
});

describe('a session with environments', () => {
  it('S-132: asks nothing of them when it is suspended, taken up and resumed, and while turns run', () => {
    const story = created({ retain: 0, after_stop: 'hold' });
    story.command({ kind: 'suspend' });
    const { message } = startTurn(story, 'hello');
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'failed', code: 'loop_error', message: 'x' }, open: 'cancelled' });
    story.command({ kind: 'resume' });
    story.command({ kind: 'suspend' });
    startTurn(story, 'hello again');
    story.recover();

    const ready = story.records.findIndex(({ type }) => type === 'session_ready');
    expect(story.records.slice(ready).filter(({ type }) => type.startsWith('environment_'))).toEqual([]);
  });

  it('S-032, S-060, S-061, S-145, S-199: records that it ends, and what it asks of each environment, in one commit', () => {
    const story = created();

    expect(outcomeOf(story, { kind: 'end', mode: 'wait' })).toBe('session_ending environment_detach_started environment_detach_started');
    expect(story.records.slice(-2).map(({ data }) => data)).toEqual(
      ['laptop', 'sandbox'].map((environment) => ({ environment, request: { type: 'detach' } })),
    );
  });

  it.each(['wait', 'interrupt'] satisfies EndMode[])('S-199: detaches in the commit that closes the turn that an end waited for: %s', (mode) => {
    const story = created();
    const { message } = startTurn(story, 'hello');
    story.command({ kind: 'end', mode });
    const types = outcomeOf(story, { kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'cancelled' });

    expect(types).toMatch(/turn_(ended|failed) session_ending environment_detach_started environment_detach_started$/);
  });

  it.each(['failed', 'unknown', 'cancelled'] as const)('S-147: ends with the last of its detaches, though one is %s', (outcome) => {
    const story = created();
    story.command({ kind: 'end', mode: 'wait' });

    expect(endOf(story, 'sandbox', failed(outcome))).toBe('environment_detach_failed');
    expect(outcomeOf(story, { kind: 'send', input: 'x', mode: 'queue' })).toBe('session_ending');
    expect(outcomeOf(story, { kind: 'end', mode: 'interrupt' })).toBe('nothing');
    expect(outcomeOf(story, { kind: 'delete' })).toBe('must_end');
    expect(endOf(story, 'laptop', DONE)).toBe('environment_detach_ended session_ended');
  });

  it('detaches what a failed creation had attached when it is ended later', () => {
    const story = creating();
    endOf(story, 'laptop', DONE);
    endOf(story, 'sandbox', failed('failed'));

    expect(outcomeOf(story, { kind: 'end', mode: 'wait' })).toBe('session_ending environment_detach_started');
    expect(endOf(story, 'laptop', DONE)).toBe('environment_detach_ended session_ended');
  });

  it('refuses the end of an operation that is over, or is none', () => {
    const story = creating();
    const first = openOn(story, 'laptop');
    endAll(story, DONE);
    const { activation } = startTurn(story, 'hello');
    const call = { tool: 'clock', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'read' } as const;
    story.command({ kind: 'start_tool_calls', message_sequence: story.state.context.turn?.message_sequence ?? 0, calls: [call] });

    for (const started_sequence of [first, activation, story.state.lastSequence, 1, 999]) {
      expect(outcomeOf(story, { kind: 'end_environment_operation', started_sequence, result: DONE })).toBe('operation_over');
    }
  });
});

describe('a delete of a session with environments', () => {
  it('S-032, S-060, S-061, S-202: records what it asks of each environment in its one commit', () => {
    const story = ended();

    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_delete_requested environment_teardown_started environment_teardown_started');
    expect(story.records.slice(-2).map(({ data }) => data)).toEqual(
      ['laptop', 'sandbox'].map((environment) => ({ environment, request: { type: 'teardown' } })),
    );
    expect(isRemovalDue(story.state)).toBe(false);
    endOf(story, 'sandbox', DONE);
    expect(isRemovalDue(story.state)).toBe(false);
    endOf(story, 'laptop', DONE);
    expect(isRemovalDue(story.state)).toBe(true);
  });

  it('S-202: tears down of a failed creation what is there and what may be there, and nothing else', () => {
    const environments = ['attached', 'failed', 'unknown', 'cancelled'].map((name) => environmentOf(name));
    const story = creating({ environments });
    endOf(story, 'attached', DONE);
    for (const outcome of ['failed', 'unknown', 'cancelled'] as const) endOf(story, outcome, failed(outcome));
    story.command({ kind: 'delete' });

    expect(asked(story)).toEqual(['attached', 'unknown', 'cancelled'].map((name) => ['environment_teardown', name]));
  });

  it('is due for removal at once where its environments all refused their setup', () => {
    const story = creating();
    endAll(story, failed('failed'));

    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_delete_requested');
    expect(isRemovalDue(story.state)).toBe(true);
  });

  it('S-202: tears down what a session whose turn failed is attached to, without an end in between', () => {
    const story = created({ after_stop: 'hold' });
    const { message } = startTurn(story, 'hello');
    story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'failed', code: 'loop_error', message: 'x' }, open: 'cancelled' });

    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_delete_requested environment_teardown_started environment_teardown_started');
    expect(story.state.state).toBe('unusable');
  });

  it.each(['failed', 'unknown', 'cancelled'] as const)('S-149, S-151: keeps the session where a teardown is %s, and another delete tears that down again, and only that', (outcome) => {
    const story = ended();
    story.command({ kind: 'delete' });
    endOf(story, 'laptop', failed(outcome));
    endOf(story, 'sandbox', DONE);

    expect(isRemovalDue(story.state)).toBe(false);
    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_delete_requested environment_teardown_started');
    expect(asked(story)).toEqual([['environment_teardown', 'laptop']]);
    endOf(story, 'laptop', DONE);
    expect(isRemovalDue(story.state)).toBe(true);
  });

  it('asks nothing twice: a delete is refused while another tears down, with the truth', () => {
    const story = ended();
    story.command({ kind: 'delete' });
    endOf(story, 'laptop', DONE);

    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_busy');
    endOf(story, 'sandbox', failed('failed'));
    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_delete_requested environment_teardown_started');
  });

  it('is passed by an end, which is over when the teardowns are and detaches none of them', () => {
    const story = creating();
    endOf(story, 'laptop', DONE);
    endOf(story, 'sandbox', failed('unknown'));
    story.command({ kind: 'delete' });

    expect(outcomeOf(story, { kind: 'end', mode: 'wait' })).toBe('session_ending');
    expect(endOf(story, 'laptop', DONE)).toBe('environment_teardown_ended');
    expect(endOf(story, 'sandbox', failed('failed'))).toBe('environment_teardown_failed session_ended');
    expect(outcomeOf(story, { kind: 'delete' })).toBe('session_delete_requested environment_teardown_started');
  });
});
