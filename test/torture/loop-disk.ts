/**
 * ext4 on a loop device, whose bytes can be copied as they are at one instant: what a disk holds when the power fails.
 * The image lies on a file system of its own that is frozen while it is copied, so that no block of the copy is younger
 * than another. What the kernel still has in its cache is not in the image, and is lost.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const MEBIBYTE = 1024 * 1024;

export class LoopDisk {
  readonly #directory: string;
  readonly #outer: string;
  /** Where its files are. */
  readonly path: string;
  #copyCount = 0;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#outer = path.join(directory, 'outer');
    this.path = path.join(directory, 'inner');
  }

  static async make(mebibytes: number): Promise<LoopDisk> {
    const disk = new LoopDisk(await mkdtemp(path.join(tmpdir(), 'brain-loop-')));
    try {
      await mountImage(path.join(disk.#directory, 'outer.img'), disk.#outer, 2 * mebibytes + 16);
      await mountImage(path.join(disk.#outer, 'inner.img'), disk.path, mebibytes);
    } catch (error) {
      await disk.dispose();
      throw error;
    }
    return disk;
  }

  /** The disk as it is now, in a file of its own. */
  async copy(): Promise<string> {
    const file = path.join(this.#directory, `copy-${this.#copyCount++}.img`);
    await run('fsfreeze', ['--freeze', this.#outer]);
    try {
      await run('cp', ['--sparse=always', path.join(this.#outer, 'inner.img'), file]);
    } finally {
      await run('fsfreeze', ['--unfreeze', this.#outer]);
    }
    return file;
  }

  /** Lets the file system on a copy recover, and shows its files to an action. */
  async withCopy<T>(file: string, action: (directory: string) => Promise<T>): Promise<T> {
    const directory = `${file}.mount`;
    await mkdir(directory);
    await run('mount', ['-o', 'loop', file, directory]);
    try {
      return await action(directory);
    } finally {
      await run('umount', [directory]);
      await rm(file);
    }
  }

  async dispose(): Promise<void> {
    for (const directory of [this.path, this.#outer]) await run('umount', [directory]).catch(() => undefined);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Whether this process may do all that. Says so where not; with `BRAIN_TEST_MOUNTS=required` that is an error. */
export async function canMakeLoopDisks(): Promise<boolean> {
  try {
    const disk = await LoopDisk.make(8);
    await disk.copy().finally(() => disk.dispose());
    return true;
  } catch (error) {
    if (process.env['BRAIN_TEST_MOUNTS'] === 'required') throw error;
    console.warn(`skipped: no loop device can be mounted here (${error instanceof Error ? error.message.trim() : String(error)})`);
    return false;
  }
}

async function mountImage(file: string, directory: string, mebibytes: number): Promise<void> {
  await writeFile(file, '');
  await truncate(file, mebibytes * MEBIBYTE);
  await run('mkfs.ext4', ['-q', '-F', file]);
  await mkdir(directory);
  await run('mount', ['-o', 'loop', file, directory]);
}
