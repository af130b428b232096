import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DATA_FORMAT_MARK, DataDirectory } from '../../../storage/data-directory.ts';
import { NodeDisk } from '../../../storage/node-disk.ts';
import { frameOf, ID } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { heal, ROOT, startStore } from '../../support/stores.ts';

const log = { warn: () => undefined };

describe('a data directory', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'brain-data-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  function open(path = join(root, 'data')): Promise<DataDirectory> {
    return DataDirectory.open({ disk: new NodeDisk(), path, log });
  }

  it('is made where it is missing, with what is above it, for its owner alone', async () => {
    const path = join(root, 'a', 'b', 'data');

    await (await open(path)).close();

    expect((await readdir(path)).toSorted()).toEqual(['format', 'lock', 'sessions', 'trash']);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, 'format'))).mode & 0o777).toBe(0o600);
    await (await open(path)).close();
  });

  it('may hold files of its user before the first start', async () => {
    await mkdir(join(root, 'data'));
    await writeFile(join(root, 'data', 'tokens.json'), '[]');

    await (await open()).close();

    expect(await readdir(join(root, 'data'))).toContain('tokens.json');
  });

  it('has one owner: a second start in the same process is refused with one clear line, until the first gives it up', async () => {
    const first = await open();

    await expect(open()).rejects.toMatchObject({
      code: 'data_directory_locked',
      message: `data directory ${join(root, 'data')} is in use by another process`,
    });

    await first.close();
    await (await open()).close();
  });

  it('is refused while another process has it, and free as soon as that is killed', async () => {
    await (await open()).close();
    const script = `
      const { openSync } = require('node:fs');
      const { tryLock } = require('fs-native-extensions');
      if (tryLock(openSync(process.argv[1], 'a+'))) process.stdout.write('locked');
      setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ['-e', script, join(root, 'data', 'lock')], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      expect(String((await once(other.stdout, 'data'))[0])).toBe('locked');
      await expect(open()).rejects.toMatchObject({ code: 'data_directory_locked' });
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
    await (await open()).close();
  });

  it('is refused if it has sessions and no mark, or a mark of another format, and is left as it was', async () => {
    await mkdir(join(root, 'data', 'sessions'), { recursive: true });
    await expect(open()).rejects.toMatchObject({ code: 'data_directory_unusable' });

    await writeFile(join(root, 'data', 'format'), DATA_FORMAT_MARK.replace('1', '2'));
    await expect(open()).rejects.toMatchObject({ code: 'data_directory_unusable' });
    await writeFile(join(root, 'data', 'format'), '');
    await expect(open()).rejects.toMatchObject({ code: 'data_directory_unusable' });

    expect((await readdir(join(root, 'data'))).toSorted()).toEqual(['format', 'lock', 'sessions']);
    await writeFile(join(root, 'data', 'format'), DATA_FORMAT_MARK);
    await (await open()).close();
  });

  it('is refused with the reason where it cannot be written, or is no directory', async () => {
    await writeFile(join(root, 'file'), '');
    await expect(open(join(root, 'file'))).rejects.toMatchObject({ code: 'data_directory_unusable' });
    await expect(open(join(root, 'file', 'below'))).rejects.toMatchObject({ code: 'data_directory_unusable' });
    if (process.getuid?.() === 0) return;
    await mkdir(join(root, 'closed'));
    await chmod(join(root, 'closed'), 0o500);
    const refused = await open(join(root, 'closed', 'data')).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'data_directory_unusable' });
    expect(String(refused)).toMatch(/^[^\n]*EACCES[^\n]*$/);
  });
});

describe('a data directory on a disk that fails', () => {
  it('is usable after a death at any call of its first start and a power cut, and no session of the next is lost', async () => {
    let calls = 1;
    for (let hasDied = true; hasDied; calls += 1) {
      for (const dies of ['before', 'after'] as const) {
        for (const power of ['stays', 'fails'] as const) {
          const disk = new SimulatedDisk();
          disk.plan = ({ number }) => (number === calls ? { dies } : undefined);
          const first = disk.boot();
          await Promise.race([DataDirectory.open({ disk: first, path: ROOT, log }), first.died]);
          hasDied = first.hasEnded;
          disk.kill(first);
          if (power === 'fails') disk.cutPower((count) => count - 1);
          heal(disk);

          const { store } = await startStore(disk);
          await (await store.create(ID)).append(frameOf(1, 1, 'a'));
          disk.cutPower(() => 0);

          const found = (await startStore(disk)).store;
          expect((await found.open(ID)).lastSequence).toBe(1);
        }
      }
    }
    expect(calls).toBeGreaterThan(10);
  });

  it('keeps its mark through two starts that die, the first before it has flushed the mark’s name', async () => {
    // Whichever one of the changes the device has that were not flushed. (The crash property found it with one of them.)
    for (let kept = 0; kept < 10; kept += 1) {
      const disk = new SimulatedDisk();
      let isMarked = false;
      disk.plan = ({ kind }) => {
        if (isMarked) return { dies: 'before' };
        isMarked = kind === 'rename';
        return undefined;
      };
      const first = disk.boot();
      await Promise.race([DataDirectory.open({ disk: first, path: ROOT, log }), first.died]);
      disk.plan = ({ kind, path }) => (kind === 'makeDirectory' && path === `${ROOT}/sessions` ? { dies: 'after' } : undefined);
      const second = disk.boot();
      await Promise.race([DataDirectory.open({ disk: second, path: ROOT, log }), second.died]);
      expect([first.hasEnded, second.hasEnded]).toEqual([true, true]);
      heal(disk);

      let asked = 0;
      disk.cutPower((count) => (asked++ === kept ? count - 1 : 0));

      await (await startStore(disk)).store.close();
    }
  });
});
