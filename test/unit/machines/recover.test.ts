import { describe, expect, it } from 'vitest';
import { TOOL_OUTPUT_OF, toolOutputOf } from '../../../machines/close-turn.ts';
import { isRemovalDue } from '../../../machines/recover.ts';
import type { Sequence } from '../../../machines/records.ts';
import { CREATED, environmentOf, snapshotOf, startTurn, Story, storyAtWork } from '../../support/session-story.ts';

const SETUP = { environment: 'laptop', request: { type: 'setup', configuration: {} } } as const;

function typesOf(records: readonly { readonly type: string }[]): readonly string[] {
  return records.map(({ type }) => type);
}

function creating(): Story {
  const story = new Story();
  const environments = [environmentOf('laptop'), environmentOf('sandbox', 'http')];
  story.command({ kind: 'create', created: { ...CREATED, environments }, transcript: [] });
  return story;
}

function created(): Story {
  const story = creating();
  endOperation(story, 2);
  endOperation(story, 3);
  return story;
}

function endedSession(): Story {
  const story = created();
  story.command({ kind: 'end', mode: 'wait' });
  story.recover();
  return story;
}

function failedCreation(): Story {
  const story = creating();
  endOperation(story, 3);
  story.recover();
  return story;
}

function endOperation(story: Story, started_sequence: Sequence): void {
  story.command({ kind: 'end_environment_operation', started_sequence, result: { kind: 'done', receipt: { type: 'accepted' } } });
}

