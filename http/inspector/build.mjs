/** Builds the page, unless it is there already and nothing that it is made of has changed since. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..');
const MADE_OF = ['http/inspector', 'machines', 'package-lock.json'];
const OUTPUT = path.join(PROJECT_ROOT, 'dist/inspector');
const MARK = path.join(OUTPUT, '.made-of');

const digest = await digestOf(MADE_OF);
if (digest !== (await readFile(MARK, 'utf8').catch(() => null))) {
  // Whoever builds, a test runner too: the page is the one that people get.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  await build({ configFile: path.join(import.meta.dirname, 'vite.config.ts'), logLevel: 'warn' });
  await writeFile(MARK, digest);
}

async function digestOf(places) {
  const hash = createHash('sha256');
  for (const file of (await Promise.all(places.map(filesIn))).flat()) {
    hash.update(`${file}\n`).update(await readFile(path.join(PROJECT_ROOT, file))).update('\n');
  }
  return hash.digest('hex');
}

async function filesIn(place) {
  if (path.extname(place) !== '') return [place];
  const entries = await readdir(path.join(PROJECT_ROOT, place), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(PROJECT_ROOT, path.join(entry.parentPath, entry.name)))
    .sort();
}
