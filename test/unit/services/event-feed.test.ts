/** Following: a cursor over the journal, woken by commits. */
import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionRecord } from '../../../machines/records.ts';
import { EventFeed } from '../../../services/event-feed.ts';
import type { FollowedSession, Follower } from '../../../services/follower.ts';
import type { Followed, LiveEvent } from '../../../services/session-service.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const record = (sequence: number): SessionRecord => ({ sequence, recorded_at: 0, type: 'kv_put', state: 'running.working', data: { message_sequence: 3, key: 'key', value: sequence } });
const delta = (text: string): LiveEvent => ({ type: 'model_delta', message_sequence: 1, data: { started_sequence: 1, text } });

/** A session's journal as followers see it, and its feed, without anything else. */
class Source implements FollowedSession<SessionRecord> {
  readonly feed = new EventFeed();
  readonly records: SessionRecord[] = [];
  reads = 0;
  over = false;
  /** Whether what is recorded is known without a read. */
  isKnown = false;

  async readSome(after: number): Promise<readonly SessionRecord[]> {
    this.reads += 1;
    await Promise.resolve();
    return this.records.filter(({ sequence }) => sequence > after).slice(0, 3);
  }

  isAtEnd(sequence: number): boolean {
    return this.isKnown && sequence >= this.records.length;
  }

  isOver(): boolean {
    return this.over;
  }

  shown(one: SessionRecord): readonly SessionRecord[] {
    return [one];
  }

  commit(count: number, payloadBytes = 100): void {
    const added = Array.from({ length: count }, (_, index) => record(this.records.length + index + 1));
    this.records.push(...added);
    this.feed.committed('one', added, payloadBytes);
  }

  live(text: string): void {
    this.feed.live('one', this.records.length, delta(text));
  }

  follow(after: number, signal: AbortSignal | null = null): Follower<SessionRecord> {
    return this.feed.follow('one', this, { after, signal, isLive: true });
  }
}

function reading(items: Follower<SessionRecord>) {
  const seen: Followed<SessionRecord>[] = [];
  const state = { ended: false };
  const done = (async () => {
    for await (const one of items) seen.push(one);
    state.ended = true;
  })();
  return { seen, state, done, sequences: () => seen.flatMap((one) => (one.kind === 'recorded' ? [one.item.sequence] : [])) };
}

