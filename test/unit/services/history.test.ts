/** Pages, replays and live readers tell one history. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventPage, recordPage, someRecords } from '../../../services/history.ts';
import { encodeRecord, payloadOf } from '../../../services/record-codec.ts';
import type { SessionRecord } from '../../../machines/records.ts';
import type { PublicEvent } from '../../../machines/projections/public-events.ts';
import type { Journal } from '../../../storage/journal.ts';
import { MemorySessionStore } from '../../../storage/memory-journal.ts';
import { plan } from '../../support/disk-faults.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { TENANT } from '../../support/living-brain.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import { RETURNED, TurnStage } from '../../support/turn-stage.ts';

const MIB = 1024 * 1024;

async function pagesOf(stage: TurnStage, limit: number, from = 0): Promise<readonly PublicEvent[]> {
  const events: PublicEvent[] = [];
  for (let after = from; ; ) {
    const { items, next_cursor } = await stage.brain.sessions.events(TENANT, stage.sessionId, { after, limit });
    events.push(...items);
    if (next_cursor === after) return events;
    after = next_cursor;
  }
}

describe('a session’s history', () => {
  it('S-029, S-176, S-178, S-185: is the same in pages, in a replay and for a live reader, from any cursor, whatever was done, with faults between', async () => {
    const anyAct = fc.oneof(
      fc.record({ act: fc.constant('emit' as const), size: fc.nat({ max: 300 }) }),
      fc.record({ act: fc.constant('kv' as const) }),
      fc.record({ act: fc.constant('together' as const), count: fc.integer({ min: 2, max: 6 }) }),
      fc.record({ act: fc.constant('fault' as const) }),
      fc.record({ act: fc.constant('fail' as const) }),
      fc.record({ act: fc.constant('follow' as const) }),
    );
    const anyTurns = fc.array(fc.array(anyAct, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(anyTurns, fc.integer({ min: 1, max: 5 }), fc.nat(), async (turns, limit, cursor) => {
        const readers: LiveReader[] = [];
        const stage = await TurnStage.set(async () => RETURNED);
        const follow = async (after: number): Promise<void> => void readers.push(await LiveReader.of(stage.brain.sessions, stage.sessionId, after));
        await follow(0);
        for (const acts of turns) {
          stage.play(async (_input, host) => {
            for (const one of acts) {
              if (one.act === 'emit') await host.emit('acme.note', 'x'.repeat(one.size));
              if (one.act === 'kv') await host.kv.put('key', 1);
              if (one.act === 'together') await Promise.all(Array.from({ length: one.count }, () => host.emit('acme.many', 1)));
              if (one.act === 'fault') plan(stage.brain.disk, { kinds: ['sync'], sessionId: stage.sessionId, times: 1 }, { fails: 'EIO' });
              if (one.act === 'fail') throw new Error('no');
              if (one.act === 'follow') await follow(0);
            }
            return RETURNED;
          });
          await stage.send().catch(() => undefined);
        }
        stage.brain.disk.plan = () => undefined;
        await quiescence();
        await stage.brain.sessions.end(TENANT, stage.sessionId);
        await Promise.all(readers.map(({ ended }) => ended));

        const whole = await pagesOf(stage, 1_000);
        for (const reader of readers) {
          // One that the disk failed comes again, from the last that it saw.
          if (reader.error !== null) expect(reader.error).toMatchObject({ code: 'journal_unavailable' });
          const again = await LiveReader.of(stage.brain.sessions, stage.sessionId, reader.recorded.at(-1)?.sequence ?? 0);
          await again.ended;
          expect([...reader.recorded, ...again.recorded]).toEqual(whole);
        }
        expect(await pagesOf(stage, limit)).toEqual(whole);
        const after = cursor % ((whole.at(-1)?.sequence ?? 0) + 1);
        const late = await LiveReader.of(stage.brain.sessions, stage.sessionId, after);
        await late.ended;
        expect(late.recorded).toEqual(whole.filter(({ sequence }) => sequence > after));
        expect(await pagesOf(stage, limit, after)).toEqual(late.recorded);
        expect((await stage.brain.journal(stage.sessionId)).map(({ sequence }, index) => sequence - index)).toEqual(
          Array.from({ length: (await stage.brain.journal(stage.sessionId)).length }, () => 1),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('refuses a cursor that no event of the session can have', async () => {
    const stage = await TurnStage.set(async () => RETURNED);
    const { sessions } = stage.brain;
    const signal = new AbortController().signal;
    for (const ask of [
      () => sessions.events(TENANT, stage.sessionId, { after: 3, limit: 1 }),
      () => sessions.journal(TENANT, stage.sessionId, { after: 3, limit: 1 }),
      () => sessions.followEvents(TENANT, stage.sessionId, 3, signal),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
    await expect(sessions.events(TENANT, stage.sessionId, { after: 2, limit: 1 })).resolves.toEqual({ items: [], next_cursor: 2 });
  });
});

/** A journal of frames, each of records with so many bytes of data. */
async function journalOf(...frames: readonly (readonly { readonly type: 'extension_emitted' | 'kv_put'; readonly bytes: number }[])[]): Promise<Journal> {
  const journal = await new MemorySessionStore().create('0'.repeat(32));
  for (const frame of frames) {
    const firstSequence = journal.lastSequence + 1;
    const encoded = frame.map(({ type, bytes }, index) => {
      const text = 'x'.repeat(bytes);
      const data = type === 'kv_put' ? { message_sequence: 1, key: 'key', value: text } : { message_sequence: 1, name: 'acme.note', data: text };
      return encodeRecord({ sequence: firstSequence + index, recorded_at: 0, type, state: 'running.working', data } as SessionRecord);
    });
    await journal.append({ firstSequence, recordCount: frame.length, payload: payloadOf(encoded) });
  }
  return journal;
}

