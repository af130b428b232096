import { describe, expect, it } from 'vitest';
import { brokenInvariants } from '../../../machines/invariants.ts';
import { storyAtWork } from '../../support/session-story.ts';

describe('the invariants, asked of records alone', () => {
  it('L-048: find a key that names two messages, which no chart would refuse', () => {
    const { story } = storyAtWork();
    story.command({ kind: 'send', input: 'one', mode: 'queue', key: 'k' });
    expect(brokenInvariants(story.records)).toEqual([]);
    story.command({ kind: 'send', input: 'one', mode: 'queue', key: 'k' });

    expect(brokenInvariants(story.records)).toMatchObject([{ invariant: 'I10', sequence: story.state.lastSequence }]);
  });
});
