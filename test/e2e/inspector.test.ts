/** The inspector in a real browser, on the built server. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { chartGraph, edgeTaken } from '../../http/inspector/chart/chart-graph.ts';
import type { SessionRecord } from '../../machines/records.ts';
import { SessionState } from '../../machines/replay.ts';
import { hasChromium } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { inspectorsInOneBrowser, type Inspector } from '../support/inspector.ts';
import { LifecycleApi } from '../support/lifecycle-api.ts';
import { calls, says, silence } from '../support/openai-server.ts';
import { flipped } from '../support/segments.ts';
import { Stage } from '../support/stage.ts';

const isThere = await hasChromium();

describe.skipIf(!isThere)('the inspector', () => {
  let stage: Stage;
  let inspector: Inspector;

  afterEach(async () => {
    await stage?.strike();
  });

  // What is set up last is taken down first: a page before its server.
  const openInspector = inspectorsInOneBrowser();

  it('lists sessions and opens one of them', async () => {
    stage = await Stage.set({ model: () => says('Hello.') });
    const { session_id: id } = await stage.create({ metadata: { team: 'red' } });
    await stage.create({ metadata: { team: 'blue' } });
    inspector = await openInspector(stage.server.url);
    const { page } = inspector;
    await page.getByText('2 sessions').waitFor();

    await page.getByRole('searchbox').fill('team=red');
    await page.getByText('1 session', { exact: true }).waitFor();
    await page.getByRole('link', { name: id }).click();

    await inspector.settledAt(2);
    expect(await inspector.litState()).toBe('suspended');
    expect(inspector.complaints).toEqual([]);
  });

  it('shows at each record of a journal the state that the charts give in Node', async () => {
    stage = await Stage.set({
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'look', arguments: '{"at":"sky"}' }) : says('It is blue.')),
      tools: [{ name: 'look' }],
      tool: () => 'blue',
    });
    const { session_id: id } = await stage.create();
    await stage.api.send(id, 'What colour is the sky?');
    await stage.api.send(id, 'Thank you.');
    const records = (await stage.api.journal(id)) as unknown as readonly SessionRecord[];
    inspector = await openInspector(stage.server.url, `#/sessions/${id}`);
    await inspector.settledAt(records.length);
    const slider = inspector.page.getByRole('slider', { name: 'Record' });
    await slider.focus();
    await slider.press('Home');

    const chart = chartGraph();
    const state = SessionState.empty();
    for (const record of records) {
      const taken = edgeTaken(chart, { from: state.state, to: record.state, type: record.type });
      state.apply(record);
      if (record.sequence > 1) await slider.press('ArrowRight');
      await inspector.settledAt(record.sequence);

      expect(await inspector.litState(), `record ${record.sequence}`).toBe(state.state);
      expect(await inspector.takenTransition(), `record ${record.sequence}`).toBe(taken);
      expect(await shownState(inspector), `record ${record.sequence}`).toEqual({
        queue: state.context.queue.length,
        open: state.context.open.length,
        transcript: state.transcript.length,
        keyValues: state.keyValues.snapshot().values.length,
      });
    }
    expect(new URL(inspector.page.url()).hash).toBe(`#/sessions/${id}/at/${records.length}`);
  });

  it('follows a turn: the lit state changes as records come, and a message is sent and interrupted from the page', async () => {
    stage = await Stage.set({ model: silence });
    const { session_id: id } = await stage.create();
    inspector = await openInspector(stage.server.url, `#/sessions/${id}`);
    const { page } = inspector;
    await inspector.settledAt(2);

    await page.getByRole('textbox', { name: 'Message' }).fill('think');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await stage.model.calls.at(0);
    await page.locator('[data-lit="true"][data-name="running.working"]').waitFor();
    await page.getByText(/The session waits for the model openai\/scripted/).waitFor();
    const queued = page.locator('[data-facts="queue"] li');
    await new LifecycleApi(stage.server.url).send(id, 'and then');
    await queued.filter({ hasText: /and then\s*\d+ m?s/ }).waitFor();
    await page.getByRole('button', { name: 'Interrupt' }).click();

    await page.locator('[data-lit="true"][data-name="suspended"]').waitFor();
    await page.getByText('No message waits.').waitFor();
    expect((await stage.api.journal(id)).map(({ type }) => type)).toContain('turn_cancel_requested');
    expect(inspector.complaints).toEqual([]);
  });

  it('frees a session that holds, and ends it once that is confirmed', async () => {
    stage = await Stage.set({ model: silence });
    const { session_id: id } = await stage.create({ after_stop: 'hold' });
    await stage.api.submit(id, 'think');
    await stage.model.calls.at(0);
    inspector = await openInspector(stage.server.url, `#/sessions/${id}`);
    const { page } = inspector;

    await page.getByRole('button', { name: 'Interrupt' }).click();
    await page.locator('[data-lit="true"][data-name="interrupted"]').waitFor();
    await page.getByText(/stopped at .* with its turn, cancelled/).first().waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('[data-lit="true"][data-name="suspended"]').waitFor();
    await page.getByRole('button', { name: 'End…' }).click();
    expect((await stage.api.session(id)).status).toBe('idle');
    await page.getByRole('button', { name: 'End it for good' }).click();

    await page.locator('[data-lit="true"][data-name="ended"]').waitFor();
    await page.getByText('complete: nothing more will come').waitFor();
  });

  it('says of a damaged session what is wrong in which file and where, and shows the others', async () => {
    stage = await Stage.set({ model: () => says('Hello.') });
    const { session_id: damaged } = await stage.create();
    const { session_id: healthy } = await stage.create();
    await stage.api.send(damaged, 'hello');
    await stage.server.kill();
    const folder = path.join(stage.server.dataDirectory, 'sessions', damaged, 'journal');
    const file = path.join(folder, (await readdir(folder))[0] ?? '');
    await writeFile(file, flipped(await readFile(file), 8 * 200));
    await stage.server.start();
    inspector = await openInspector(stage.server.url);
    const { page } = inspector;

    await page.getByRole('row').filter({ hasText: damaged }).getByText('damaged', { exact: true }).waitFor();
    await page.getByRole('link', { name: damaged }).click();
    await page.getByRole('alert').getByText(new RegExp(`sessions/${damaged}/journal/\\S+, at byte \\d+`)).waitFor();
    await inspector.go(`#/sessions/${healthy}`);
    await inspector.settledAt(2);
  });

  it('says that the server is gone, and goes on by itself when it is back', async () => {
    stage = await Stage.set({ model: () => says('Hello.') });
    const { session_id: id } = await stage.create();
    for (const message of ['one', 'two', 'three']) await stage.api.send(id, message);
    inspector = await openInspector(stage.server.url, `#/sessions/${id}`);
    await inspector.settledAt((await stage.api.journal(id)).length);
    const { port } = new URL(stage.server.url);

    await stage.server.kill();
    await inspector.page.getByRole('alert').getByText(/does not answer/).waitFor();
    const isWholeInSight = `(({ bottom }, list) => bottom <= list.bottom)(...['[aria-selected="true"]', '.journal'].map((of) => document.querySelector(of).getBoundingClientRect()))`;
    await eventually(async () => ((await inspector.page.evaluate<boolean>(isWholeInSight)) ? true : undefined), 'what is said leaves the record in sight');
    await stage.server.start({}, Number(port));

    await eventually(async () => ((await inspector.page.getByRole('alert').count()) === 0 ? true : undefined), 'the page is live again');
    await stage.api.send(id, 'Are you there?');
    await inspector.page.getByText('Are you there?').first().waitFor();
  });
});

/** What the headings beside the chart count. */
async function shownState({ page }: Inspector): Promise<Readonly<Record<string, number>>> {
  const countIn = async (heading: string): Promise<number> => Number(await page.getByRole('heading', { name: heading }).locator('small').innerText());
  return {
    queue: await countIn('Queue'),
    open: await countIn('Open effects'),
    transcript: await countIn('Transcript'),
    keyValues: await countIn('Key-values'),
  };
}