describe('a page', () => {
  it('S-180: covers 8 MiB of frames, private ones too: it may be empty, and its cursor advances', async () => {
    const privately = Array.from({ length: 5 }, () => [{ type: 'kv_put' as const, bytes: 3 * MIB }]);
    const journal = await journalOf(...privately, [{ type: 'extension_emitted', bytes: 10 }]);

    expect(await eventPage(journal, { after: 0, limit: 10 })).toEqual({ items: [], next_cursor: 2 });
    expect(await eventPage(journal, { after: 2, limit: 10 })).toEqual({ items: [], next_cursor: 4 });
    expect(await eventPage(journal, { after: 4, limit: 10 })).toMatchObject({ items: [{ sequence: 6 }], next_cursor: 6 });
    expect(await eventPage(journal, { after: 6, limit: 10 })).toEqual({ items: [], next_cursor: 6 });
  });

  it('S-181: is exactly the next event where that alone is over the bound, although its frame holds more', async () => {
    const journal = await journalOf(
      [{ type: 'extension_emitted', bytes: 10 }],
      [{ type: 'kv_put', bytes: 10 }, { type: 'extension_emitted', bytes: 9 * MIB }, { type: 'extension_emitted', bytes: 10 }],
      [{ type: 'extension_emitted', bytes: 10 }],
    );

    expect(await eventPage(journal, { after: 0, limit: 10 })).toMatchObject({ items: [{ sequence: 1 }], next_cursor: 1 });
    expect(await eventPage(journal, { after: 1, limit: 10 })).toMatchObject({ items: [{ sequence: 3 }], next_cursor: 3 });
    const rest = [...(await eventPage(journal, { after: 3, limit: 10 })).items, ...(await eventPage(journal, { after: 4, limit: 10 })).items];
    expect(rest.map(({ sequence }) => sequence)).toEqual([4, 5]);
  });

  it('S-179: stops at its limit inside a frame, and goes on after it', async () => {
    const journal = await journalOf(Array.from({ length: 10 }, () => ({ type: 'extension_emitted' as const, bytes: 1 })));

    expect(await recordPage(journal, { after: 0, limit: 4 })).toMatchObject({ next_cursor: 4, items: { length: 4 } });
    expect(await eventPage(journal, { after: 4, limit: 4, types: ['acme.note'] })).toMatchObject({ next_cursor: 8, items: { length: 4 } });
    expect(await eventPage(journal, { after: 4, limit: 4, types: ['other.type'] })).toEqual({ items: [], next_cursor: 10 });
  });

  it('that a follower takes at once is a few small frames, or one large', async () => {
    const journal = await journalOf(
      ...Array.from({ length: 10 }, () => [{ type: 'kv_put' as const, bytes: 30_000 }]),
      [{ type: 'kv_put', bytes: 2 * MIB }],
    );

    expect((await someRecords(journal, 0)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect((await someRecords(journal, 10)).map(({ sequence }) => sequence)).toEqual([11]);
    expect(await someRecords(journal, 11)).toEqual([]);
  });
});
