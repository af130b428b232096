import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { JournalFold } from '../../../../http/inspector/model/journal-fold.ts';
import { momentOf, SHOWN_MESSAGES } from '../../../../http/inspector/model/moment.ts';
import { rowOf } from '../../../../http/inspector/model/record-row.ts';
import type { SessionRecord } from '../../../../machines/records.ts';
import { SessionState } from '../../../../machines/replay.ts';
import { journalOfTurns } from '../../../../bench/journal-of-turns.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../../../replay/fixtures');

describe('a folded journal', () => {
  it.each(readdirSync(FIXTURES))('%s is at each record, whatever was looked at before, what the charts make of it', (name) => {
    const records = recordsIn(name);
    const fold = new JournalFold();
    fold.add(records);

    for (const sequence of [...records.keys(), ...[...records.keys()].toReversed()].map((index) => index + 1)) {
      expect(fold.at(sequence, SHOWN_MESSAGES)?.moment).toEqual(momentAfter(records, sequence));
    }
  });

  it('is near everywhere in a long one: from a snapshot it is what it is from the start', () => {
    const records = journalOfTurns(150);
    const fold = new JournalFold();
    fold.add(records.slice(0, 700));
    fold.add(records.slice(500));

    expect(fold.length).toBe(records.length);
    for (const sequence of [1, 199, 200, 201, 400, 401, records.length, 3, 799, 598]) {
      expect(fold.at(sequence, 3)?.moment).toEqual(momentAfter(records, sequence, 3));
    }
  });

  it('costs a step at most 200 records, wherever it goes', () => {
    const records = journalOfTurns(150);
    const fold = new JournalFold();
    fold.add(records);
    const apply = vi.spyOn(SessionState.prototype, 'apply');
    const costOf = (sequence: number): number => {
      apply.mockClear();
      fold.at(sequence, 3);
      return apply.mock.calls.length;
    };

    expect(Math.max(...[2_000, 1_999, 5, 1_401, 1_400, 1_200, 399].map(costOf))).toBeLessThanOrEqual(200);
    expect(costOf(400)).toBe(1);
    apply.mockRestore();
  });

  it('shows the end of the transcript, what is open and since when, and why', () => {
    const fold = new JournalFold();
    fold.add(journalOfTurns(3));
    const sequence = 2 + 15 * 2 + 8;

    expect(fold.at(sequence, 2)?.moment).toMatchObject({
      sequence,
      state: 'running.working',
      queue: [],
      open: [
        { sequence: 35, kind: 'activation', subject: 'chat' },
        { sequence: 40, kind: 'tool_call', subject: 'look {}', since: 1_767_268_800_400, deadline: null },
      ],
      transcript: {
        length: 10,
        from: 8,
        messages: [{ role: 'user', content: [{ text: 'question 2' }] }, { role: 'assistant', content: [{ type: 'tool_use', name: 'look' }] }],
      },
      keyValues: [['seen/0', 0], ['seen/1', 1]],
      explanation: 'The session waits for the tool look since 2026-01-01T12:00:00Z, without a deadline.',
    });
    expect(fold.at(33, 2)?.moment.queue).toEqual([{ sequence: 33, text: 'question 2', since: 1_767_268_800_330 }]);
  });

  it('says what a record changed', () => {
    const records = recordsIn('parallel-tools.jsonl');
    const fold = new JournalFold();
    fold.add(records);
    const changesOf = (type: string) => fold.at(records.find((record) => record.type === type)?.sequence ?? 0, 3)?.changes;

    const queued = records.find(({ type }) => type === 'message_queued')?.sequence;
    expect(changesOf('message_queued')).toMatchObject({ queued: [queued], unqueued: [], opened: [], closed: [], transcriptFrom: null });
    expect(changesOf('turn_started')).toMatchObject({ queued: [], unqueued: [queued], stateBefore: 'suspended' });
    const call = records.find(({ type }) => type === 'tool_call_started')?.sequence;
    expect(changesOf('tool_call_started')).toMatchObject({ opened: [call], closed: [] });
    const end = records.find(({ type }) => type === 'tool_call_ended');
    const start = records.find(({ sequence }) => end?.type === 'tool_call_ended' && sequence === end.data.started_sequence);
    expect(start?.type).toBe('tool_call_started');
    expect(changesOf('tool_call_ended')).toMatchObject({
      closed: [{ sequence: start?.sequence, kind: 'tool_call', subject: start === undefined ? '' : rowOf(start).subject, since: start?.recorded_at }],
    });
    expect(changesOf('transcript_delta')?.transcriptFrom).toBe(0);
  });

  it('stops at a record that the charts refuse, and shows what came before', () => {
    const records = recordsIn('simple-turn.jsonl');
    const fold = new JournalFold();
    fold.add(records.map((record) => (record.sequence === 5 ? { ...record, state: 'ended' } : record)));

    expect(fold.refusal?.message).toMatch(/^record 5 /);
    expect(fold.at(4, 3)?.moment.sequence).toBe(4);
    expect(fold.at(5, 3)).toBeNull();
  });
});

function momentAfter(records: readonly SessionRecord[], sequence: number, shown = SHOWN_MESSAGES): unknown {
  const state = SessionState.empty();
  for (const record of records.slice(0, sequence)) state.apply(record);
  return momentOf(state, (at) => records[at - 1], shown);
}

function recordsIn(name: string): readonly SessionRecord[] {
  const lines = readFileSync(path.join(FIXTURES, name), 'utf8').split('\n').filter((line) => line !== '');
  // The last line is the state that they fold to.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as SessionRecord);
}
