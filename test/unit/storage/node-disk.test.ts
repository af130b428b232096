import { constants } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenMode } from '../../../storage/disk.ts';
import { NodeDisk } from '../../../storage/node-disk.ts';
import { codeOf, textOf } from '../../support/frames.ts';

const disk = new NodeDisk();
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'brain-disk-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('the real disk', () => {
  it('writes and reads at positions, tells lengths, and cuts', async () => {
    const path = join(root, 'file');
    const file = await disk.open(path, 'create');
    expect(await file.write(Buffer.from('hello world'), 0)).toBe(11);
    expect(await file.write(Buffer.from('W'), 6)).toBe(1);
    await file.sync();
    const buffer = new Uint8Array(20);

    expect(await file.read(buffer, 6)).toBe(5);
    expect(textOf(buffer.subarray(0, 5))).toBe('World');
    expect(await file.read(buffer, 11)).toBe(0);
    expect(await file.size()).toBe(11);
    await file.truncate(5);
    expect(await file.size()).toBe(5);
    await file.close();
    expect(await readFile(path, 'utf8')).toBe('hello');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('opens as it is asked to, and says with a code what it cannot', async () => {
    const path = join(root, 'file');
    expect(await codeOf(disk.open(path, 'read'))).toBe('ENOENT');
    expect(await codeOf(disk.open(path, 'write'))).toBe('ENOENT');
    await (await disk.open(path, 'create')).close();
    expect(await codeOf(disk.open(path, 'create'))).toBe('EEXIST');

    const reader = await disk.open(path, 'read');
    expect(await codeOf(reader.write(Buffer.from('x'), 0))).toBe('EBADF');
    await reader.close();
    const writer = await disk.open(path, 'write');
    await writer.write(Buffer.from('x'), 0);
    await writer.close();
    expect(await readFile(path, 'utf8')).toBe('x');
  });

  it.skipIf(platform !== 'linux')('writes through with the write alone: the kernel knows of it, and of no other file', async () => {
    const flagsOf = async (mode: OpenMode): Promise<number> => {
      const path = join(root, mode);
      if (!mode.startsWith('create')) await (await disk.open(path, 'create')).close();
      const file = await disk.open(path, mode);
      const names = await readdir('/proc/self/fd');
      const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
      const told = await readFile(`/proc/self/fdinfo/${names[targets.indexOf(path)] ?? 'none'}`, 'utf8');
      await file.close();
      return Number.parseInt(/flags:\s+(\d+)/.exec(told)?.[1] ?? '', 8) & constants.O_DSYNC;
    };

    expect(await Promise.all([flagsOf('write-through'), flagsOf('create-through')])).toEqual([constants.O_DSYNC, constants.O_DSYNC]);
    expect(await Promise.all([flagsOf('read'), flagsOf('write'), flagsOf('create')])).toEqual([0, 0, 0]);
  });

  it('opens what is to be written through as it opens any file', async () => {
    const file = await disk.open(join(root, 'file'), 'create-through');
    expect(await file.write(Buffer.from('through'), 0)).toBe(7);
    await file.close();
    const again = await disk.open(join(root, 'file'), 'write-through');
    expect(await again.write(Buffer.from('T'), 0)).toBe(1);
    await again.close();

    expect(await readFile(join(root, 'file'), 'utf8')).toBe('Through');
    expect(await codeOf(disk.open(join(root, 'file'), 'create-through'))).toBe('EEXIST');
    expect(await codeOf(disk.open(join(root, 'none'), 'write-through'))).toBe('ENOENT');
  });

  it('is closed once, when the calls that are under way are over, and takes none afterwards', async () => {
    const path = join(root, 'file');
    const file = await disk.open(path, 'create');
    const over: string[] = [];
    const large = Buffer.alloc(4_000_000, 'x');
    const calls = [file.write(large, 0).then(() => over.push('write')), file.sync().then(() => over.push('sync'))];

    const closing = file.close().then(() => over.push('close'));

    expect(await codeOf(file.write(large, 0))).toBe('EBADF');
    expect(await codeOf(file.close())).toBe('EBADF');
    await Promise.all([...calls, closing]);
    expect(over.at(-1)).toBe('close');
    expect(over.length).toBe(3);
  });

  it('makes, lists, renames, flushes and removes directories', async () => {
    const path = join(root, 'a');
    await disk.makeDirectory(path);
    expect(await codeOf(disk.makeDirectory(path))).toBe('EEXIST');
    await (await disk.open(join(path, 'file'), 'create')).close();
    await disk.syncDirectory(path);
    expect(await disk.list(path)).toEqual(['file']);
    expect(await codeOf(disk.list(join(root, 'none')))).toBe('ENOENT');
    expect(await codeOf(disk.syncDirectory(join(root, 'none')))).toBe('ENOENT');

    await disk.rename(path, join(root, 'b'));
    await disk.makeDirectory(path);
    await (await disk.open(join(path, 'other'), 'create')).close();
    expect(await codeOf(disk.rename(path, join(root, 'b')))).toBe('ENOTEMPTY');
    expect(await codeOf(disk.rename(join(root, 'none'), path))).toBe('ENOENT');

    await disk.remove(join(root, 'b'));
    await disk.remove(join(root, 'b'));
    expect(await disk.list(root)).toEqual(['a']);
  });

  it('flushes a directory that it keeps open, until that is closed', async () => {
    const directory = await disk.openDirectory(root);
    await (await disk.open(join(root, 'file'), 'create')).close();
    await Promise.all([directory.sync(), directory.sync()]);
    await directory.close();

    expect(await codeOf(directory.sync())).toBe('EBADF');
    expect(await codeOf(disk.openDirectory(join(root, 'none')))).toBe('ENOENT');
  });

  it('has a stamp of each file, another after each write, and none of what is not there', async () => {
    const path = join(root, 'file');
    expect([await disk.stamp(path), await disk.stamp(join(root, 'none/file'))]).toEqual([null, null]);
    const file = await disk.open(path, 'create');
    const first = await disk.stamp(path);
    expect(await disk.stamp(path)).toBe(first);
    await file.write(Buffer.from('x'), 0);
    expect(await disk.stamp(path)).not.toBe(first);
    await file.close();
    expect(await disk.stamp(join(path, 'below'))).toBeNull();
  });

  it('locks a file for one holder until it is released', async () => {
    const path = join(root, 'lock');
    const lock = await disk.lock(path);
    expect(lock).not.toBeNull();
    expect(await disk.lock(path)).toBeNull();

    await lock?.release();

    const again = await disk.lock(path);
    expect(again).not.toBeNull();
    await again?.release();
  });
});
