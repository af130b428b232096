import { describe, expect, it } from 'vitest';
import { TOOL_OUTPUT_OF } from '../../../machines/close-turn.ts';
import { isRemovalDue } from '../../../machines/recover.ts';
import type { Sequence } from '../../../machines/records.ts';
import { CREATED, environmentOf, Story, storyAtWork } from '../../support/session-story.ts';

const SETUP = { environment: 'laptop', request: { type: 'setup', configuration: {} } } as const;

function typesOf(records: readonly { readonly type: string }[]): readonly string[] {
  return records.map(({ type }) => type);
}

function withTwoEnvironments(): Story {
  const story = new Story();
  const environments = [environmentOf('laptop'), environmentOf('sandbox', 'http')];
  story.command({ kind: 'create', created: { ...CREATED, environments }, transcript: [] });
  endOperation(story, 2);
  endOperation(story, 3);
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

  it('S-142, S-143: carries an ending through, its open detach unknown first, and leaves what was closed as it is', () => {
    const story = withTwoEnvironments();
    story.command({ kind: 'end', mode: 'wait' });
    endOperation(story, 9);
    const records = story.recover();

    expect(typesOf(records)).toEqual(['environment_detach_failed', 'session_ended']);
    expect(records[0]?.data).toMatchObject({ started_sequence: 8, outcome: 'unknown' });
  });

  it('S-150: closes a teardown that was interrupted as unknown, and begins no other', () => {
    const story = withTwoEnvironments();
    story.command({ kind: 'end', mode: 'wait' });
    story.recover();
    story.command({ kind: 'delete' });

    expect(typesOf(story.recover())).toEqual(['environment_teardown_failed', 'environment_teardown_failed']);
    expect([story.state.state, isRemovalDue(story.state)]).toEqual(['ended', false]);
    expect(story.recover()).toEqual([]);
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
