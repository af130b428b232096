/** The inspector in a browser, as a person uses it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { launchChromium } from '../../bench/chromium.ts';

export class Inspector {
  readonly page: Page;
  /** What the browser complained of: scripts that threw, and what the page's policy forbade. */
  readonly complaints: string[] = [];
  readonly #url: string;

  private constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) this.complaints.push(message.text());
    });
  }

  static async open(browser: Browser, url: string, hash = '#/', options: BrowserContextOptions = {}): Promise<Inspector> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
    const inspector = new Inspector(page, url);
    await inspector.go(hash);
    return inspector;
  }

  async go(hash: string): Promise<void> {
    await this.page.goto(`${this.#url}/inspector${hash}`);
  }

  /** Waits for the session to be shown as it was after a record, all of it folded. */
  async settledAt(sequence: number): Promise<void> {
    await this.page.locator(`main[data-sequence="${sequence}"][data-settled="true"]`).waitFor();
  }

  /** The state that the chart shows as lit, by the innermost one. */
  async litState(): Promise<string | null> {
    return this.page.locator('.state[data-lit="true"]:not(.state-outer)').getAttribute('data-name');
  }

  /** The transition that is drawn as just taken, `SOURCE>TARGET`; null where the record left the state as it was. */
  async takenTransition(): Promise<string | null> {
    const drawn = this.page.locator('.react-flow__edge:has(.transition[data-taken="true"] .transition-run)');
    return (await drawn.count()) === 0 ? null : drawn.getAttribute('data-id');
  }
}

/** Opens inspectors for the tests of the block that calls it: all in one browser, and each until its test is over. */
export function inspectorsInOneBrowser(): (url: string, hash?: string, options?: BrowserContextOptions) => Promise<Inspector> {
  let browser: Browser;
  const opened: Inspector[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });

  afterEach(async () => {
    for (const { page } of opened.splice(0)) await page.close();
  });

  afterAll(async () => {
    await browser?.close();
  });

  return async (url, hash, options) => {
    const inspector = await Inspector.open(browser, url, hash, options);
    opened.push(inspector);
    return inspector;
  };
}
