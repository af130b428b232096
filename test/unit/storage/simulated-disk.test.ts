/** The simulated disk itself: a simulation is worth what its disk can do to it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SECTOR_BYTES } from '../../../storage/frame.ts';
import { codeOf, textOf } from '../../support/frames.ts';
import { SimulatedDisk, type Choose, type SimulatedProcess } from '../../support/simulated-disk.ts';
import { failNext, heal } from '../../support/stores.ts';

const nothing: Choose = () => 0;
const everything: Choose = (count) => count - 1;

let disk: SimulatedDisk;
let process: SimulatedProcess;

beforeEach(() => {
  disk = new SimulatedDisk();
  process = disk.boot();
});

async function write(path: string, text: string, position = 0): Promise<void> {
  const file = await process.open(path, disk.contents(path) === null ? 'create' : 'write');
  await file.write(Buffer.from(text), position);
  await file.close();
}

async function sync(path: string): Promise<void> {
  await (await process.open(path, 'write')).sync();
}

function textAt(path: string): string | null {
  const bytes = disk.contents(path);
  return bytes === null ? null : textOf(bytes);
}

describe('a kill', () => {
  it('leaves all that was written to the next process, and ends every call of the one that died', async () => {
    const file = await process.open('/a', 'create');
    await file.write(Buffer.from('text'), 0);
    disk.kill(process);
    let isAnswered = false;
    const calls = [file.size(), file.close(), process.list('/'), process.open('/a', 'read')];
    const answered = Promise.race(calls).then(() => {
      isAnswered = true;
    });
    await Promise.race([answered, process.died]);

    expect(await disk.boot().list('/')).toEqual(['a']);
    expect([textAt('/a'), isAnswered]).toEqual(['text', false]);
  });

  it('frees the locks', async () => {
    expect(await process.lock('/lock')).not.toBeNull();
    expect(await disk.boot().lock('/lock')).toBeNull();

    disk.kill(process);

    const lock = await disk.boot().lock('/lock');
    expect(lock).not.toBeNull();
    await lock?.release();
    expect(await disk.boot().lock('/lock')).not.toBeNull();
  });

  it('comes before a call acts, or between its act and its answer, as planned', async () => {
    for (const [dies, text] of [['before', ''], ['after', 'text']] as const) {
      disk = new SimulatedDisk();
      process = disk.boot();
      const file = await process.open('/a', 'create');
      disk.plan = () => ({ dies });
      await Promise.race([file.write(Buffer.from('text'), 0), process.died]);
      expect(process.hasEnded).toBe(true);
      expect(textAt('/a')).toBe(text);
    }
  });
});

describe('a power cut', () => {
  it('takes the contents, the length and the name of what was not flushed, each by itself', async () => {
    await write('/a', 'text');
    disk.cutPower(nothing);
    expect(textAt('/a')).toBeNull();

    process = disk.boot();
    await write('/a', 'text');
    await process.syncDirectory('/');
    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('');

    process = disk.boot();
    await write('/b', 'text');
    await sync('/b');
    disk.cutPower(nothing);
    expect(textAt('/b')).toBeNull();

    process = disk.boot();
    await write('/a', 'text');
    await sync('/a');
    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('text');
  });

  it('may keep all of it', async () => {
    await write('/a', 'text');
    disk.cutPower(everything);
    expect(textAt('/a')).toBe('text');
  });

  it('may keep any sector without another, and a length without what is in it', async () => {
    await write('/a', 'x'.repeat(3 * SECTOR_BYTES));
    await process.syncDirectory('/');
    const answers = [0, 1, 0, 1];
    disk.cutPower(() => answers.shift() ?? 0);

    const zeros = '\0'.repeat(SECTOR_BYTES);
    expect(textAt('/a')).toBe(`${zeros}${'x'.repeat(SECTOR_BYTES)}${zeros}`);
  });

  it('may keep a state that a sector had in between', async () => {
    await write('/a', 'one');
    await process.syncDirectory('/');
    await write('/a', 'two!');
    const answers = [1, 2];
    disk.cutPower(() => answers.shift() ?? 0);

    expect(textAt('/a')).toBe('one\0');
  });

  it('keeps a rename with both its ends or not at all, until both directories are flushed', async () => {
    await process.makeDirectory('/from');
    await process.makeDirectory('/to');
    await write('/from/a', 'text');
    await sync('/from/a');
    for (const directory of ['/', '/from', '/to']) await process.syncDirectory(directory);
    await process.rename('/from/a', '/to/a');
    await process.syncDirectory('/from');
    disk.cutPower(nothing);
    expect([textAt('/from/a'), textAt('/to/a')]).toEqual(['text', null]);

    process = disk.boot();
    await process.rename('/from/a', '/to/a');
    await process.syncDirectory('/from');
    await process.syncDirectory('/to');
    disk.cutPower(nothing);
    expect([textAt('/from/a'), textAt('/to/a')]).toEqual([null, 'text']);
  });

  it('leaves what was removed, as long as that was not flushed', async () => {
    await write('/a', 'text');
    await sync('/a');
    await process.syncDirectory('/');
    await process.remove('/a');
    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('text');
  });

  it('brings nothing back of what was cut off and flushed, when the file grows again', async () => {
    await write('/a', 'x'.repeat(1_000));
    await sync('/a');
    await process.syncDirectory('/');
    const file = await process.open('/a', 'write');
    await file.truncate(10);
    await file.sync();
    await file.truncate(1_000);
    disk.cutPower(everything);

    expect(textAt('/a')).toBe(`${'x'.repeat(10)}${'\0'.repeat(990)}`);
  });
});

describe('a file that is written through', () => {
  beforeEach(async () => {
    await write('/a', 'old');
    await sync('/a');
    await process.syncDirectory('/');
  });

  it('has on the device what was answered, and that alone: what was written before is still pending', async () => {
    await write('/a', 'z'.repeat(SECTOR_BYTES), SECTOR_BYTES);
    const file = await process.open('/a', 'write-through');

    expect(await file.write(Buffer.from('new'), 0)).toBe(3);
    disk.cutPower(nothing);

    expect(textAt('/a')?.slice(0, 4)).toBe('new\0');
    expect(textAt('/a')).not.toContain('z');
  });

  it('is written and then flushed: a death in between leaves the bytes to the next process, and a power cut takes them', async () => {
    disk.plan = ({ kind }) => (kind === 'sync' ? { dies: 'before' } : undefined);
    void (await process.open('/a', 'write-through')).write(Buffer.from('new'), 0);
    await process.died;
    heal(disk);
    expect(textAt('/a')).toBe('new');

    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('old');
  });

  it('fails with its flush, after the bytes were taken, and counts as clean then', async () => {
    const file = await process.open('/a', 'write-through');
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(file.write(Buffer.from('new'), 0))).toBe('EIO');
    heal(disk);
    await file.sync();
    expect(textAt('/a')).toBe('new');

    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('old');
  });

  it('flushes what a short write took', async () => {
    disk.plan = ({ kind }) => (kind === 'write' ? { takes: 2 } : undefined);
    const file = await process.open('/b', 'create-through');
    await process.syncDirectory('/');
    expect(await file.write(Buffer.from('text'), 0)).toBe(2);
    heal(disk);

    disk.cutPower(nothing);
    expect(textAt('/b')).toBe('te');
  });
});

describe('a flush that fails', () => {
  beforeEach(async () => {
    await write('/a', 'old');
    await sync('/a');
    await process.syncDirectory('/');
    await write('/a', 'newer');
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(sync('/a'))).toBe('EIO');
    heal(disk);
  });

  it('leaves the contents readable and clean: the next flush succeeds and saves nothing', async () => {
    await sync('/a');
    expect(textAt('/a')).toBe('newer');

    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('old');
  });

  it('may have reached the device all the same', async () => {
    disk.cutPower(everything);
    expect(textAt('/a')).toBe('newer');
  });

  it('is made good by writing the same again', async () => {
    await write('/a', 'newer');
    await sync('/a');

    disk.cutPower(nothing);
    expect(textAt('/a')).toBe('newer');
  });

  it('is not made good by writing the same again where new blocks are lost, but by cutting them off first', async () => {
    disk.losesRewrites = true;
    const text = 'x'.repeat(10_000);
    for (const isCut of [false, true]) {
      await write('/a', text);
      failNext(disk, 'sync', 'EIO');
      expect(await codeOf(sync('/a'))).toBe('EIO');
      heal(disk);
      if (isCut) await (await process.open('/a', 'write')).truncate('old'.length);
      await write('/a', text);
      await sync('/a');

      disk.cutPower(nothing);
      process = disk.boot();
      expect(textAt('/a') === text, `cut: ${isCut}`).toBe(isCut);
      await (await process.open('/a', 'write')).truncate('old'.length);
      await sync('/a');
    }
  });
});

describe('a full disk', () => {
  it('takes what fits, then nothing, and lets what is there be overwritten', async () => {
    disk.capacityBytes = 10;
    const file = await process.open('/a', 'create');

    expect(await file.write(Buffer.from('123456789012'), 0)).toBe(10);
    expect(await codeOf(file.write(Buffer.from('12'), 10))).toBe('ENOSPC');
    expect(await file.write(Buffer.from('abc'), 4)).toBe(3);
    await process.remove('/a');
    const other = await process.open('/b', 'create');
    expect(await other.write(Buffer.from('12'), 0)).toBe(2);
  });
});

describe('a call', () => {
  it('acts and answers when the test lets it', async () => {
    let start: () => void = () => undefined;
    let answer: () => void = () => undefined;
    const file = await process.open('/a', 'create');
    disk.plan = () => ({
      start: new Promise<void>((resolve) => (start = resolve)),
      answer: new Promise<void>((resolve) => (answer = resolve)),
    });
    let isAnswered = false;
    const writing = file.write(Buffer.from('text'), 0).then(() => (isAnswered = true));
    expect(textAt('/a')).toBe('');

    start();
    await Promise.resolve();
    await Promise.resolve();
    expect([textAt('/a'), isAnswered]).toEqual(['text', false]);
    answer();
    await writing;
  });
});
