/** Lifecycle events in pages, in replays and live, and what is told beside them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lifecycleEventsOf, type LifecycleCursor, type LifecycleEvent } from '../../../machines/projections/lifecycle-events.ts';
import { lifecyclePage } from '../../../services/history.ts';
import { encodeRecord, payloadOf } from '../../../services/record-codec.ts';
import { KeyedCall } from '../../../services/keyed-call.ts';
import type { Journal } from '../../../storage/journal.ts';
import { MemorySessionStore } from '../../../storage/memory-journal.ts';
import { LivingLifecycle, START } from '../../support/living-lifecycle.ts';
import { TENANT } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import type { Story } from '../../support/session-story.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { makeMove, moves, settings, storyOf } from '../../property/machines/moves.ts';

/** The journal that a story's commits leave, a frame for each. */
async function journalOf(story: Story): Promise<Journal> {
  const journal = await new MemorySessionStore().create('0'.repeat(32));
  let from = 0;
  for (const commit of story.commits) {
    const records = story.records.slice(from, commit);
    await journal.append({ firstSequence: from + 1, recordCount: records.length, payload: payloadOf(records.map(encodeRecord)) });
    from = commit;
  }
  return journal;
}

async function readInPages(journal: Journal, after: LifecycleCursor, limit: number): Promise<readonly LifecycleEvent[]> {
  const events: LifecycleEvent[] = [];
  for (let cursor = after; ; ) {
    const { items, next_cursor } = await lifecyclePage(journal, { after: cursor, limit });
    expect(items.length).toBeLessThanOrEqual(limit);
    events.push(...items);
    if (items.length === 0) {
      // Nothing is left, and the cursor says so: it is past every record.
      expect(next_cursor).toEqual({ sequence: journal.lastSequence, index: null });
      return events;
    }
    cursor = next_cursor;
  }
}

const cursorOf = ({ sequence, index }: LifecycleEvent): LifecycleCursor => ({ sequence, index });

