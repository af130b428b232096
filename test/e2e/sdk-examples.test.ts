/** The examples of the client, run as they stand in the documents, and the package as somebody installs it. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Brain } from '../../client/index.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
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

  it('S-177, S-178, L-005: read events from a cursor that is saved, and follow a session from the one that was kept', async () => {
    const script = `
      import { Brain } from '@aexhq/brain';
      const brain = new Brain(process.env.BRAIN_URL, process.env.BRAIN_API_KEY);
      const { id } = await brain.sessions.create();
      const { session_id, sequence } = await (await brain.sessions.get(id)).submit('hello', { idempotencyKey: 'one' });
      const session = await brain.sessions.get(session_id);
      const told = await brain.create({ harness: 'chat', config: { model: 'demo/echo', instructions: 'Answer in one paragraph.', tools: [] } });
      await told.queue('Summarize our plan.', { key: 'msg-0001' });
      for await (const event of told.stream({ after: '0' })) if (event.type === 'session.status' && event.status === 'idle' && event.input_id) break;
      while ((await session.refresh()).status === 'running');
      let cursor = sequence - 1;
      const seen = [];
      for await (const event of session.events(cursor)) { seen.push(event.type); cursor = event.sequence; }
      await told.interrupt(); await told.resume(); await told.close();
      console.log(seen[0], seen.at(-1), (await session.transcript()).messages.length, (await brain.list(undefined, 1)).sessions.length);
      await brain.close();`;
    const file = path.join(ROOT, 'dist', 'printed-example.mjs');
    await writeFile(file, script);
    try {
      expect(await output(file)).toBe('turn_started turn_ended 2 1\n');
    } finally {
      await rm(file);
    }
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
    const brain = new Brain(server.url, KEY);
    try {
      const page = await browser.newPage();
      await page.goto(url);
      await page.waitForFunction(`document.body.textContent === 'at your service'`);
      const declared = { driver: 'host', host: 'page', tools: [{ name: 'read_title', description: 'The title.', input_schema: { type: 'object' } }] };
      await fetch(`${server.url}/v1/environments/page`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(declared),
      });
      const session = await brain.sessions.create({ environments: ['page'] });

      expect((await session.send('call read_title {}')).result?.text).toContain('Fresh bread');
    } finally {
      await browser.close();
      await brain.close();
    }
  });
});

describe('the package', () => {
  it('packed and unpacked in an empty project, runs there, with its types', async () => {
    const { stdout } = await run('npm', ['pack', '--json', '--offline', '--pack-destination', directory], { cwd: ROOT });
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    const project = path.join(directory, 'project');
    const installed = path.join(project, 'node_modules/@aexhq/brain');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', path.join(directory, filename), '-C', installed, '--strip-components', '1']);
    // What it depends on, as an installation without a network finds it.
    for (const name of ['eventsource-parser', 'zod']) await symlink(path.join(ROOT, 'node_modules', name), path.join(project, 'node_modules', name));
    await writeFile(path.join(project, 'package.json'), '{"type":"module"}');
    await cp(path.join(EXAMPLES, 'own-tool.mjs'), path.join(project, 'own-tool.mjs'));
    const typed = `import { Brain, tool } from '@aexhq/brain';\nimport { z } from 'zod';\nexport const t = tool({ name: 'a', description: 'b', input: z.object({ n: z.number() }), run: ({ n }) => n.toFixed() });\nexport const b: Promise<string | undefined> = new Brain().sessions.create({ tools: [t] }).then((s) => s.send('x')).then((turn) => turn.result?.text);\n`;
    await writeFile(path.join(project, 'typed.ts'), typed);
    await writeFile(path.join(project, 'wrong.ts'), typed.replace('n.toFixed()', 'n.toUpperCase()'));
    const tsc = (file: string): Promise<unknown> =>
      run(process.execPath, [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types'), file], { cwd: project });

    expect(await output(path.join(project, 'own-tool.mjs'), project)).toMatch(SAID['own-tool.mjs'] as RegExp);
    await tsc('typed.ts');
    await expect(tsc('wrong.ts')).rejects.toMatchObject({ stdout: expect.stringContaining('toUpperCase') });
  });
});
