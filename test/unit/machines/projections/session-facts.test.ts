import { describe, expect, it } from 'vitest';
import { CREATED, startTurn, Story, storyAtWork } from '../../../support/session-story.ts';

function failTurn(story: Story, message_sequence: number): number {
  story.command({ kind: 'close_turn', message_sequence, ending: { kind: 'failed', code: 'loop_error', message: 'it threw' }, open: 'unknown' });
  return story.state.lastSequence;
}

describe('the facts of a session', () => {
  it('name what stopped it until a turn starts again, or it is resumed', () => {
    const { story, message } = storyAtWork();
    expect(story.state.facts.stop).toBeNull();
    const stop = failTurn(story, message);
    expect(story.state.facts.stop).toBe(stop);
    startTurn(story, 'again');
    expect(story.state.facts.stop).toBeNull();

    const held = storyAtWork({ after_stop: 'hold' });
    const heldBy = failTurn(held.story, held.message);
    expect(held.story.state.facts.stop).toBe(heldBy);
    held.story.command({ kind: 'resume' });
    expect(held.story.state.facts.stop).toBeNull();
  });

  it('name the creation that failed as what stopped it', () => {
    const story = new Story();
    story.record('session_created', CREATED);
    const failed = story.record('session_failed', { code: 'environment_failed', message: 'no' });
    expect(story.state.facts).toMatchObject({ stop: failed, checkpoint: null });
  });

  it('tell the time of the last public record beside that of the last', () => {
    const { story, message, activation } = storyAtWork();
    const shown = story.state.facts.updated_at;
    story.command({ kind: 'put_kv', message_sequence: message, key: 'k', value: 1 });
    expect(story.state.facts).toMatchObject({ updated_at: shown, recorded_at: 1_000 * story.state.lastSequence });
    expect(story.state.lastSequence).toBeGreaterThan(activation);
  });
});
