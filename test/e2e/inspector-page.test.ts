/** The inspector as a page: for whoever sees little or has no mouse, and against what a session's contents could do to it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Locator } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { eventually } from '../support/eventually.ts';
import { inspectorsInOneBrowser, type Inspector } from '../support/inspector.ts';
import { calls, says } from '../support/openai-server.ts';
import { Stage } from '../support/stage.ts';
import { createToken } from '../support/token-command.ts';

const isThere = await hasChromium();
const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MARKUP = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script><b>bold</b>`;
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;

describe.skipIf(!isThere)('the inspector as a page', () => {
  let stage: Stage;
  let inspector: Inspector;

  afterEach(async () => {
    await stage?.strike();
  });

  // What is set up last is taken down first: a page before its server.
  const openInspector = inspectorsInOneBrowser();

  it('breaks no rule of accessibility, in light and dark, wide and narrow, and is not wider than its window', async () => {
    const id = await sessionWithTools();
    const violations: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of SIZES) {
        for (const hash of ['#/', `#/sessions/${id}`, `#/sessions/${id}/at/11`]) {
          // The rules are put into the page, which its policy would not let in.
          inspector = await openInspector(stage.server.url, hash, { colorScheme, viewport, bypassCSP: true });
          await inspector.page.locator(hash === '#/' ? '.session-id' : '[data-settled="true"]').first().waitFor();
          const where = `${hash.replace(id, 'ID')} ${colorScheme} ${viewport.width}`;
          violations.push(...(await axeViolations(inspector)).map((violation) => `${where}: ${violation}`));
          // What there is no room for beside the chart is shown in its place.
          for (const part of viewport.width < 800 && hash.includes('/at/') ? ['Journal', 'State', 'Timeline'] : []) {
            await inspector.page.getByRole('button', { name: part, exact: true }).click();
            violations.push(...(await axeViolations(inspector)).map((violation) => `${where} ${part}: ${violation}`));
          }
          expect(await inspector.page.evaluate<number>('document.documentElement.scrollWidth'), where).toBeLessThanOrEqual(viewport.width);
          await inspector.page.close();
        }
      }
    }

    expect(violations).toEqual([]);
  });

  it('shows markup in messages, tool calls, results and metadata as text', async () => {
    stage = await Stage.set({
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'look', arguments: JSON.stringify({ at: MARKUP }) }) : says(MARKUP)),
      tools: [{ name: 'look' }],
      tool: () => MARKUP,
    });
    const { session_id: id } = await stage.create({ metadata: { team: MARKUP.slice(0, 60) } });
    await stage.api.send(id, MARKUP);
    const records = await stage.api.journal(id);
    inspector = await openInspector(stage.server.url, '#/');
    await inspector.page.getByText(MARKUP.slice(0, 60)).waitFor();
    for (const { sequence } of records) {
      await inspector.go(`#/sessions/${id}/at/${sequence}`);
      await inspector.settledAt(sequence);
    }

    expect(await inspector.page.locator('.transcript').innerText()).toContain(MARKUP);
    expect(await inspector.page.title()).toBe('Brain inspector');
    expect(await inspector.page.locator('main img, main script, main b:not(.travel-place b)').count()).toBe(0);
    expect(inspector.complaints).toEqual([]);
  });

  it('is worked with the keyboard alone: to a session, through its records, to its actions', async () => {
    const id = await sessionWithTools();
    inspector = await openInspector(stage.server.url, '#/');
    const { page } = inspector;
    await page.getByRole('link', { name: id }).waitFor();
    await tabTo(inspector, page.getByRole('link', { name: id }));
    await page.keyboard.press('Enter');
    await page.locator('[data-settled="true"]').waitFor();

    await tabTo(inspector, page.getByRole('listbox', { name: 'Records' }));
    await page.keyboard.press('Home');
    await inspector.settledAt(1);
    await page.keyboard.press('ArrowDown');
    await inspector.settledAt(2);
    await page.keyboard.press('PageDown');
    expect(await page.getByRole('listbox').getByRole('option', { selected: true }).innerText()).toContain('turn_ended');
    await tabTo(inspector, page.getByRole('textbox', { name: 'Message' }));
    await page.keyboard.type('And at night?');
    await page.keyboard.press('Enter');

    await page.getByText('And at night?').first().waitFor();
  });

  it('opens the transcript at its end, on a narrow page too, where it was not shown before', async () => {
    stage = await Stage.set({ model: () => says('It is blue.\n'.repeat(200)) });
    const { session_id: id } = await stage.create();
    await stage.api.send(id, 'What colour is the sky?');
    for (const viewport of SIZES) {
      inspector = await openInspector(stage.server.url, `#/sessions/${id}`, { viewport });
      const { page } = inspector;
      await page.locator('[data-settled="true"]').waitFor();
      if (viewport.width < 800) await page.getByRole('button', { name: 'State', exact: true }).click();

      await eventually(async () => {
        const below = await page.evaluate<number>(`(({ scrollTop, clientHeight, scrollHeight }) => scrollTop > 0 ? scrollHeight - clientHeight - scrollTop : Infinity)(document.querySelector('.transcript'))`);
        return below <= 1 ? true : undefined;
      }, `the end of the transcript is in sight, ${viewport.width} wide`);
      await page.close();
    }
  });

  it('shows whole what is chosen in a list of choices, and what a search asks for, wide and narrow', async () => {
    const id = await sessionWithTools();
    const cut: string[] = [];
    for (const viewport of SIZES) {
      inspector = await openInspector(stage.server.url, `#/sessions/${id}`, { viewport });
      await inspector.page.locator('[data-settled="true"]').waitFor();
      if (viewport.width < 800) await inspector.page.getByRole('button', { name: 'Journal', exact: true }).click();
      for (const control of await inspector.page.locator('select:visible, input[type="search"]:visible').all()) {
        const name = await control.getAttribute('aria-label');
        const width = (await control.boundingBox())?.width ?? 0;
        // As wide as what is chosen, or as what it asks for.
        await control.evaluate((element: { readonly style: { cssText: string } }) => {
          element.style.cssText = 'flex: none; width: max-content; max-width: none; field-sizing: content';
        });
        const needed = (await control.boundingBox())?.width ?? Number.POSITIVE_INFINITY;
        if (width < needed - 1) cut.push(`${viewport.width} ${name}: ${width} of ${needed}`);
      }
      await inspector.page.close();
    }

    expect(cut).toEqual([]);
  });

  it('asks for the token that is missing, says when one is not enough, and keeps it in the tab', async () => {
    stage = await Stage.set({ model: () => says('Hello.'), environment: { BRAIN_API_KEY: 'the-key-of-the-server' } });
    const authorization = { authorization: 'Bearer the-key-of-the-server' };
    const created = await fetch(`${stage.server.url}/v1/sessions`, { method: 'POST', headers: authorization });
    const { session_id: id } = (await created.json()) as { readonly session_id: string };
    inspector = await openInspector(stage.server.url, `#/sessions/${id}`);
    const { page } = inspector;

    await page.getByRole('alert').getByText('needs a token').waitFor();
    const narrow = await createToken({ BRAIN_DATA_DIR: stage.server.dataDirectory }, '--tenant', 'local', '--scope', 'read');
    await enter(narrow);
    await page.getByRole('alert').getByText('token that may manage').waitFor();
    await enter('the-key-of-the-server');
    await inspector.settledAt(2);
    await page.reload();
    await inspector.settledAt(2);

    expect(await page.evaluate('localStorage.length')).toBe(0);
    await page.getByRole('button', { name: 'Forget the token' }).click();
    await page.getByRole('alert').getByText('needs a token').waitFor();
  });

  async function enter(token: string): Promise<void> {
    await inspector.page.getByLabel('Token').fill(token);
    await inspector.page.getByRole('button', { name: 'Use it' }).click();
  }

  async function sessionWithTools(): Promise<string> {
    stage = await Stage.set({
      model: (call) => (call.index % 2 === 0 ? calls({ id: 'call_1', name: 'look', arguments: '{"at":"sky"}' }) : says('It is blue.')),
      tools: [{ name: 'look' }],
      tool: () => 'blue',
    });
    const { session_id: id } = await stage.create({ metadata: { team: 'red' } });
    await stage.api.send(id, 'What colour is the sky?');
    return id;
  }
});

async function tabTo({ page }: Inspector, target: Locator): Promise<void> {
  const focused = target.and(page.locator(':focus'));
  for (let presses = 0; presses < 60; presses += 1) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('the keyboard does not get there');
}

async function axeViolations({ page }: Inspector): Promise<readonly string[]> {
  await page.addScriptTag({ content: AXE });
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
