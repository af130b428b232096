/** What the lifecycle surface tells of a session, whatever happened to it, read as its clients read it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lifecycleEventsOf, type LifecycleEvent } from '../../../machines/projections/lifecycle-events.ts';
import { LIFECYCLE_STATUS_OF_STATE, type ChartState } from '../../../machines/projections/status.ts';
import type { Sequence, SessionRecord } from '../../../machines/records.ts';
import type { Story } from '../../support/session-story.ts';
import { makeMove, moves, settings, storyOf, type Move, type Settings } from './moves.ts';

const RUNS = { numRuns: 300 };

function told(how: Settings, all: readonly Move[]): Story {
  const story = storyOf(how);
  for (const one of all) makeMove(story, one);
  return story;
}

function eventsOf(records: readonly SessionRecord[]): readonly LifecycleEvent[] {
  return records.flatMap(lifecycleEventsOf);
}

/** What each event says in a word: the status, the error's code, else its type. */
function wordOf(event: LifecycleEvent): string {
  if (event.type === 'session.status') return event.data.status;
  return event.type === 'session.error' ? `error ${event.data.code}` : event.type;
}

/** What is told of each message's turn from its start on; `next running` where the next turn's start is the next status. */
function turnsOf(events: readonly LifecycleEvent[]): readonly (readonly string[])[] {
  return events.flatMap((event, at) => {
    if (wordOf(event) !== 'running') return [];
    const rest = events.slice(at).filter((one) => one.input_sequence === event.input_sequence);
    const next = events.slice(at + 1).find((one) => one.type === 'session.status');
    const isChained = next !== undefined && wordOf(next) === 'running';
    const marks = rest.filter(({ type }) => type === 'session.status' || type === 'session.error').map(wordOf);
    return [isChained ? [...marks, 'next running'] : marks];
  });
}

const TURN_ENDS: readonly RegExp[] = [
  /^running idle$/,
  /^running next running$/,
  /^running error [a-z_]+ (interrupted|failed|closed)$/,
  // Its session's end was asked for, and waited for it.
  /^running closed$/,
];

describe('the lifecycle events of a session, whatever is asked of it', () => {
  it('L-070, L-071, L-072, L-074, L-075: begin each turn with running, and end it in exactly one of the ways there are', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told(how, all);
        const turns = turnsOf(eventsOf(story.records)).map((marks) => marks.join(' '));
        // Only the last may still be running.
        const open = story.state.context.turn === null ? [] : [turns.pop()];
        for (const turn of turns) expect(TURN_ENDS.filter((end) => end.test(turn)), turn).toHaveLength(1);
        expect(open).toEqual(story.state.context.turn === null ? [] : ['running']);
      }),
      RUNS,
    );
  });

  it('L-043, L-073, L-076: tell of every message that it runs, or an error of its own, in their order; and of idle only where none waits', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told(how, all);
        let waiting: readonly Sequence[] = [];
        const settled = new Set<Sequence>();
        for (const event of eventsOf(story.records)) {
          const { input_sequence: message } = event;
          const word = wordOf(event);
          if (event.type === 'user.message') waiting = [...waiting, event.sequence];
          if (word === 'running') expect(message).toBe(waiting[0]);
          const isNotRun = word === 'error withdrawn' || (word === 'error conflict' && message !== undefined && waiting.includes(message));
          if (message !== undefined && (word === 'running' || isNotRun)) {
            expect(settled.has(message)).toBe(false);
            settled.add(message);
            waiting = waiting.filter((one) => one !== message);
          }
          if (word === 'idle' || word === 'closed' || word === 'interrupted' || word === 'failed') expect(waiting).toEqual([]);
        }
        expect(waiting).toEqual(story.state.context.queue);
      }),
      RUNS,
    );
  });

  it('L-011, L-123: tell, after every commit, the status that the session then has', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const story = told(how, all.filter((one) => one.do !== 'delete'));
        for (const commit of story.commits) {
          const records = story.records.slice(0, commit);
          const last = eventsOf(records).findLast(({ type }) => type === 'session.status');
          const state = records.at(-1)?.state as Exclude<ChartState, 'none'>;
          const untold = state === 'creating' ? null : 'idle';
          expect(last === undefined ? untold : wordOf(last)).toBe(LIFECYCLE_STATUS_OF_STATE[state]);
        }
      }),
      RUNS,
    );
  });

  it('tell nothing after closed, but for closed again where a creation that failed is ended', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        const { records } = told(how, [...all, { do: 'end', mode: 'interrupt' }, { do: 'recover' }, ...all]);
        const words = eventsOf(records).map(wordOf);
        const closings = records.filter(({ type }) => type === 'session_failed' || type === 'session_ending').map(() => 'closed');

        expect(closings.length).toBeGreaterThan(0);
        expect(words.slice(words.indexOf('closed'))).toEqual(closings);
      }),
      RUNS,
    );
  });

  it('L-037: name, for all that a turn does and says, the message that it was started for', () => {
    fc.assert(
      fc.property(settings, moves, (how, all) => {
        let running: Sequence | undefined;
        for (const event of eventsOf(told(how, all).records)) {
          if (wordOf(event) === 'running') running = event.input_sequence;
          const isOfTurn = event.type === 'assistant.message' || event.type === 'tool.call' || event.type === 'tool.result';
          if (isOfTurn) expect(event.input_sequence).toBe(running);
          if (event.type === 'user.message') expect(event.input_sequence).toBe(event.sequence);
        }
      }),
      RUNS,
    );
  });
});