describe('a follower', () => {
  it('S-184, S-185: sees each record after its cursor once and in order, whatever is committed, lost or waited for meanwhile', async () => {
    const anyStep = fc.oneof(
      fc.record({ do: fc.constant('commit' as const), count: fc.integer({ min: 1, max: 5 }), bytes: fc.constantFrom(10, 100_000, 300_000) }),
      fc.record({ do: fc.constant('live' as const) }),
      fc.record({ do: fc.constant('lookAgain' as const) }),
      fc.record({ do: fc.constant('follow' as const), back: fc.nat({ max: 8 }) }),
      fc.record({ do: fc.constant('settle' as const) }),
      fc.record({ do: fc.constant('know' as const), isKnown: fc.boolean() }),
      fc.record({ do: fc.constant('pull' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const source = new Source();
        const fast: { after: number; reader: ReturnType<typeof reading> }[] = [];
        const slow = source.follow(0);
        const pulled: number[] = [];
        const pull = async (): Promise<void> => {
          const next = await slow.next();
          if (next.done !== true && next.value.kind === 'recorded') pulled.push(next.value.item.sequence);
        };
        for (const step of steps) {
          if (step.do === 'commit') source.commit(step.count, step.bytes);
          if (step.do === 'live') source.live('x');
          if (step.do === 'lookAgain') source.feed.lookAgain('one');
          if (step.do === 'settle') await quiescence();
          if (step.do === 'know') source.isKnown = step.isKnown;
          if (step.do === 'pull' && pulled.length < source.records.length) await pull();
          if (step.do === 'follow') {
            const after = Math.max(0, source.records.length - step.back);
            fast.push({ after, reader: reading(source.follow(after)) });
          }
        }
        source.over = true;
        source.feed.lookAgain('one');
        await Promise.all(fast.map(({ reader }) => reader.done));
        const rest = reading(slow);
        await rest.done;

        const all = source.records.map(({ sequence }) => sequence);
        for (const { after, reader } of fast) expect(reader.sequences()).toEqual(all.slice(after));
        expect([...pulled, ...rest.sequences()]).toEqual(all);
      }),
    );
  });

  it('sees the records too that nobody told it of, once it is told of a later one', async () => {
    const source = new Source();
    const reader = reading(source.follow(0));
    await quiescence();
    source.commit(2);
    await quiescence();
    source.records.push(record(3), record(4));
    source.commit(1);
    await quiescence();

    expect(reader.sequences()).toEqual([1, 2, 3, 4, 5]);
  });

  it('sees live events between the records that they came between', async () => {
    const source = new Source();
    const reader = reading(source.follow(0));
    await quiescence();
    source.commit(2);
    source.live('a');
    source.commit(1);
    source.live('b');
    source.live('c');
    source.commit(1);
    await quiescence();

    expect(reader.seen.map((one) => (one.kind === 'recorded' ? one.item.sequence : 'text' in one.event.data && one.event.data.text))).toEqual([1, 2, 'a', 3, 'b', 'c', 4]);
  });

  it('S-014: that does not read holds a bounded number of live events, and misses no record', async () => {
    const source = new Source();
    const items = source.follow(0);
    const first = items.next();
    await quiescence();
    source.commit(1);
    expect(await first).toMatchObject({ value: { item: { sequence: 1 } } });
    const held: WeakRef<LiveEvent>[] = [];
    let bytes = 0;
    for (let count = 0; count < 2_000; count += 1) {
      const event = delta('x'.repeat(1_000));
      held.push(new WeakRef(event));
      source.feed.live('one', source.records.length, event);
      if (count % 100 === 0) source.commit(1);
    }
    source.over = true;
    const reader = reading(items);
    source.feed.close();
    await reader.done;
    for (const one of reader.seen) if (one.kind === 'live' && 'text' in one.event.data) bytes += one.event.data.text.length;

    expect(bytes).toBeLessThanOrEqual(16 * 1024);
    expect(reader.sequences()).toEqual(source.records.slice(1).map(({ sequence }) => sequence));
  });

  it('S-014: that does not read holds a bounded number of live events without a word, too', async () => {
    const source = new Source();
    const items = source.follow(0);
    const first = items.next();
    await quiescence();
    source.commit(1);
    await first;
    for (let count = 0; count < 20_000; count += 1) {
      source.feed.live('one', 1, { type: 'tool_progress', message_sequence: 1, data: { started_sequence: 1, fraction: count / 20_000 } });
    }
    source.over = true;
    const reader = reading(items);
    source.feed.close();
    await reader.done;

    expect(reader.seen.length).toBeLessThanOrEqual(1024);
  });

  it('S-186, S-187: keeps what it is still to be shown, however much happens to other sessions meanwhile', async () => {
    const source = new Source();
    const items = source.follow(0);
    const first = items.next();
    await quiescence();
    source.commit(1);
    await first;
    const other = reading(source.feed.follow('other', new Source(), { after: 0, signal: null, isLive: true }));
    await quiescence();
    source.live('a');
    source.commit(2);
    for (let count = 0; count < 100; count += 1) {
      source.feed.committed('other', [record(count + 1)], 100_000);
      source.feed.live('other', count, delta('x'.repeat(10_000)));
    }
    const before = source.reads;
    const reader = reading(items);
    await quiescence();

    expect(reader.seen).toMatchObject([{ kind: 'live', event: delta('a') }, { item: { sequence: 2 } }, { item: { sequence: 3 } }]);
    expect(source.reads).toBe(before);
    source.feed.close();
    await Promise.all([reader.done, other.done]);
  });

  it('S-187: is not woken by the traffic of another session', async () => {
    const source = new Source();
    const reader = reading(source.follow(0));
    await quiescence();
    const before = source.reads;
    for (let count = 0; count < 100; count += 1) {
      source.feed.committed('other', [record(count + 1)], 10);
      source.feed.live('other', count, delta('x'));
      source.feed.lookAgain('other');
    }
    await quiescence();

    expect(source.reads).toBe(before);
    expect(reader.seen).toEqual([]);
  });

  it('reads nothing where it is known that nothing is there, and where what comes is kept for it', async () => {
    const source = new Source();
    source.commit(3);
    source.isKnown = true;
    const reader = reading(source.follow(3));
    await quiescence();
    for (let count = 0; count < 5; count += 1) {
      source.live('x');
      source.commit(2);
      await quiescence();
    }

    expect(reader.sequences()).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(source.reads).toBe(0);
  });

  it('is shown nothing that only passes by where it waits for records alone', async () => {
    const source = new Source();
    const reader = reading(source.feed.follow('one', source, { after: 0, signal: null, isLive: false }));
    await quiescence();
    source.live('a');
    source.commit(2);
    source.live('b');
    await quiescence();

    expect(reader.seen.map(({ kind }) => kind)).toEqual(['recorded', 'recorded']);
  });

  it('leaves nothing behind when it goes: no listener, and nobody that a commit is kept for', async () => {
    const source = new Source();
    const abort = new AbortController();
    const readers = Array.from({ length: 5 }, () => reading(source.follow(0, abort.signal)));
    for (let round = 0; round < 20; round += 1) {
      source.commit(1);
      source.live('x');
      await quiescence();
    }
    expect(getEventListeners(abort.signal, 'abort').length).toBeLessThanOrEqual(5);
    abort.abort();
    await Promise.all(readers.map(({ done }) => done));

    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    let touched = 0;
    const watched = new Proxy([record(21)], { get: (target, key, receiver) => ((touched += 1), Reflect.get(target, key, receiver) as unknown) });
    source.feed.committed('one', watched, 10);
    expect(touched).toBe(0);
  });

  it('ends with its session’s last record, with the feed, and where the session is gone even as it reads', async () => {
    const source = new Source();
    const ended = reading(source.follow(0));
    await quiescence();
    source.over = true;
    source.commit(2);
    await ended.done;
    expect(ended.sequences()).toEqual([1, 2]);

    source.over = false;
    const drained = reading(source.follow(0));
    await quiescence();
    expect(drained.state.ended).toBe(false);
    source.feed.close();
    await drained.done;

    const other = new Source();
    other.readSome = async () => {
      other.feed.gone('one');
      throw new Error('there is no such session');
    };
    const gone = reading(other.follow(0));
    await expect(gone.done).resolves.toBeUndefined();
  });

  it('fails with what its journal fails with, as long as its session is there', async () => {
    const source = new Source();
    source.readSome = async () => {
      throw new Error('the disk is on fire');
    };

    await expect(reading(source.follow(0)).done).rejects.toThrow('on fire');
  });
});
