/**
 * The built commands that look at a data directory without a server: one that was killed in the middle of a turn, with a
 * torn and a damaged journal beside.
 */
import { createHash } from 'node:crypto';
import { cp, lstat, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../bench/chromium.ts';
import { hasChromium } from '../support/chromium.ts';
import { Inspector } from '../support/inspector.ts';
import { runBrain, runInShell, runWithNpx, startInspection } from '../support/brain-command.ts';
import type { JournalRecord } from '../support/brain-api.ts';
import { says, silence } from '../support/openai-server.ts';
import { Stage } from '../support/stage.ts';

const SEGMENT = '0000000000000001.segment';

const isBrowserThere = await hasChromium();

let directory: string;
let ended: string;
let running: string;
let torn: string;
let damaged: string;
let written: ReadonlyMap<string, readonly JournalRecord[]>;

const segmentOf = (id: string): string => path.join(directory, 'sessions', id, 'journal', SEGMENT);

beforeAll(async () => {
  const stage = await Stage.set({ model: (call) => (JSON.stringify(call.request).includes('think') ? silence(call) : says('Good.')) });
  directory = await mkdtemp(path.join(tmpdir(), 'brain-inspection-'));
  try {
    const ids: string[] = [];
    for (const message of ['x'.repeat(500_000), 'think', 'torn', 'damaged']) {
      const { session_id: id } = await stage.create({ tools: [] });
      ids.push(id);
      await (message === 'think' ? stage.api.submit(id, message) : stage.api.send(id, message));
    }
    [ended = '', running = '', torn = '', damaged = ''] = ids;
    await stage.model.calls.at(3);
    written = new Map(await Promise.all(ids.map(async (id) => [id, await stage.api.journal(id)] as const)));
    await stage.server.kill();
    await cp(stage.server.dataDirectory, directory, { recursive: true });
  } finally {
    await stage.strike();
  }
  await truncate(segmentOf(torn), (await lstat(segmentOf(torn))).size - 3);
  const bytes = await readFile(segmentOf(damaged));
  // In its last frame, whose end is the file's.
  bytes[bytes.length - 9] = (bytes[bytes.length - 9] ?? 0) ^ 1;
  await writeFile(segmentOf(damaged), bytes);
});
afterAll(async () => rm(directory, { recursive: true, force: true }));

/** Of everything in the directory: what it is, its bytes, and when it was last changed. */
async function everything(at = directory): Promise<ReadonlyMap<string, string>> {
  const names = ['.', ...(await readdir(at, { recursive: true }))].toSorted();
  return new Map(
    await Promise.all(
      names.map(async (name) => {
        const file = path.join(at, name);
        const { mode, size, mtimeNs, ctimeNs, ino } = await lstat(file, { bigint: true });
        const bytes = (await lstat(file)).isFile() ? createHash('sha256').update(await readFile(file)).digest('hex') : '';
        return [name, [mode, size, mtimeNs, ctimeNs, ino, bytes].join(' ')] as const;
      }),
    ),
  );
}

describe('brain inspect', () => {
  it('shows every session as it lies there, the one that was killed in its turn as running, and changes no byte and no time', async () => {
    const before = await everything();
    const inspection = await startInspection(directory);
    const { sessions } = await inspection.api.sessions();
    const pages = await Promise.all([ended, running].map((id) => inspection.api.journal(id)));
    const readable = await Promise.all([torn, damaged].map((id) => inspection.api.journal(id)));
    const looks = await Promise.all([running, torn, damaged].map((id) => inspection.api.request('GET', `/v1/sessions/${id}`)));
    const refused = await inspection.api.request('POST', `/v1/sessions/${ended}/messages`, { input: 'more' });
    const page = await fetch(`${inspection.api.url}/inspector`);
    const code = await inspection.end();

    expect(sessions.map(({ session_id }) => session_id)).toEqual([ended, running, torn, damaged]);
    expect(sessions).toMatchObject([{ status: 'idle' }, { status: 'running' }, {}, { damaged: true }]);
    expect(pages).toEqual([written.get(ended), written.get(running)]);
    expect(readable.map((records) => records.length > 1)).toEqual([true, true]);
    expect(readable).toEqual([torn, damaged].map((id, index) => written.get(id)?.slice(0, readable[index]?.length)));
    expect(looks[0]?.body).toMatchObject({ explanation: expect.stringMatching(/^The session waits for the model openai\/scripted since /) });
    expect(looks[1]?.body).toMatchObject({ explanation: expect.stringMatching(/The last \d+ bytes of sessions\/.*, from byte \d+ on, are an incomplete write/) });
    expect(looks[2]).toMatchObject({
      status: 500,
      body: { error: { code: 'journal_corrupt', details: { file: `sessions/${damaged}/journal/${SEGMENT}`, offset: expect.any(Number) } } },
    });
    expect(refused.status).toBe(405);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(code).toBe(0);
    expect(await everything()).toEqual(before);
  });

  it('opens a copy of one session, whatever the copy is called', async () => {
    const copy = await mkdtemp(path.join(tmpdir(), 'brain-copy-'));
    try {
      await cp(path.join(directory, 'sessions', ended), copy, { recursive: true });
      const before = await everything(copy);
      const inspection = await startInspection(copy);
      expect((await inspection.api.sessions()).sessions).toMatchObject([{ session_id: ended, status: 'idle' }]);
      expect(await inspection.api.journal(ended)).toEqual(written.get(ended));
      await inspection.end();
      expect(await everything(copy)).toEqual(before);
    } finally {
      await rm(copy, { recursive: true });
    }
  });

  it('looks at the directory of a living server, which goes on', async () => {
    const stage = await Stage.set({ model: () => says('Good.') });
    try {
      const { session_id: id } = await stage.create({ tools: [] });
      const inspection = await startInspection(stage.server.dataDirectory);
      for (const message of ['one', 'two']) {
        await stage.api.send(id, message);
        expect(await inspection.api.journal(id)).toEqual(await stage.api.journal(id));
      }
      expect(await inspection.end()).toBe(0);
    } finally {
      await stage.strike();
    }
  });

  it('refuses in one line what it cannot show, and an address that others reach', async () => {
    expect(await runBrain('inspect', path.join(directory, 'nothing'))).toMatchObject({ code: 64, errors: expect.stringMatching(/^\S+ does not exist\n$/) });
    expect(await runBrain('inspect', directory, '--listen', '0.0.0.0:0')).toMatchObject({ code: 64, output: '' });
    expect(await runBrain('inspect')).toMatchObject({ code: 64, output: '' });
  });
});

describe.skipIf(!isBrowserThere)('the inspector over a directory without a server', () => {
  it('shows the turn that was broken off as it stands, and of a damaged session why it is, and the records before that', async () => {
    const inspection = await startInspection(directory);
    const browser = await launchChromium();
    try {
      const inspector = await Inspector.open(browser, inspection.api.url, `#/sessions/${running}`);
      await inspector.settledAt(written.get(running)?.length ?? 0);
      expect(await inspector.litState()).toBe('running.working');
      await inspector.page.getByText('read-only: as it was when the page was loaded').waitFor();
      const actions = inspector.page.getByRole('region', { name: 'Do' });
      expect(await actions.getByRole('textbox').getAttribute('placeholder')).toMatch(/^Read-only: /);
      for (const control of await actions.locator('button, textarea').all()) expect(await control.isDisabled()).toBe(true);

      const readable = await inspection.api.journal(damaged);
      await inspector.go(`#/sessions/${damaged}`);
      await inspector.page.getByText(`In sessions/${damaged}/journal/${SEGMENT}, at byte`).waitFor();
      await inspector.settledAt(readable.length);
      expect(readable.length).toBeLessThan(written.get(damaged)?.length ?? 0);
      expect(inspector.complaints).toEqual([]);
    } finally {
      await browser.close();
      await inspection.end();
    }
  });
});

describe('brain journal', () => {
  it('tells by its exit code whether journals are clean, torn or damaged, and changes nothing', async () => {
    const before = await everything();
    const verified = await Promise.all([ended, torn, damaged].map((id) => runBrain('journal', 'verify', path.join(directory, 'sessions', id))));
    const all = await runBrain('journal', 'stat', directory);

    expect(verified.map(({ code }) => code)).toEqual([0, 1, 2]);
    expect(all).toMatchObject({ code: 2, output: expect.stringContaining('segments: 2 clean, 1 torn, 1 damaged') });
    expect(await everything()).toEqual(before);
  });

  it('is there as npx brain, offline, when the project is built', async () => {
    expect(await runWithNpx('journal', 'verify', path.dirname(segmentOf(ended)))).toMatchObject({
      code: 0,
      output: expect.stringContaining('segments: 1 clean, 0 torn, 0 damaged'),
      errors: '',
    });
    expect(await runWithNpx('journal', 'mend', directory)).toMatchObject({ code: 64, output: '' });
  });

  it('prints what a server shows, and takes it in silence when its reader has seen enough', async () => {
    const session = path.join(directory, 'sessions', ended);
    const printed = await runBrain('journal', 'print', session);
    expect(printed.output.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual(written.get(ended));
    const [first = ''] = printed.output.split('\n');
    expect(await runInShell(`brain journal print '${session}' | head -n 1; echo "\${PIPESTATUS[0]}"`)).toEqual({ code: 0, output: `${first}\n0\n`, errors: '' });
  });
});