describe('recover', () => {
  it('S-141: fails a creation that was interrupted, its open setup unknown first', () => {
    const story = new Story();
    story.record('session_created', CREATED);
    story.record('environment_setup_started', SETUP);
    const records = story.recover();

    expect(typesOf(records)).toEqual(['environment_setup_failed', 'session_failed']);
    expect(records[0]?.data).toMatchObject({ started_sequence: 2, outcome: 'unknown' });
    expect(story.state.state).toBe('unusable');
  });

  it('carries out an end that was asked of a creation', () => {
    const story = new Story();
    story.record('session_created', CREATED);
    story.command({ kind: 'end', mode: 'wait' });

    expect(typesOf(story.recover())).toEqual(['session_failed', 'session_ending', 'session_ended']);
  });

  it('S-141, S-143: fails a creation of which one setup was done, and keeps what is known of the other', () => {
    const story = creating();
    endOperation(story, 3);

    expect(typesOf(story.recover())).toEqual(['environment_setup_failed', 'session_failed']);
    expect(story.state.context.environments).toMatchObject({ laptop: { standing: 'unknown' }, sandbox: { standing: 'attached' } });
  });

  it.each(['wait', 'interrupt'] as const)('S-141, S-142, S-144: ends a creation that was to be ended (%s), and asks nothing of what is attached', (mode) => {
    const story = creating();
    endOperation(story, 3);
    story.command({ kind: 'end', mode });

    expect(typesOf(story.recover())).toEqual(['environment_setup_failed', 'session_failed', 'session_ending', 'session_ended']);
  });

  it('S-144: ends a session with its turn without asking anything of its environments, which a delete still tears down', () => {
    const story = created();
    startTurn(story, 'hello');
    story.command({ kind: 'end', mode: 'wait' });

    expect(typesOf(story.recover())).toEqual(['activation_failed', 'turn_failed', 'session_ending', 'session_ended']);
    story.command({ kind: 'delete' });
    expect(typesOf(story.records).slice(-2)).toEqual(['environment_teardown_started', 'environment_teardown_started']);
  });

  it('S-140, S-142, S-143: carries an ending through, its open detach unknown first, and leaves what was closed as it is', () => {
    const story = created();
    story.command({ kind: 'end', mode: 'wait' });
    endOperation(story, 9);
    const records = story.recover();

    expect(typesOf(records)).toEqual(['environment_detach_failed', 'session_ended']);
    expect(records[0]?.data).toMatchObject({ started_sequence: 8, outcome: 'unknown' });
  });

  it.each([
    ['ended', endedSession],
    ['unusable', failedCreation],
  ] as const)('S-149, S-150: closes a teardown of a session that is %s as unknown, begins no other, and keeps the session', (state, tell) => {
    const story = tell();
    story.command({ kind: 'delete' });
    const open = story.state.context.open[0]?.sequence ?? 0;
    const records = story.recover();

    expect([...new Set(typesOf(records))]).toEqual(['environment_teardown_failed']);
    expect(records[0]?.data).toMatchObject({ started_sequence: open, outcome: 'unknown' });
    expect([story.state.state, isRemovalDue(story.state)]).toEqual([state, false]);
    expect(story.recover()).toEqual([]);
    expect(story.command({ kind: 'delete' }).kind).toBe('records');
  });

  it('S-142, S-150: ends a session whose end came while it was torn down', () => {
    const story = failedCreation();
    story.command({ kind: 'delete' });
    story.command({ kind: 'end', mode: 'wait' });

    expect(typesOf(story.recover())).toEqual(['environment_teardown_failed', 'environment_teardown_failed', 'session_ended']);
    expect(isRemovalDue(story.state)).toBe(false);
  });

  it.each([
    ['creating', creating],
    ['suspended', created],
    ['unusable', failedCreation],
    ['ended', endedSession],
  ] as const)('adds nothing the second time: %s', (_state, tell) => {
    const story = tell();
    story.recover();

    expect(story.recover()).toEqual([]);
  });

  it.each([
    ['once', /may or may not have taken effect.*Check what happened before calling again\.$/],
    ['idempotent', /may or may not have taken effect.*idempotent/],
    ['read', /only reads.*may be made again/],
  ] as const)('S-122, S-124: tells a model of an open call what a repeat of it would do: %s', (effect, says) => {
    const { story, message } = storyAtWork();
    const call = { tool: 'mail', tool_use_id: 'a', input_text: '{}', deadline: null } as const;
    const others = (['read', 'idempotent', 'once'] as const).map((other) => ({ ...call, effect: other }));
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [...others, { ...call, effect }] });
    const done = story.state.lastSequence - 3;
    story.command({ kind: 'end_tool_call', message_sequence: message, started_sequence: done, outcome: 'ok', output: null });
    const told = story.recover().flatMap(({ data }) => ('output' in data ? [data] : [])).at(-1);

    expect(told?.output).toMatch(says);
    expect(told?.output).toBe(toolOutputOf('unknown', effect));
    expect(told).toMatchObject({ outcome: 'unknown', is_error: true });
    expect(snapshotOf(story.state).chart.context.repeatable).toEqual({});
  });

  it.each(['cancelled', 'timeout'] as const)('S-121: tells the same of a call that is %s, whatever a repeat would do, and not that it was undone', (outcome) => {
    const texts = (['once', 'idempotent', 'read'] as const).map((effect) => toolOutputOf(outcome, effect));

    expect(new Set(texts)).toEqual(new Set([TOOL_OUTPUT_OF[outcome]]));
  });

  it('S-124: ends open effects unknown, oldest first, and tells a model that a tool may have run', () => {
    const { story, message } = storyAtWork();
    const call = { tool: 'mail', tool_use_id: 'a', input_text: '{}', deadline: null, effect: 'once' } as const;
    story.command({ kind: 'start_tool_calls', message_sequence: message, calls: [call] });
    story.command({ kind: 'start_model_call', message_sequence: message, provider: 'demo', model: 'echo', messages: [], difference: {} });
    const records = story.recover();

    expect(typesOf(records)).toEqual(['tool_call_ended', 'model_call_failed', 'activation_failed', 'turn_failed']);
    expect(records[0]?.data).toMatchObject({ outcome: 'unknown', is_error: true, output: TOOL_OUTPUT_OF.unknown });
    expect(records[1]?.data).toMatchObject({ outcome: 'unknown' });
    expect(records[3]?.data).toMatchObject({ code: 'interrupted_by_restart' });
  });

  it('S-121: claims of no call that nothing happened outside', () => {
    expect(Object.values(TOOL_OUTPUT_OF).filter((text) => !/may|not undone/.test(text))).toEqual([]);
  });

  it('L-109: carries out a close of a running turn, whose code it keeps', () => {
    const { story } = storyAtWork({ after_stop: 'hold' });
    story.command({ kind: 'end', mode: 'interrupt' });
    const records = story.recover();

    expect(typesOf(records)).toEqual(['activation_failed', 'turn_failed', 'session_ending', 'session_ended']);
    expect(records[1]?.data).toMatchObject({ code: 'closed', end: true });
  });
});
