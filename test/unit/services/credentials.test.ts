import { beforeEach, describe, expect, it } from 'vitest';
import { Credentials } from '../../../services/credentials.ts';
import { Secrets } from '../../../services/secrets.ts';
import { systemRandom } from '../../../services/system.ts';
import { Vault } from '../../../services/vault.ts';
import { MemoryTenantFiles } from '../../../storage/memory-tenant-files.ts';
import { StorageError } from '../../../storage/journal.ts';
import { codeOf, textOf } from '../../support/frames.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const VALUE = 'sk-canary-0123456789';
const OTHER = 'sk-canary-9876543210';
const REMOVED = '[secret removed]';

/** Files that fail when a test says so: before they are replaced, or after. */
class FailingFiles extends MemoryTenantFiles {
  fails: 'never' | 'before' | 'after' = 'never';

  override async replace(tenant: string, sealed: Uint8Array): Promise<void> {
    if (this.fails === 'before') throw new StorageError('disk_full', 'full');
    await super.replace(tenant, sealed);
    if (this.fails === 'after') throw new StorageError('journal_unavailable', 'not flushed');
  }
}

let files: FailingFiles;
let clock: SimulatedClock;
let secrets: Secrets;
let credentials: Credentials;

beforeEach(async () => {
  files = new FailingFiles();
  clock = new SimulatedClock();
  ({ credentials, secrets } = await start());
});

/** As another process would find the files. */
async function start(key = 1): Promise<{ readonly credentials: Credentials; readonly secrets: Secrets }> {
  const keyFile = { read: async () => null, make: async () => undefined };
  const vault = await Vault.open({ key: new Uint8Array(32).fill(key), keyFile, random: systemRandom, hasSealed: async () => false });
  const inUse = new Secrets([]);
  return { credentials: new Credentials({ files, vault, secrets: inUse, clock }), secrets: inUse };
}

async function stored(): Promise<string> {
  return textOf((await files.read('local')) ?? Buffer.alloc(0));
}

