/** The examples of the client, run as they stand in the documents, and the package as somebody installs it. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../bench/chromium.ts';
import { hasChromium } from '../support/chromium.ts';
import { ServerProcess } from '../support/server-process.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
const EXAMPLES = path.join(ROOT, 'docs/examples');
const KEY = 'the-key-of-the-examples';

let server: ServerProcess;
let directory: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'brain-examples-'));
  server = await ServerProcess.start({ environment: { BRAIN_API_KEY: KEY } });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.dispose();
  await rm(directory, { recursive: true, force: true });
});

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], BRAIN_URL: server.url, BRAIN_API_KEY: KEY };
}

async function output(file: string, cwd = ROOT): Promise<string> {
  return (await run(process.execPath, [file], { cwd, env: environment(), timeout: 60_000 })).stdout;
}

const SAID: Readonly<Record<string, RegExp>> = {
  'quickstart.mjs': /[1-6]/,
  'lifecycle.mjs': /turn_ended\nended\n$/,
  'own-tool.mjs': /left[^]*0 of chair are left \(sold_out\)[^]*warehouse\.ordered \{ item: 'lamp', count: 2 \} \{ kind: 'tool', sequence: \d+ \}/,
  'http-environment.mjs': /asked by [0-9a-f]{32}\/\d+[^]*raining in Lisbon/,
  'subagent.mjs': /How high is the Eiffel Tower\?/,
  'structured-output.mjs': /^Ada Lovelace, born in 1815\n$/,
};

describe('the examples', () => {
  it.each(Object.entries(SAID))('%s does what it says', async (file, said) => {
    expect(await output(path.join(EXAMPLES, file))).toMatch(said);
  });

  it('are all run', async () => {
    expect((await readdir(EXAMPLES)).filter((file) => file !== 'page').toSorted()).toEqual(Object.keys(SAID).toSorted());
  });
});

describe.skipIf(!(await hasChromium()))('a page that serves a tool', () => {
  it('answers a session with nothing but the token of its host', async () => {
    const bundle = path.join(directory, 'page.js');
    const build = await rolldown({ input: path.join(EXAMPLES, 'page/page.mjs'), platform: 'browser' });
    await build.write({ file: bundle, format: 'esm' });
    await build.close();
    const backend = spawn(process.execPath, [path.join(EXAMPLES, 'page/backend.mjs'), bundle, '0'], { env: environment(), stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(backend);
    const url = await new Promise<string>((resolve) => backend.stdout.once('data', (said: Buffer) => resolve(said.toString().trim())));
    // The page's origin is known only now.
    const { port } = new URL(server.url);
    await server.kill();
    await server.start({ BRAIN_CORS_ORIGINS: url }, Number(port));
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.waitForFunction(`document.body.textContent === 'at your service'`);

      expect(await (await fetch(new URL('/ask', url))).text()).toContain('Fresh bread');
    } finally {
      await browser.close();
    }
  });
});

/** By npm, out of what it has kept; where that is not all, unpacked, with links to what it depends on. */
async function install(tarball: string, project: string): Promise<void> {
  await mkdir(project, { recursive: true });
  await writeFile(path.join(project, 'package.json'), '{"type":"module"}');
  try {
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--prefer-offline', tarball], { cwd: project });
  } catch {
    console.warn('not installed by npm, which has not kept all that the package depends on: unpacked and linked');
    const installed = path.join(project, 'node_modules/@aexhq/brain');
    await rm(path.join(project, 'node_modules'), { recursive: true, force: true });
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
    const { dependencies } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as { readonly dependencies: Readonly<Record<string, string>> };
    for (const name of Object.keys(dependencies)) {
      const link = path.join(project, 'node_modules', name);
      await mkdir(path.dirname(link), { recursive: true });
      await symlink(path.join(ROOT, 'node_modules', name), link);
    }
  }
}

const NODE_24 = ['--offline', '--yes', 'node@24'];

/** Whether npm has kept it: nothing is fetched for a test. */
async function hasNode24(): Promise<boolean> {
  const isThere = await run('npx', [...NODE_24, '--version']).then(({ stdout }) => stdout.startsWith('v24.'), () => false);
  if (!isThere) console.warn('skipped: npm has kept no Node 24');
  return isThere;
}

const isNode24There = await hasNode24();

describe('the package, packed and installed in an empty project', () => {
  let project: string;

  beforeAll(async () => {
    const { stdout } = await run('npm', ['pack', '--json', '--offline', '--pack-destination', directory], { cwd: ROOT });
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    project = path.join(directory, 'project');
    await install(path.join(directory, filename), project);
    await cp(path.join(EXAMPLES, 'own-tool.mjs'), path.join(project, 'own-tool.mjs'));
    await cp(path.join(ROOT, 'test/support/installed-package.mjs'), path.join(project, 'session.mjs'));
  });

  it('runs there, with its types', async () => {
    const typed = `import { Brain, tool } from '@aexhq/brain';\nimport { z } from 'zod';\nexport const t = tool({ name: 'a', description: 'b', input: z.object({ n: z.number() }), run: ({ n }) => n.toFixed() });\nexport const b: Promise<string | undefined> = new Brain().sessions.create({ tools: [t] }).then((s) => s.send('x')).then((turn) => turn.result?.text);\n`;
    await writeFile(path.join(project, 'typed.ts'), typed);
    await writeFile(path.join(project, 'wrong.ts'), typed.replace('n.toFixed()', 'n.toUpperCase()'));
    const tsc = (file: string): Promise<unknown> =>
      run(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types'), file], { cwd: project });

    expect(await output(path.join(project, 'own-tool.mjs'), project)).toMatch(SAID['own-tool.mjs'] as RegExp);
    await tsc('typed.ts');
    await expect(tsc('wrong.ts')).rejects.toMatchObject({ stdout: expect.stringContaining('toUpperCase') });
  });

  it('L-005: has the client and the server that a program runs in itself', async () => {
    expect(await output('session.mjs', project)).toMatch(/^Node \d+: ended, .*marked\.\n$/);
  });

  it.skipIf(!isNode24There)('has them on Node 24 too', async () => {
    const { stdout } = await run('npx', [...NODE_24, 'session.mjs'], { cwd: project, timeout: 60_000 });

    expect(stdout).toMatch(/^Node 24: ended, .*marked\.\n$/);
  });
});
