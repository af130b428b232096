/**
 * ext4 on a loop device, whose bytes can be copied as they are at one instant: what a disk holds when the power fails.
 * The image lies on a file system of its own that is frozen while it is copied, so that no block of the copy is younger
 * than another. What the kernel still has in its cache is not in the image, and is lost.
 *
 * The image is thin: it holds what the file system needs for itself, and takes room from the one around it for what is
 * written to new blocks. Without that room a write still goes well, into the cache, and its flush fails.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm, truncate, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const MEBIBYTE = 1024 * 1024;
const BLOCK_BYTES = 4096;

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
      // It finds out at once that it has no room, and not when it flushes: a device does not take a write that it cannot keep.
      await mountImage(path.join(disk.#directory, 'outer.img'), { directory: disk.#outer, mebibytes: 2 * mebibytes + 16, options: 'loop,nodelalloc' });
      const inner = path.join(disk.#outer, 'inner.img');
      await mountImage(inner, { directory: disk.path, mebibytes, options: 'loop', isFilled: true });
      // Gives back the blocks that no file has. Those of the journal and the inodes stay.
      await run('fstrim', [disk.path]);
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

  /** From now on no block gets room that has none yet. */
  async takeRoom(): Promise<void> {
    // The loop driver takes a part of a write for the whole: so no write shall be of more than one block.
    const { stdout } = await run('findmnt', ['--noheadings', '--output', 'SOURCE', this.path]);
    await writeFile(`/sys/block/${path.basename(stdout.trim())}/queue/max_sectors_kb`, String(BLOCK_BYTES / 1024));
    const filler = await open(path.join(this.#outer, 'filler'), 'w');
    try {
      // Once more after each flush, which may find that it needs less than was set aside.
      while ((await fill(filler)) > 0) await filler.sync();
    } finally {
      await filler.close();
    }
  }

  async giveRoom(): Promise<void> {
    await rm(path.join(this.#outer, 'filler'));
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

interface MountOptions {
  readonly directory: string;
  readonly mebibytes: number;
  readonly options: string;
  /** Whether every block of the image has its room before the file system is made. */
  readonly isFilled?: boolean;
}

async function mountImage(file: string, { directory, mebibytes, options, isFilled = false }: MountOptions): Promise<void> {
  await writeFile(file, '');
  await truncate(file, mebibytes * MEBIBYTE);
  if (isFilled) await run('fallocate', ['--length', `${mebibytes}MiB`, file]);
  await run('mkfs.ext4', ['-q', '-F', '-b', String(BLOCK_BYTES), '-E', 'nodiscard', file]);
  await mkdir(directory);
  await run('mount', ['-o', options, file, directory]);
}

/** Writes until nothing is taken any more, and answers how many bytes were. */
async function fill(file: FileHandle): Promise<number> {
  const piece = Buffer.alloc(MEBIBYTE);
  let total = 0;
  // Ever smaller pieces: there may be room for a part of one that fails.
  for (let size = piece.length; size > 0; ) {
    const count = await written(file.write(piece, 0, size));
    total += count;
    if (count < size) size >>= 1;
  }
  return total;
}

async function written(write: Promise<{ readonly bytesWritten: number }>): Promise<number> {
  try {
    return (await write).bytesWritten;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return 0;
    throw error;
  }
}
