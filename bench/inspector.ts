/** The inspector on a session of 50,000 records, in a browser: until it shows the session, and a step of its slider. */
import type { Page } from 'playwright-core';
import { dataDirectory, type Bench } from './bench.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { journalOfTurns, RECORDS_PER_TURN } from './journal-of-turns.ts';
import { writeJournals } from './journal-writer.ts';
import { timed } from './load.ts';
import { ServerUnderTest } from './server-under-test.ts';
import { spreadOf } from './statistics.ts';

const RECORDS = 50_000;
const STEPS = 25;
/** A prime: the steps go far, and nowhere twice. */
const STEP = 7_919;
const FOLDED_MS_MAX = 120_000;

export async function measureInspector(bench: Bench): Promise<void> {
  const { findings, isLong } = bench;
  try {
    await findChromium();
  } catch {
    findings.note('left out: the inspector; there is no chromium here');
    return;
  }
  const directory = await dataDirectory(bench);
  const records = journalOfTurns(Math.ceil(RECORDS / RECORDS_PER_TURN));
  const [id = ''] = await writeJournals({ directory, sessions: 1, records });
  const server = await ServerUnderTest.start({ dataDirectory: directory, modelUrl: bench.model.client.url });
  await server.client.get(`/v1/sessions/${id}`);
  const browser = await launchChromium();
  for (let round = 0; round < (isLong ? 5 : 1); round += 1) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const firstView = await timed(async () => {
      await page.goto(`${server.client.url}/inspector#/sessions/${id}`);
      await page.locator('.state[data-lit="true"][data-name="suspended"]').waitFor();
    });
    await page.locator('[data-connection="live"]').waitFor({ timeout: FOLDED_MS_MAX });
    findings.add('inspector_first_view', firstView);
    findings.add('inspector_step', await stepMs(page, records.length));
    await page.close();
  }
  await browser.close();
  await server.stop();
}

/** The middle of some steps, each until all of the page shows the record. */
async function stepMs(page: Page, last: number): Promise<number> {
  await settledAt(page, last);
  const slider = page.getByRole('slider', { name: 'Record' });
  const steps: number[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const sequence = 1 + ((step * STEP) % last);
    steps.push(
      await timed(async () => {
        await slider.fill(String(sequence));
        await settledAt(page, sequence);
      }),
    );
  }
  return spreadOf(steps)?.middle ?? 0;
}

async function settledAt(page: Page, sequence: number): Promise<void> {
  await page.locator(`main[data-sequence="${sequence}"][data-settled="true"]`).waitFor();
}