describe('credentials', () => {
  it('are known by name and time, and their value to sessions alone', async () => {
    await credentials.put('local', 'b', VALUE);
    const first = clock.now();
    await clock.advance(5_000);
    await credentials.put('local', 'a', OTHER);

    expect(await credentials.list('local')).toEqual([{ name: 'a', updated_at: first + 5_000 }, { name: 'b', updated_at: first }]);
    expect(await credentials.valueOf('local', 'b')).toBe(VALUE);
    expect([await credentials.valueOf('local', 'c'), await credentials.valueOf('other', 'b')]).toEqual([null, null]);
    expect(await credentials.list('other')).toEqual([]);
  });

  it('are not written in clear, in any spelling', async () => {
    await credentials.put('local', 'mine', VALUE);

    expect(await stored()).toContain('mine');
    for (const spelling of ['canary', Buffer.from(VALUE).toString('base64').slice(4, 20), Buffer.from(VALUE).toString('hex')]) {
      expect(await stored()).not.toContain(spelling);
    }
  });

  it('are there for the next process', async () => {
    await credentials.put('local', 'mine', VALUE);

    expect(await (await start()).credentials.valueOf('local', 'mine')).toBe(VALUE);
  });

  it('are replaced by name, and gone when deleted', async () => {
    await credentials.put('local', 'mine', VALUE);
    await credentials.put('local', 'mine', OTHER);
    expect([await credentials.valueOf('local', 'mine'), (await credentials.list('local')).length]).toEqual([OTHER, 1]);

    await credentials.delete('local', 'mine');

    expect([await credentials.valueOf('local', 'mine'), await credentials.list('local')]).toEqual([null, []]);
    expect(await codeOf(credentials.delete('local', 'mine'))).toBe('not_found');
  });

  it('are all kept where many are stored at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `name-${index}`);

    await Promise.all(names.map((name) => credentials.put('local', name, `${VALUE}-${name}`)));

    for (const name of names) expect(await credentials.valueOf('local', name)).toBe(`${VALUE}-${name}`);
  });

  it('do not open under another key: nothing is changed, and one can be deleted by its name', async () => {
    await credentials.put('local', 'mine', VALUE);
    await credentials.put('local', 'yours', OTHER);
    const before = await stored();
    const { credentials: keyless } = await start(2);

    expect(await codeOf(keyless.put('local', 'mine', 'new'))).toBe('internal');
    expect(await codeOf(keyless.put('local', 'third', 'new'))).toBe('internal');
    await expect(keyless.valueOf('local', 'mine')).rejects.toThrow('does not open');
    expect(await stored()).toBe(before);
    expect((await keyless.list('local')).map(({ name }) => name)).toEqual(['mine', 'yours']);

    await keyless.delete('local', 'mine');
    await keyless.delete('local', 'yours');
    await keyless.put('local', 'mine', 'anew');
    expect(await keyless.valueOf('local', 'mine')).toBe('anew');
  });

  it('are not written over where their file is no such file', async () => {
    for (const text of ['', '{}', 'null', '{"version":2,"credentials":[]}', `{"version":1,"credentials":[{"name":"${VALUE}"}]}`]) {
      await files.replace('local', Buffer.from(text));
      for (const call of [() => credentials.put('local', 'mine', VALUE), () => credentials.list('local'), () => credentials.delete('local', 'mine')]) {
        expect(await codeOf(call())).toBe('internal');
      }
      await expect(credentials.valueOf('local', 'mine')).rejects.not.toThrow('canary');
      expect(await stored()).toBe(text);
    }
  });

  it('are not another\'s: a value that was moved to another name, or another tenant, does not open', async () => {
    await credentials.put('local', 'mine', VALUE);
    const text = await stored();
    await files.replace('other', Buffer.from(text));
    await files.replace('third', Buffer.from(text.replace('"mine"', '"yours"')));
    const { credentials: next } = await start();

    await expect(next.valueOf('other', 'mine')).rejects.toThrow('does not open');
    await files.replace('local', Buffer.from(text.replace('"mine"', '"yours"')));
    await expect(next.valueOf('local', 'yours')).rejects.toThrow('does not open');
  });
});

describe('the values of credentials', () => {
  const search = (): string => secrets.of('local').without(`${VALUE} ${OTHER}`);

  it('are secrets in use from when they are stored until they are replaced or deleted', async () => {
    expect(search()).toBe(`${VALUE} ${OTHER}`);
    await credentials.put('local', 'mine', VALUE);
    expect(search()).toBe(`${REMOVED} ${OTHER}`);
    await credentials.put('local', 'mine', OTHER);
    expect(search()).toBe(`${VALUE} ${REMOVED}`);
    await credentials.delete('local', 'mine');
    expect(search()).toBe(`${VALUE} ${OTHER}`);
  });

  it('are secrets in use of a process that has only learned of them', async () => {
    await credentials.put('local', 'mine', VALUE);
    ({ credentials, secrets } = await start());
    expect(search()).toBe(`${VALUE} ${OTHER}`);

    await credentials.learn('local');

    expect(search()).toBe(`${REMOVED} ${OTHER}`);
  });

  it('stay secrets while it is not known what is stored', async () => {
    await credentials.put('local', 'mine', VALUE);
    files.fails = 'after';
    expect(await codeOf(credentials.put('local', 'mine', OTHER))).toBe('journal_unavailable');
    expect(search()).toBe(`${REMOVED} ${OTHER}`);

    files.fails = 'never';
    expect(await credentials.valueOf('local', 'mine')).toBe(OTHER);
    expect(search()).toBe(`${VALUE} ${REMOVED}`);

    files.fails = 'before';
    expect(await codeOf(credentials.delete('local', 'mine'))).toBe('disk_full');
    expect(await credentials.valueOf('local', 'mine')).toBe(OTHER);
    expect(search()).toBe(`${VALUE} ${REMOVED}`);
  });
});