describe('pages of lifecycle events', () => {
  it('L-056, L-058, L-061, L-065: put together are the whole, for any limit and from any cursor, whatever the session went through', async () => {
    await fc.assert(
      fc.asyncProperty(settings, moves, fc.integer({ min: 1, max: 7 }), fc.nat(), async (how, all, limit, choice) => {
        const story = storyOf(how);
        for (const one of all) makeMove(story, one);
        const whole = story.records.flatMap(lifecycleEventsOf);
        const journal = await journalOf(story);

        expect(await readInPages(journal, START, limit)).toEqual(whole);
        for (const at of [choice % (whole.length + 1), whole.length]) {
          const cursor = at === 0 ? START : cursorOf(whole[at - 1] as LifecycleEvent);
          expect(await readInPages(journal, cursor, limit)).toEqual(whole.slice(at));
        }
        // A bare sequence is past all of its record.
        const sequence = choice % (story.records.length + 1);
        expect(await readInPages(journal, { sequence, index: null }, limit)).toEqual(whole.filter((event) => event.sequence > sequence));
      }),
      { numRuns: 100 },
    );
  });

  it('are empty at the end alone, however much lies between two events that nobody is shown', async () => {
    const journal = await new MemorySessionStore().create('0'.repeat(32));
    const add = async (record: object): Promise<void> => {
      const firstSequence = journal.lastSequence + 1;
      const text = JSON.stringify({ sequence: firstSequence, recorded_at: 0, state: 'running.working', ...record });
      await journal.append({ firstSequence, recordCount: 1, payload: payloadOf([text]) });
    };
    const put = { type: 'kv_put', data: { message_sequence: 1, key: 'k', value: 'x'.repeat(3 * 1024 * 1024) } };
    const message = { type: 'message_queued', data: { input: 'hello', mode: 'queue' } };
    for (const record of [message, put, put, put, put, put, put, message, put, message]) await add(record);
    const sizes: number[] = [];
    for (let cursor = START; ; ) {
      const { items, next_cursor } = await lifecyclePage(journal, { after: cursor, limit: 100 });
      sizes.push(items.length);
      if (items.length === 0) break;
      cursor = next_cursor;
    }

    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(3);
    // The bound holds for what is shown: no page reads on for long once it has something.
    expect(sizes).toEqual([1, 1, 1, 0]);
  });

  it('may end between two events of one record', async () => {
    const stage = await LivingLifecycle.set({ session: { after_stop: 'idle' } });
    await stage.queue('first');
    await stage.call(0);
    await stage.interrupt();
    await quiescence();
    const last = (await stage.events()).slice(-3);
    expect(new Set(last.map(({ sequence }) => sequence)).size).toBe(1);
    const page = (after: LifecycleCursor) => stage.brain.sessions.lifecycleEvents(TENANT, stage.id, { after, limit: 1 });

    for (const [index, event] of last.entries()) {
      const before = index === 0 ? { sequence: event.sequence - 1, index: null } : cursorOf(last[index - 1] as LifecycleEvent);
      expect(await page(before)).toEqual({ items: [event], next_cursor: cursorOf(event) });
    }
  });

  it('are refused for a cursor beyond the journal’s end, in pages and in streams', async () => {
    const stage = await LivingLifecycle.set();
    const { last_sequence } = await stage.view;
    for (const after of [{ sequence: last_sequence + 1, index: null }, { sequence: last_sequence + 1, index: 0 }]) {
      await expect(stage.events(after)).rejects.toMatchObject({ code: 'invalid_cursor' });
      await expect(stage.follow(after)).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
    expect(await stage.events({ sequence: last_sequence, index: 99 })).toEqual([]);
  });

  it('L-125: are another tenant’s for nobody', async () => {
    const stage = await LivingLifecycle.set();
    const { sessions } = stage.brain;
    const asked = [
      sessions.lifecycleEvents('else', stage.id, { after: START, limit: 1 }),
      sessions.followLifecycle('else', stage.id, START, new AbortController().signal),
      sessions.waiting('else', stage.id),
      sessions.withdraw('else', stage.id, 3),
      sessions.cancel('else', stage.id),
      sessions.close('else', stage.id),
    ];
    for (const one of asked) await expect(one).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a follower', () => {
  it('L-060, L-061, L-062, L-078: sees the same events as pages do, from any cursor, replayed or as they happen, before and after a restart', async () => {
    const model = new ScriptedModel((_call, index) => (index === 1 ? calling({ tool: 'look' }) : index === 4 ? 'waits' : saying(`answer ${index}`)));
    const stage = await LivingLifecycle.set({ model });
    const live = await stage.follow();
    await stage.queueAll('one', 'two', 'three', 'four');
    await quiescence();
    await stage.interrupt();
    await quiescence();
    await stage.resume();
    await stage.queue('five');
    await quiescence();
    await stage.close();
    await live.ended;
    const whole = await stage.events();

    expect(live.recorded).toEqual(whole);
    const again = await stage.restart();
    expect(await again.events()).toEqual(whole);
    for (const [at, event] of whole.entries()) {
      const reader = await again.follow(cursorOf(event));
      await reader.ended;
      expect(reader.recorded).toEqual(whole.slice(at + 1));
      expect(reader.hadEnded).toBe(at === whole.length - 1);
    }
  });

  it('is told that all is over once it has seen closed, whatever lies behind it', async () => {
    const stage = await LivingLifecycle.set();
    await stage.brain.sessions.close(TENANT, stage.id, new KeyedCall('close', 'a', 'b', 'sessions'));
    await stage.brain.sessions.close(TENANT, stage.id, new KeyedCall('close', 'other', 'b', 'sessions'));
    expect((await stage.brain.types(stage.id)).at(-1)).toBe('request_answered');
    const closed = (await stage.events()).at(-1) as LifecycleEvent;

    expect((await stage.follow(cursorOf(closed))).hadEnded).toBe(true);
    expect((await stage.follow({ sequence: closed.sequence, index: null })).hadEnded).toBe(true);
    expect((await stage.follow({ sequence: closed.sequence - 1, index: null })).hadEnded).toBe(false);
  });

  it('L-037, L-067, L-068, L-069: sees deltas and progress between the events, named by their turn’s message; nobody sees them later', async () => {
    const stage = await LivingLifecycle.set();
    stage.brain.tools.script = async ({ context }) => {
      context.progress({ message: 'half', fraction: 0.5 });
      return 'looked';
    };
    const reader = await stage.follow();
    const { sequence } = await stage.queue('hello');
    const call = await stage.call(0);
    call.say({ reasoning: 'hm' });
    call.say({ text: 'hel' });
    call.answer(calling({ tool: 'look' }));
    await stage.answer(1, 'hello');

    const live = reader.seen.flatMap((one) => (one.kind === 'live' ? [one.event] : []));
    expect(live.map(({ type, message_sequence }) => [type, message_sequence])).toEqual([
      ['model_delta', sequence],
      ['model_delta', sequence],
      ['tool_progress', sequence],
    ]);
    const later = await stage.follow();
    await quiescence();
    expect(later.seen.map(({ kind }) => kind)).not.toContain('live');
    expect(later.recorded).toEqual(reader.recorded);
    expect(reader.recorded.map(({ type }) => type)).toEqual([
      'user.message',
      'session.status',
      'tool.call',
      'tool.result',
      'assistant.message',
      'session.status',
    ]);
    expect(new Set(reader.recorded.map(({ input_sequence }) => input_sequence))).toEqual(new Set([sequence]));
  });

  it('L-077: that goes away stops no turn', async () => {
    const stage = await LivingLifecycle.set();
    const abort = new AbortController();
    const reader = await stage.follow(START, abort.signal);
    const { sequence } = await stage.queue('hello');
    await stage.call(0);
    abort.abort();
    await reader.ended;
    await stage.answer(0);

    expect((await stage.told()).at(-1)).toBe(`idle ${sequence}`);
  });
});

describe('the checkpoint', () => {
  it('L-022, L-095, L-124: is there from the creation on, moves with each completed turn and with nothing else, and is the same after a restart', async () => {
    const stage = await LivingLifecycle.set({ session: { transcript: [{ role: 'user', content: [{ type: 'text', text: 'seed' }] }] } });
    const created = (await stage.view).checkpoint;
    expect(created).toEqual({ sequence: 3, offset: 0, recorded_at: stage.brain.clock.now() });
    stage.brain.clock.setWall(stage.brain.clock.now() + 1_000);
    await stage.queue('first');
    await stage.answer(0);
    const { last_sequence, checkpoint } = await stage.view;
    expect(checkpoint).toEqual({ sequence: last_sequence, offset: last_sequence, recorded_at: stage.brain.clock.now() });

    await stage.queue('second');
    await stage.call(1);
    expect((await stage.view).checkpoint).toEqual(checkpoint);
    let again = await stage.restart();
    expect(await again.view).toMatchObject({ lifecycle_status: 'failed', checkpoint });
    expect((await again.resume()).checkpoint).toEqual(checkpoint);
    await again.close();
    again = await again.restart();
    expect((await again.view).checkpoint).toEqual(checkpoint);
  });

  it('of two turns in a chain is the first one’s while the second runs', async () => {
    const stage = await LivingLifecycle.set();
    await stage.queueAll('first', 'second');
    await stage.answer(0);
    const ended = (await stage.brain.journal(stage.id)).find(({ type }) => type === 'turn_ended');

    expect(await stage.view).toMatchObject({ lifecycle_status: 'running', checkpoint: { sequence: ended?.sequence, offset: ended?.sequence } });
  });
});
