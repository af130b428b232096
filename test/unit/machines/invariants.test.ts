import { describe, expect, it } from 'vitest';
import { brokenInvariants } from '../../../machines/invariants.ts';
import type { RecordData, RecordType, SessionRecord } from '../../../machines/records.ts';
import { CREATED, environmentOf, storyAtWork } from '../../support/session-story.ts';

describe('the invariants, asked of records alone', () => {
  it('L-048: find a key that names two messages, which no chart would refuse', () => {
    const { story } = storyAtWork();
    story.command({ kind: 'send', input: 'one', mode: 'queue', key: 'k' });
    expect(brokenInvariants(story.records)).toEqual([]);
    story.command({ kind: 'send', input: 'one', mode: 'queue', key: 'k' });

    expect(brokenInvariants(story.records)).toMatchObject([{ invariant: 'I10', sequence: story.state.lastSequence }]);
  });

  it('S-132, S-145: find environments that are missing, set up late, detached early, and torn down without a delete', () => {
    const environments = [environmentOf('laptop')];
    const setup: Told = ['environment_setup_started', { environment: 'laptop', request: { type: 'setup', configuration: {} } }];
    const detach: Told = ['environment_detach_started', { environment: 'laptop', request: { type: 'detach' } }];
    const teardown: Told = ['environment_teardown_started', { environment: 'laptop', request: { type: 'teardown' } }];
    const created: Told = ['session_created', { ...CREATED, environments }];
    const attached: readonly Told[] = [created, setup, ['environment_setup_ended', { started_sequence: 2, receipt: { type: 'accepted' } }]];
    const refused: readonly Told[] = [created, setup, ['environment_setup_failed', { started_sequence: 2, outcome: 'failed', code: 'x', message: 'x' }]];
    const ready: Told = ['session_ready', {}];
    const ending: Told = ['session_ending', {}];
    const deleted: Told = ['session_delete_requested', {}];

    expect(brokenIn([...attached, ready, ending, detach])).toEqual([]);
    expect(brokenIn([created, ready])).toEqual(['I11 2']);
    expect(brokenIn([created, setup, ready])).toEqual(['I11 3']);
    expect(brokenIn([...refused, ready])).toEqual(['I11 4']);
    expect(brokenIn([...attached, ready, setup])).toEqual(['I11 5']);
    expect(brokenIn([['session_created', CREATED], setup])).toEqual(['I11 2']);
    expect(brokenIn([...attached, ready, detach])).toEqual(['I12 5']);
    expect(brokenIn([...refused, ending, detach])).toEqual(['I12 5']);
    expect(brokenIn([...attached, ending, detach, ['environment_detach_ended', { started_sequence: 5, receipt: { type: 'accepted' } }], detach])).toEqual(['I12 7']);
    expect(brokenIn([...attached, teardown])).toEqual(['I12 4']);
    expect(brokenIn([...attached, deleted, teardown])).toEqual([]);
    expect(brokenIn([...attached, deleted, teardown, teardown])).toEqual(['I12 6']);
    expect(brokenIn([...refused, deleted, teardown])).toEqual(['I12 5']);
  });
});

type Told = { readonly [T in RecordType]: readonly [type: T, data: RecordData[T]] }[RecordType];

/** Records that nobody asked a chart about. */
function brokenIn(told: readonly Told[]): readonly string[] {
  const records = told.map(([type, data], index) => ({ sequence: index + 1, recorded_at: 0, state: 'ending', type, data }) as unknown as SessionRecord);
  return brokenInvariants(records).map(({ invariant, sequence }) => `${invariant} ${sequence}`);
}
