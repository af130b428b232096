/** What a long session costs: an opening, an append, a page, and its checkpoints. */
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/history.ts';
import { journalBytes, megabytes } from '../support/journal-size.ts';
import { calls, says } from '../support/openai-server.ts';
import { runsSlowTests } from '../support/slow-tests.ts';
import { Stage } from '../support/stage.ts';

describe('a long session', () => {
  let stage: Stage;
  afterEach(async () => stage.strike());

  it('S-016: of 50,000 records is opened, appended to and paged without reading it whole', async () => {
    stage = await Stage.set({
      model: ({ request }) => {
        const last = request.messages.at(-1);
        return last?.role === 'user' && last.content === 'fill'
          ? calls({ id: 'call_1', name: 'emit_many', arguments: '{"count":50000,"characters":100}' })
          : says('Noted.');
      },
      environment: { BRAIN_MAX_EMITTED_BYTES: '100000000' },
    });
    const { session_id: short } = await stage.create();
    const { session_id: long } = await stage.create({ tools: ['emit_many'] });
    await stage.api.send(short, 'hello');
    await stage.api.send(long, 'fill');
    await stage.api.send(long, 'hello');
    expect(await stage.server.stop()).toBe(0);
    await stage.server.start();
    const wholeJournal = await journalBytes(stage.server.dataDirectory, long);
    // What the process reads and writes the first time it does anything is not the session's.
    await stage.api.send(short, 'hello');

    const opening = await cost(async () => stage.api.session(long));
    const { last_sequence } = await stage.api.session(long);
    const paging = await cost(async () => stage.api.eventsPage(long, last_sequence - 10, 5));
    const appendingToShort = await cost(async () => stage.api.send(short, 'hello'));
    const appending = await cost(async () => stage.api.send(long, 'hello'));
    console.log(
      `${last_sequence} records in ${megabytes(wholeJournal)}: opening reads ${megabytes(opening.read)}, a page ` +
        `${megabytes(paging.read)}, a turn ${megabytes(appending.read)} and writes ${megabytes(appending.written)}`,
    );

    expect(last_sequence).toBeGreaterThan(50_000);
    expect(wholeJournal).toBeGreaterThan(5e6);
    expect(opening.read).toBeLessThan(wholeJournal / 4);
    expect(paging.read).toBeLessThan(wholeJournal / 4);
    expect(appending.read).toBeLessThan(appendingToShort.read + wholeJournal / 8);
    expect(appending.written).toBeLessThan(appendingToShort.written + 100_000);
    // Reading it whole does show in these figures.
    const reading = await cost(async () => stage.api.journal(long));
    expect(reading.read).toBeGreaterThan(wholeJournal);
  });

  it('S-017, S-020: of many turns writes in proportion to what they say, and needs none of its checkpoints', async () => {
    const turns = runsSlowTests ? 400 : 100;
    stage = await Stage.set({ model: () => says('A short answer.') });
    const { session_id: id } = await stage.create();
    await stage.api.send(id, 'turn 0');
    const before = await stage.server.transferredBytes();
    for (let turn = 1; turn < turns; turn++) await stage.api.send(id, `turn ${turn}`);
    const after = await stage.server.transferredBytes();
    const written = after.written - before.written;
    const requests = stage.model.calls.all.reduce((sum, { request }) => sum + JSON.stringify(request).length, 0);
    const journal = await journalBytes(stage.server.dataDirectory, id);
    console.log(`${turns} turns: ${megabytes(journal)} of journal; ${megabytes(written - requests)} written besides the model's requests`);

    // Journal, checkpoints and answers to clients, each about as much as the journal at most.
    expect(written - requests).toBeLessThan(4 * journal);
    expect(await checkpointBytes(id)).toBeLessThan(2 * journal);

    const transcript = await stage.api.transcript(id);
    const records = await stage.api.journal(id);
    expect(await stage.server.stop()).toBe(0);
    await removeCheckpoints();
    await stage.server.start();

    expect(await stage.api.transcript(id)).toEqual(transcript);
    expect(await stage.api.journal(id)).toEqual(records);
    expect(transcript).toHaveLength(2 * turns);
    expect(faultsOf(records)).toEqual([]);
    expect(await stage.api.send(id, 'one more')).toMatchObject({ outcome: 'ended' });
  });

  async function cost(act: () => Promise<unknown>): Promise<{ readonly read: number; readonly written: number }> {
    const before = await stage.server.transferredBytes();
    await act();
    const after = await stage.server.transferredBytes();
    return { read: after.read - before.read, written: after.written - before.written };
  }

  async function checkpointBytes(id: string): Promise<number> {
    const folder = path.join(stage.server.dataDirectory, 'sessions', id);
    const names = (await readdir(folder)).filter((name) => name.startsWith('checkpoint'));
    const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async function removeCheckpoints(): Promise<void> {
    const sessions = path.join(stage.server.dataDirectory, 'sessions');
    for (const id of await readdir(sessions)) await rm(path.join(sessions, id, 'checkpoint'), { force: true });
  }
});
