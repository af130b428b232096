/**
 * The file of tokens: read by a server while commands change it. What is in it is for the services to say; here it is
 * bytes that are replaced whole. It may lie in a data directory or anywhere else, and takes no part in that one's lock.
 *
 *   T1. Readers see the file as some command left it, whole. A change is durable when it resolves.
 *   T2. One change at a time, across processes: a kernel lock on a file beside it, `{name}.lock`, which nobody removes,
 *       since whoever waits for a removed file waits for another one than whoever comes next.
 */
import { basename, dirname } from 'node:path';
import { makeDirectories, syncAbove } from './data-directory.ts';
import type { Disk, WatchableDisk } from './disk.ts';
import { readFileIfThere, replaceFile } from './whole-file.ts';

export interface TokensFile {
  /** Another text whenever the file was changed since; null where there is none. */
  stamp(): Promise<string | null>;
  /** Null where there is none. */
  read(): Promise<Uint8Array | null>;
}

export function tokensFile(disk: WatchableDisk, path: string): TokensFile {
  return {
    stamp: () => disk.stamp(path),
    read: () => readFileIfThere(disk, path),
  };
}

/**
 * Puts what `change` makes of the file in its place; null stands for a file that is not there. Directories that are
 * missing are made. False where another process is changing it: nothing was done. What `change` throws leaves it as it is.
 */
export async function changeTokensFile(
  disk: Disk,
  path: string,
  change: (bytes: Uint8Array | null) => Uint8Array,
): Promise<boolean> {
  const directory = dirname(path);
  await makeDirectories(disk, directory);
  const lock = await disk.lock(`${path}.lock`);
  if (lock === null) return false;
  try {
    const bytes = change(await readFileIfThere(disk, path));
    await syncAbove(disk, directory);
    await replaceFile(disk, { directory, name: basename(path), bytes });
    return true;
  } finally {
    await lock.release();
  }
}
