import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectory } from '../../../storage/data-directory.ts';
import { NodeDisk } from '../../../storage/node-disk.ts';
import { parseVaultKey, vaultKeyFile } from '../../../storage/vault-key-file.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { ROOT } from '../../support/stores.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, index) => index * 7);
const log = { warn: () => undefined };

describe('the key file of a vault', () => {
  let path: string;
  let directory: DataDirectory;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'brain-key-'));
    directory = await DataDirectory.open({ disk: new NodeDisk(), path, log });
  });
  afterEach(async () => {
    await directory.close();
    await rm(path, { recursive: true });
  });

  it('is made for its owner alone, as the text that BRAIN_VAULT_KEY takes', async () => {
    const file = vaultKeyFile(directory);
    expect(await file.read()).toBeNull();

    await file.make(KEY);

    expect(await file.read()).toEqual(KEY);
    expect((await stat(join(path, 'vault.key'))).mode & 0o777).toBe(0o600);
    expect(parseVaultKey((await readFile(join(path, 'vault.key'), 'utf8')).trim())).toEqual(KEY);
  });

  it('is refused where others can read it, with the command that mends it', async () => {
    const file = vaultKeyFile(directory);
    await file.make(KEY);
    for (const mode of [0o640, 0o604, 0o622]) {
      await chmod(join(path, 'vault.key'), mode);
      await expect(file.read()).rejects.toMatchObject({
        code: 'data_directory_unusable',
        message: `${path}/vault.key can be read by others than its owner; take that away with: chmod 600 ${path}/vault.key`,
      });
    }

    await chmod(join(path, 'vault.key'), 0o400);
    expect(await file.read()).toEqual(KEY);
  });

  it('is refused where it is no key, and is left as it is', async () => {
    for (const text of ['', 'short', Buffer.alloc(31).toString('base64'), `${Buffer.from(KEY).toString('base64')}x`, '*'.repeat(44)]) {
      await writeFile(join(path, 'vault.key'), text, { mode: 0o600 });

      await expect(vaultKeyFile(directory).read()).rejects.toMatchObject({ code: 'data_directory_unusable' });
      expect(await readFile(join(path, 'vault.key'), 'utf8')).toBe(text);
    }
  });
});

describe('the key file of a vault on a disk that loses power', () => {
  it('is there once it is answered', async () => {
    const disk = new SimulatedDisk();
    await vaultKeyFile(await DataDirectory.open({ disk: disk.boot(), path: ROOT, log })).make(KEY);

    disk.cutPower(() => 0);

    expect(await vaultKeyFile(await DataDirectory.open({ disk: disk.boot(), path: ROOT, log })).read()).toEqual(KEY);
  });
});
