import { describe, expect, it } from 'vitest';
import { explainedBy, explanationOf, type Explained } from '../../../../machines/projections/explanation.ts';
import { CREATED, environmentOf, folded, Story, storyAtWork } from '../../../support/session-story.ts';

/** The sentence, made of nothing but the records that it asks for. */
function explanation({ records }: Pick<Story, 'records'>): string | null {
  const state = folded(records);
  const explained: Explained = { state: state.state, context: state.context, stop: state.facts.stop };
  const asked = new Set(explainedBy(explained));
  return explanationOf(explained, (sequence) => (asked.has(sequence) ? records[sequence - 1] : undefined));
}

function callTool(story: Story, message_sequence: number, tool: string, deadline: number | null): void {
  const call = { tool, tool_use_id: tool, input_text: '{}', deadline, effect: 'once' } as const;
  story.command({ kind: 'start_tool_calls', message_sequence, calls: [call] });
}

function failTurn(story: Story, message_sequence: number): void {
  const ending = { kind: 'failed', code: 'loop_error', message: 'it threw' } as const;
  story.command({ kind: 'close_turn', message_sequence, ending, open: 'unknown' });
}

function end(story: Story, started_sequence: number, how: 'done' | 'unknown'): void {
  const done = { kind: 'done', receipt: { type: 'accepted' } } as const;
  const result = how === 'done' ? done : ({ kind: 'failed', outcome: how, code: 'x', message: 'x' } as const);
  story.command({ kind: 'end_environment_operation', started_sequence, result });
}

describe('explanationOf', () => {
  it('says nothing of a session that waits for nobody: at rest, and ended', () => {
    const story = new Story();
    story.command({ kind: 'create', created: CREATED, transcript: [] });
    expect(explanation(story)).toBeNull();
    story.command({ kind: 'end', mode: 'wait' });
    expect(explanation(story)).toBeNull();
  });

  it('says of a turn that its loop has no slot, then that nothing is called, then what it waits for and until when', () => {
    const story = new Story();
    story.command({ kind: 'create', created: CREATED, transcript: [] });
    story.command({ kind: 'send', input: 'hello', mode: 'sync' });
    expect(explanation(story)).toBe('The session waits for a free slot to run its turn since 1970-01-01T00:00:04Z.');

    const { message_sequence } = story.state.context.turn ?? { message_sequence: 0 };
    story.command({ kind: 'start_activation', message_sequence, agentloop: 'chat' });
    expect(explanation(story)).toBe('The session runs its agent loop since 1970-01-01T00:00:05Z, and no model or tool is called.');

    callTool(story, message_sequence, 'mail', 60_000);
    callTool(story, message_sequence, 'clock', null);
    expect(explanation(story)).toBe(
      'The session waits for the tool mail since 1970-01-01T00:00:06Z, at most until 1970-01-01T00:01:00Z, the tool clock since 1970-01-01T00:00:07Z, without a deadline.',
    );
    story.command({ kind: 'end', mode: 'wait' });
    expect(explanation(story)).toMatch(/without a deadline; it ends when its turn is over\.$/);
  });

  it('names three of the effects that a turn waits for, and counts the others', () => {
    const { story, message } = storyAtWork();
    for (let call = 0; call < 5; call += 1) callTool(story, message, `tool_${call}`, null);
    expect(explanation(story)).toMatch(/tool_0 .*tool_1 .*tool_2 [^,]*, without a deadline and 2 more\.$/);
    expect(explanation(story)).not.toContain('tool_3');
  });

  it('says who stops a turn, and what has not let go yet', () => {
    const { story, message } = storyAtWork();
    callTool(story, message, 'mail', null);
    story.command({ kind: 'cancel', by: 'caller' });
    expect(explanation(story)).toMatch(/^The session is stopping its turn, which its caller cancelled; waits for the tool mail /);
  });

  it('says of a stopped session what stopped it, and of no other that it stopped', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    failTurn(story, message);
    expect(explanation(story)).toBe(
      'The session stopped at 1970-01-01T00:00:07Z with its turn, loop_error: it threw; it takes messages again once it is resumed.',
    );
    story.command({ kind: 'resume' });
    expect(explanation(story)).toBeNull();
  });

  it('says of an interrupted session that it was cancelled', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    story.command({ kind: 'cancel', by: 'caller' });
    failTurn(story, message);
    expect(explanation(story)).toMatch(/with its turn, cancelled: the turn was cancelled; it takes messages again once it is resumed\.$/);
  });

  it('says of a session that is created, ended or deleted which environments it waits for, and what may be left of them', () => {
    const story = new Story();
    const environments = ['laptop', 'sandbox'].map((name) => environmentOf(name));
    story.command({ kind: 'create', created: { ...CREATED, environments }, transcript: [] });
    expect(explanation(story)).toBe(
      'The session is being created; waits for the setup of the environment laptop since 1970-01-01T00:00:02Z, the setup of the environment sandbox since 1970-01-01T00:00:03Z.',
    );
    end(story, 2, 'done');
    expect(explanation(story)).toBe('The session is being created; waits for the setup of the environment sandbox since 1970-01-01T00:00:03Z.');
    end(story, 3, 'done');
    expect(explanation(story)).toBeNull();

    story.command({ kind: 'end', mode: 'wait' });
    end(story, 8, 'done');
    expect(explanation(story)).toBe('The session is ending; waits for the detach of the environment sandbox since 1970-01-01T00:00:09Z.');
    end(story, 9, 'unknown');
    expect(explanation(story)).toBeNull();

    story.command({ kind: 'delete' });
    end(story, 14, 'done');
    expect(explanation(story)).toBe('The session is being deleted; waits for the teardown of the environment sandbox since 1970-01-01T00:00:15Z.');
    end(story, 15, 'unknown');
    expect(explanation(story)).toBe('The session has ended; the environment sandbox may still be there, until a delete tears it down.');
  });

  it('says of a creation that an end was asked for it', () => {
    const story = new Story();
    story.command({ kind: 'create', created: { ...CREATED, environments: [environmentOf('laptop')] }, transcript: [] });
    story.command({ kind: 'end', mode: 'wait' });
    expect(explanation(story)).toMatch(/^The session is being created; waits for the setup .*; it ends after that\.$/);
  });

  it('says of a failed creation what may be left of it, three environments by name, and of its delete what it waits for', () => {
    const story = new Story();
    const environments = ['a', 'b', 'c', 'd'].map((name) => environmentOf(name));
    story.command({ kind: 'create', created: { ...CREATED, environments }, transcript: [] });
    story.recover();
    expect(explanation(story)).toMatch(/while it was created, .*; it cannot be resumed: .*; the environments a, b, c and 1 more may still be there, until a delete tears them down\.$/);
    story.command({ kind: 'delete' });
    expect(explanation(story)).toMatch(/^The session is being deleted; waits for the teardown of the environment a /);
  });

  it('says of a creation that failed why, and that it cannot be resumed', () => {
    const story = new Story();
    story.record('session_created', CREATED);
    story.record('session_failed', { code: 'environment_failed', message: 'it could not be set up' });
    expect(explanation(story)).toBe(
      'The session failed at 1970-01-01T00:00:02Z while it was created, environment_failed: it could not be set up; it cannot be resumed: it can only be ended or deleted.',
    );
  });
});
