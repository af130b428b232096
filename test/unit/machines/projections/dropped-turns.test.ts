import { describe, expect, it } from 'vitest';
import { SessionState } from '../../../../machines/replay.ts';
import { snapshotOf, startTurn, Story, storyAtWork, CREATED } from '../../../support/session-story.ts';

/** What a loop is shown of a session's records. */
function shown(story: Story): readonly number[] {
  return story.records.map(({ sequence }) => sequence).filter((sequence) => !story.state.dropped.has(sequence));
}

function failTurn(story: Story, message: number): void {
  const ending = { kind: 'failed', code: 'loop_error', message: 'it threw' } as const;
  story.command({ kind: 'close_turn', message_sequence: message, ending, open: 'unknown' });
}

function endTurn(story: Story, message: number): void {
  story.command({ kind: 'close_turn', message_sequence: message, ending: { kind: 'returned' }, open: 'unknown' });
}

describe('DroppedTurns', () => {
  it('L-102: hides from a loop what lies between the checkpoint and the resume, and neither of the two', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    failTurn(story, message);
    story.command({ kind: 'resume' });

    expect(story.records[1]?.type).toBe('session_ready');
    expect(story.records.at(-1)?.type).toBe('session_resumed');
    expect(shown(story)).toEqual([1, 2, story.records.length]);
  });

  it('hides nothing of a turn that failed where no resume followed', () => {
    const { story, message } = storyAtWork();
    failTurn(story, message);

    expect(shown(story)).toEqual(story.records.map(({ sequence }) => sequence));
  });

  it('L-102: hides the message of the stopped turn too where it was queued while the turn before it ran', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    story.command({ kind: 'send', input: 'next', mode: 'queue' });
    story.command({ kind: 'send', input: 'never started', mode: 'queue' });
    const waited = story.records.filter(({ type }) => type === 'message_queued').slice(1);
    endTurn(story, message);
    const checkpoint = story.state.context.checkpoint?.sequence ?? 0;
    failTurn(story, waited[0]?.sequence ?? 0);
    story.command({ kind: 'resume' });

    expect(waited.every(({ sequence }) => sequence < checkpoint)).toBe(true);
    expect(waited.map(({ sequence }) => story.state.dropped.has(sequence))).toEqual([true, true]);
    expect(story.state.dropped.has(message)).toBe(false);
  });

  it('keeps a message whose turn completed after a resume', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    failTurn(story, message);
    story.command({ kind: 'resume' });
    const second = startTurn(story, 'again');
    endTurn(story, second.message);
    const third = startTurn(story, 'once more');
    failTurn(story, third.message);
    story.command({ kind: 'resume' });

    expect(story.state.dropped.has(second.message)).toBe(false);
    expect([message, third.message].map((sequence) => story.state.dropped.has(sequence))).toEqual([true, true]);
  });

  it('drops an earlier resume with the later one to the same checkpoint', () => {
    const { story, message } = storyAtWork({ after_stop: 'hold' });
    failTurn(story, message);
    story.command({ kind: 'resume' });
    const resumed = story.state.lastSequence;
    failTurn(story, startTurn(story, 'again').message);
    story.command({ kind: 'resume' });

    expect(story.state.dropped.has(resumed)).toBe(true);
    expect(shown(story)).toEqual([1, 2, story.records.length]);
  });

  it('goes on from a snapshot as if there had been none', () => {
    const story = new Story();
    story.command({ kind: 'create', created: { ...CREATED, after_stop: 'hold' }, transcript: [] });
    const { message } = startTurn(story, 'hello');
    story.command({ kind: 'send', input: 'next', mode: 'queue' });
    endTurn(story, message);
    const saved = snapshotOf(story.state);
    const cut = story.records.length;
    failTurn(story, story.state.context.turn?.message_sequence ?? 0);
    story.command({ kind: 'resume' });
    const rest = SessionState.from(saved);
    for (const record of story.records.slice(cut)) rest.apply(record);

    expect(snapshotOf(rest)).toEqual(snapshotOf(story.state));
  });
});
