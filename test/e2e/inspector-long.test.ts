/** The inspector on much: a session of 50,000 records, and a list of ten thousand sessions. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeRecord, payloadOf } from '../../services/record-codec.ts';
import { FileSessionStore } from '../../storage/file-session-store.ts';
import { NodeDisk } from '../../storage/node-disk.ts';
import { hasChromium } from '../support/chromium.ts';
import { inspectorsInOneBrowser, type Inspector } from '../support/inspector.ts';
import { journalOfTurns } from '../../bench/journal-of-turns.ts';
import { ServerProcess } from '../support/server-process.ts';

const isThere = await hasChromium();
const SESSION_ID = '019b7a5e6c00700080a1b2c3d4e5f607';
const TURNS = 3_334;
const RECORDS_PER_FRAME = 500;
/** What a person takes for immediate, and much more time than it needs, for a machine that has other things to do. */
const FIRST_VIEW_MS_MAX = 5_000;
const STEP_MS_MAX = 400;

describe.skipIf(!isThere)('the inspector on much', () => {
  let directory: string;
  let server: ServerProcess;
  let inspector: Inspector;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'brain-long-'));
  });

  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  afterEach(async () => {
    await server?.dispose();
  });

  // What is set up last is taken down first: a page before its server.
  const openInspector = inspectorsInOneBrowser();

  it('shows a session of 50,000 records at once, and steps to any of them without folding from the first', async () => {
    const count = await writeLongSession(directory);
    server = await ServerProcess.start({ dataDirectory: directory });
    await fetch(`${server.url}/v1/sessions/${SESSION_ID}`);

    const openedAt = performance.now();
    inspector = await openInspector(server.url, `#/sessions/${SESSION_ID}`);
    const { page } = inspector;
    await page.locator('.state[data-lit="true"][data-name="suspended"]').waitFor();
    const firstViewMs = performance.now() - openedAt;
    await page.locator('[data-connection="live"]').waitFor({ timeout: 120_000 });
    await inspector.settledAt(count);
    const wholeMs = performance.now() - openedAt;

    const steps: number[] = [];
    for (let step = 0; step < 25; step += 1) {
      const sequence = 1 + ((step * 7_919) % count);
      const steppedAt = performance.now();
      await page.getByRole('slider', { name: 'Record' }).fill(String(sequence));
      await inspector.settledAt(sequence);
      steps.push(performance.now() - steppedAt);
    }
    const median = steps.toSorted((left, right) => left - right)[12] ?? 0;
    console.log(`${count} records: first view ${Math.round(firstViewMs)} ms, all folded ${Math.round(wholeMs)} ms, a step ${Math.round(median)} ms, the longest ${Math.round(Math.max(...steps))} ms`);

    expect(count).toBeGreaterThan(50_000);
    expect(firstViewMs).toBeLessThan(FIRST_VIEW_MS_MAX);
    expect(median).toBeLessThan(STEP_MS_MAX);
    expect(await page.getByRole('option').count()).toBeLessThan(200);
  });

  it('lists ten thousand sessions with the rows in sight alone, and finds one of them', async () => {
    server = await ServerProcess.start();
    const created = await server.api.create();
    inspector = await openInspector(server.url, '#/sessions/none');
    const { page } = inspector;
    await page.route('**/v1/sessions?*', async (route) => {
      const after = new URL(route.request().url()).searchParams.get('after');
      const from = after === null ? 0 : Number.parseInt(after, 16) + 1;
      const sessions = Array.from({ length: 1_000 }, (_, index) => ({ ...created, session_id: (from + index).toString(16).padStart(32, '0') }));
      await route.fulfill({ json: { sessions, next_cursor: from + 1_000 < 10_000 ? sessions.at(-1)?.session_id : null } });
    });
    await page.getByRole('link', { name: 'Brain inspector' }).click();
    await page.getByText('10,000 sessions', { exact: true }).waitFor();

    expect(await page.getByRole('row').count()).toBeLessThan(60);
    await page.locator('.session-scroller').hover();
    await page.mouse.wheel(0, 1_000_000);
    await page.getByRole('link', { name: '0'.repeat(32) }).waitFor();
    await page.getByRole('searchbox').fill('0270f');
    await page.getByText('1 session', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: (9_999).toString(16).padStart(32, '0') }).count()).toBe(1);
  });
});

/** Answers how many records it has. */
async function writeLongSession(directory: string): Promise<number> {
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const store = await FileSessionStore.open({ disk: new NodeDisk(), path: directory, log });
  const journal = await store.create(SESSION_ID);
  const records = journalOfTurns(TURNS);
  for (let from = 0; from < records.length; from += RECORDS_PER_FRAME) {
    const some = records.slice(from, from + RECORDS_PER_FRAME);
    await journal.append({ firstSequence: from + 1, recordCount: some.length, payload: payloadOf(some.map(encodeRecord)) });
  }
  await journal.release();
  await store.close();
  return records.length;
}
