/** Starts that cannot succeed: each says why in one line and ends with 1, and leaves what it found as it was. */
import { createServer } from 'node:http';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandEnd } from '../support/command-end.ts';
import { failedStart } from '../support/failed-start.ts';
import { canMount, mountMemory } from '../support/mounts.ts';
import { ServerProcess } from '../support/server-process.ts';

const mayMount = await canMount();

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'brain-start-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

/** In the test's own folder. */
function at(name: string): string {
  return path.join(folder, name);
}

function expectOneLine(start: CommandEnd, line: RegExp): void {
  expect(start).toEqual({ code: 1, output: '', errors: expect.stringMatching(/^[^\n]+\n$/) });
  expect(start.errors).toMatch(line);
  // A stack, or the name of a class, is for whoever wrote the server.
  expect(start.errors).not.toMatch(/\.[jt]s:\d+|\bError:/);
}

async function expectUsable(dataDirectory: string): Promise<void> {
  const server = await ServerProcess.start({ dataDirectory });
  try {
    const { session_id: id } = await server.api.create();
    expect(await server.api.send(id, 'hello')).toMatchObject({ outcome: 'ended' });
    expect(await server.stop()).toBe(0);
  } finally {
    await server.dispose();
  }
}

describe('a start on an address', () => {
  it('that another process has says so, and gives the data directory back', async () => {
    const other = createServer((_request, response) => response.end('still here'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    if (address === null || typeof address === 'string') throw new Error('the other server listens on no port');
    const { port } = address;
    try {
      const start = await failedStart({ '--listen': `127.0.0.1:${port}`, '--data-dir': at('data') });

      expectOneLine(start, new RegExp(`127\\.0\\.0\\.1:${port} is in use`));
      expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('still here');
    } finally {
      await new Promise((resolve) => {
        other.close(resolve);
        other.closeAllConnections();
      });
    }
    await expectUsable(at('data'));
  });

  it('that this machine does not have says so', async () => {
    const start = await failedStart({ '--listen': '192.0.2.1:8080', '--data-dir': at('data') }, { BRAIN_API_KEY: 'a-key-of-some-length' });

    expectOneLine(start, /192\.0\.2\.1:8080 is no address of this machine/);
  });
});

describe('a start on a data directory', () => {
  it('that a running server has says so, and that server does not notice', async () => {
    const server = await ServerProcess.start({ dataDirectory: at('data') });
    try {
      const { session_id: id } = await server.api.create();
      await server.api.send(id, 'before');

      const start = await failedStart({ '--data-dir': at('data') });

      expectOneLine(start, /in use|locked|another/);
      expect(start.errors).toContain(at('data'));
      expect(await server.api.send(id, 'after')).toMatchObject({ outcome: 'ended' });
      const records = await server.api.journal(id);
      await server.killAndStart();
      expect(await server.api.journal(id)).toEqual(records);
    } finally {
      await server.dispose();
    }
  });

  it('whose name is a file\'s says so, and leaves the file alone', async () => {
    await writeFile(at('data'), 'precious');

    expectOneLine(await failedStart({ '--data-dir': at('data') }), /data directory/);
    expectOneLine(await failedStart({ '--data-dir': at('data/below') }), /data directory/);
    expect(await readFile(at('data'), 'utf8')).toBe('precious');
  });

  it('whose vault key others can read says which command mends it', async () => {
    await expectUsable(at('data'));
    await writeFile(at('data/vault.key'), Buffer.alloc(32, 1).toString('base64'));
    await chmod(at('data/vault.key'), 0o644);

    expectOneLine(await failedStart({ '--data-dir': at('data') }), /chmod/);
  });

  it.skipIf(!mayMount)('that takes nothing says so, new or with sessions in it, and they are there once it does', async () => {
    const mount = await mountMemory(4 * 1024 * 1024);
    try {
      await expectUsable(path.join(mount.path, 'data'));
      await mount.makeReadOnly();

      expectOneLine(await failedStart({ '--data-dir': path.join(mount.path, 'data') }), /data directory/);
      expectOneLine(await failedStart({ '--data-dir': path.join(mount.path, 'new') }), /data directory/);
    } finally {
      await mount.unmount();
    }
  });
});

describe('a start with an option', () => {
  it.each([
    ['--listen', '127.0.0.1:70000'],
    ['--drain-secs', '5s'],
    ['--max-body-bytes', '0'],
    ['--no-such-option', '1'],
  ])('%s %s names it, and makes no data directory', async (flag, value) => {
    const start = await failedStart({ '--data-dir': at('data'), [flag]: value });

    expectOneLine(start, new RegExp(flag));
    expect(await readdir(folder)).toEqual([]);
  });

  it('that opens the server to everybody asks for a key', async () => {
    const start = await failedStart({ '--data-dir': at('data'), '--listen': '0.0.0.0:0' });

    expectOneLine(start, /BRAIN_API_KEY/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is not usable in the environment names the variable, and no secret', async () => {
    const drain = await failedStart({ '--data-dir': at('data') }, { BRAIN_DRAIN_SECS: 'soon' });
    const vault = await failedStart({ '--data-dir': at('data') }, { BRAIN_VAULT_KEY: 'a-secret-that-is-too-short' });

    expectOneLine(drain, /BRAIN_DRAIN_SECS/);
    expectOneLine(vault, /BRAIN_VAULT_KEY/);
    expect(vault.errors).not.toContain('a-secret');
  });
});

describe('a start with a file', () => {
  it.each([
    ['throws', `throw new TypeError('no luck today');`, /no luck today/],
    ['is no module', 'export default [', /tools\.mjs/],
    ['exports no tools', 'export default 42;', /tools\.mjs/],
    ['imports what is not there', `import 'nothing-of-this-name';\nexport default [];`, /nothing-of-this-name/],
    ['throws many lines', `throw new Error('first line\\nsecond line');`, /first line/],
    ['throws what is no error', 'throw null;', /tools\.mjs/],
  ])('of tools that %s says so, and the next start without it is well', async (_what, module, line) => {
    await writeFile(at('tools.mjs'), module);

    const start = await failedStart({ '--data-dir': at('data'), '--tools-file': at('tools.mjs') });

    expectOneLine(start, line);
    expect(start.errors).toContain(at('tools.mjs'));
  });

  it('that is not there names it', async () => {
    expectOneLine(await failedStart({ '--data-dir': at('data'), '--tools-file': at('none.mjs') }), /none\.mjs/);
    expectOneLine(await failedStart({ '--data-dir': at('data'), '--providers-file': at('none.json') }), /none\.json/);
    expectOneLine(await failedStart({ '--data-dir': at('data'), '--telemetry-file': at('no/folder.jsonl') }), /folder\.jsonl/);
    await expectUsable(at('data'));
  });
});
