/** The commands that a newcomer pastes first: those of the first page, and those that a start prints. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { firstSteps } from '../../cli/first-steps.ts';
import { eventually } from '../support/eventually.ts';
import { ServerProcess } from '../support/server-process.ts';

const API_KEY = 'k-of-the-first-commands';
const FIRST_PAGE = path.resolve(import.meta.dirname, '../../README.md');

let server: ServerProcess;

afterEach(async () => {
  await server.dispose();
});

/** Those of the first page that are about sessions. Only where the server is is put in. */
function ofTheFirstPage(): string {
  const blocks = [...readFileSync(FIRST_PAGE, 'utf8').matchAll(/```sh\n([^`]*)```/g)].map(([, commands = '']) => commands);
  const about = blocks.filter((commands) => commands.includes('curl'));
  expect(about).toHaveLength(1);
  return about[0]?.replaceAll('http://127.0.0.1:8080', server.url) ?? '';
}

/** Pastes the commands into a shell, and waits until it shows what is wanted; the last one follows a stream and would stay. */
async function paste(commands: string, wanted: string): Promise<string> {
  const shell = spawn('bash', ['-c', commands], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], BRAIN_API_KEY: API_KEY },
    detached: true,
  });
  const closed = new Promise((resolve) => shell.once('close', resolve));
  let shown = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  try {
    await eventually(async () => (shown.includes(wanted) ? true : undefined), `the shell to show ${wanted}`);
  } finally {
    // The shell and the curl that it runs are a process group of their own.
    if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, 'SIGKILL');
    await closed;
  }
  return shown;
}

describe('the commands that a newcomer pastes', () => {
  it('from the first page: create a session, send to it and watch it', async () => {
    server = await ServerProcess.start();
    const shown = await paste(ofTheFirstPage(), '"status":"idle"}\n');
    expect(shown).toContain('event: assistant.message\n');
    expect(shown).toContain('You said: Hello');
  });

  it.each([
    ['with a key', { BRAIN_API_KEY: API_KEY }, true],
    ['without one', {}, false],
  ])('from the start: create a session, send to it and watch it, %s', async (_, environment, needsToken) => {
    server = await ServerProcess.start({ environment });
    const shown = await paste(firstSteps(server.url, { needsToken }), 'event: turn_ended\n');
    expect(shown).toContain('The sum is 5.');
    expect(shown).toContain('event: session_created\n');
  });
});
