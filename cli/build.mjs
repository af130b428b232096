/**
 * Puts the server into `dist/cli/start.js`, with the packages that it uses; what is loaded on first use goes into files of
 * its own beside it. A start reads few files then, where it would look for six hundred: docs/decisions/0009.
 *
 * A file is replaced in one step, and only where it is another: a server may be starting from it.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';

const PROJECT_ROOT = path.resolve(import.meta.dirname, '..');
const OUTPUT = path.join(PROJECT_ROOT, 'dist/cli');

/** Large tables are read faster as JSON than as a program. */
const jsonAsText = {
  name: 'json-as-text',
  async load(id) {
    if (path.extname(id) !== '.json') return null;
    const text = JSON.stringify(JSON.parse(await readFile(id, 'utf8')));
    return { code: `module.exports = JSON.parse(${JSON.stringify(text)});`, moduleType: 'js' };
  },
};

const bundle = await rolldown({
  cwd: PROJECT_ROOT,
  input: 'cli/start.ts',
  platform: 'node',
  // It has a native part, and finds it beside itself.
  external: ['fs-native-extensions'],
  plugins: [jsonAsText],
  // What packages do in themselves.
  checks: { eval: false },
});
const { output } = await bundle.generate({ format: 'esm', sourcemap: true, chunkFileNames: 'start/[name]-[hash].js' });
await bundle.close();
// Last the one that names the others. Theirs tell of their content: a server that runs finds its own after the next build.
for (const file of output.toSorted((left, right) => Number(isStart(left)) - Number(isStart(right)))) {
  await replace(path.join(OUTPUT, file.fileName), file.type === 'chunk' ? file.code : file.source);
}

function isStart(file) {
  return file.type === 'chunk' && file.isEntry;
}

async function replace(file, content) {
  if (content === (await readFile(file, 'utf8').catch(() => null))) return;
  await mkdir(path.dirname(file), { recursive: true });
  const written = `${file}.${process.pid}`;
  await writeFile(written, content);
  await rename(written, file);
}
