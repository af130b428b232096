/**
 * A journal of `fixtures/` is JSON lines: its records as they were written, and in the last line the state that they fold
 * to. `stories.ts` says how to keep one more.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { brokenInvariants } from '../../machines/invariants.ts';
import { lifecycleEventsOf } from '../../machines/projections/lifecycle-events.ts';
import { publicEventOf } from '../../machines/projections/public-events.ts';
import type { SessionRecord } from '../../machines/records.ts';
import { SessionState, type StateSnapshot } from '../../machines/replay.ts';
import { folded, snapshotOf, throughJson, type Story } from '../support/session-story.ts';
import { STORIES } from './stories.ts';

const FOLDER = path.join(import.meta.dirname, 'fixtures');

/** What is kept of a state: all that is told of it, and nothing of how it is held in memory. */
interface KeptState {
  readonly state: string;
  readonly context: StateSnapshot['chart']['context'];
  readonly facts: StateSnapshot['facts'];
  readonly messages: StateSnapshot['transcript']['messages'];
  readonly key_values: StateSnapshot['key_values']['values'];
  readonly public_events: readonly string[];
  readonly dropped: readonly number[];
  readonly lifecycle_events: readonly unknown[];
  readonly message_keys: StateSnapshot['message_keys'];
}

function keptStateOf(state: SessionState, records: readonly SessionRecord[]): KeptState {
  const { chart, facts, key_values, message_keys } = state.toSnapshot();
  return throughJson({
    state: chart.state,
    context: chart.context,
    facts,
    messages: state.transcript.messages(),
    key_values: key_values.values,
    public_events: records.flatMap((record) => {
      const event = publicEventOf(record);
      return event === null ? [] : [`${event.sequence} ${event.type}`];
    }),
    dropped: records.map(({ sequence }) => sequence).filter((sequence) => state.dropped.has(sequence)),
    lifecycle_events: records.flatMap(lifecycleEventsOf),
    message_keys,
  });
}

/** Of what is told today, that which was told when the journal was kept: a later version may tell more. */
function asThen<T extends object>(told: T, kept: T): T {
  return Object.fromEntries(Object.entries(told).filter(([name]) => Object.hasOwn(kept, name))) as T;
}

function fileOf(name: string): string {
  return path.join(FOLDER, `${name}.jsonl`);
}

function keep(name: string, story: Story): void {
  const lines = [...story.records, keptStateOf(story.state, story.records)].map((line) => JSON.stringify(line));
  writeFileSync(fileOf(name), `${lines.join('\n')}\n`);
}

function readKept(name: string): { readonly records: readonly SessionRecord[]; readonly kept: KeptState } {
  const lines = readFileSync(fileOf(name), 'utf8').trimEnd().split('\n');
  const values = lines.map((line) => JSON.parse(line) as unknown);
  return { records: values.slice(0, -1) as readonly SessionRecord[], kept: values.at(-1) as KeptState };
}

describe('a kept journal', () => {
  if (process.env['BRAIN_WRITE_FIXTURES'] === '1') {
    for (const [name, tell] of Object.entries(STORIES)) if (!existsSync(fileOf(name))) keep(name, tell());
  }
  const names = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => path.basename(file, '.jsonl'));

  it('is there for each story', () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(STORIES)));
  });

  it.each(names)('%s folds to the state that was kept with it, from any snapshot on', (name) => {
    const { records, kept } = readKept(name);
    const state = folded(records);

    const told = keptStateOf(state, records);
    const context = asThen(told.context, kept.context);
    expect({ ...asThen(told, kept), context, facts: asThen(told.facts, kept.facts) }).toEqual(kept);
    for (let cut = 1; cut < records.length; cut += 1) {
      const rest = SessionState.from(snapshotOf(folded(records.slice(0, cut))));
      for (const record of records.slice(cut)) rest.apply(record);
      expect(snapshotOf(rest)).toEqual(snapshotOf(state));
    }
  });

  it.each(names)('%s keeps the invariants', (name) => {
    expect(brokenInvariants(readKept(name).records)).toEqual([]);
  });
});
