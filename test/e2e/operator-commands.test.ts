/** The commands that an operator runs beside a server, as npm runs them: in a folder that has their scripts and little else. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PACKAGE = path.resolve(import.meta.dirname, '../../package.json');
// Leaves behind what the commands run, which says how it was run.
const BUILD = `node -e "
  const { mkdirSync, writeFileSync } = require('node:fs');
  mkdirSync('dist/cli', { recursive: true });
  for (const name of ['token', 'brain']) writeFileSync('dist/cli/' + name + '.js', 'console.log(process.argv.slice(2).join())');
  console.log('a build');
"`.replaceAll('\n', '');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'brain-commands-'));
  const { scripts } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { readonly scripts: Readonly<Record<string, string>> };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ scripts: { ...scripts, build: BUILD } }));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function npmRun(...line: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', ...line], { cwd: folder });
  return stdout;
}

describe.each([
  ['token', ['token', '--', 'list'], 'list\n'],
  ['inspect', ['inspect', '--', 'brain-data'], 'inspect,brain-data\n'],
])('npm run %s', (_, line, ran) => {
  it('builds where nothing is built, and never changes the build that a server runs from', async () => {
    expect(await npmRun(...line)).toBe(`a build\n${ran}`);
    expect(await npmRun(...line)).toBe(ran);
  });
});
