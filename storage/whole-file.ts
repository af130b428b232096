/** Files that are read and written whole: every byte of them, however few the disk takes or gives at a time. */
import type { Disk, DiskFile } from './disk.ts';
import { diskTookNothing, isErrorCode } from './disk-failure.ts';

/** Reads up to `length` bytes at a position; fewer only where the file ends. */
export async function readUpTo(file: DiskFile, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let count = 0;
  while (count < length) {
    const got = await file.read(bytes.subarray(count), position + count);
    if (got === 0) break;
    count += got;
  }
  return count === length ? bytes : bytes.subarray(0, count);
}

export async function readFile(disk: Disk, path: string): Promise<Uint8Array> {
  const file = await disk.open(path, 'read');
  try {
    return await readUpTo(file, 0, await file.size());
  } finally {
    await file.close();
  }
}

/** The same; null where there is no such file. */
export async function readFileIfThere(disk: Disk, path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(disk, path);
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}

export async function writeWhole(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  let count = 0;
  while (count < bytes.length) {
    const taken = await file.write(bytes.subarray(count), position + count);
    if (taken === 0) throw diskTookNothing();
    count += taken;
  }
}

/** Writes and flushes a new file; one that was left there by a crash makes room. A failed one is taken away again. */
export async function createFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await disk.remove(path);
  const file = await disk.open(path, 'create');
  try {
    await writeWhole(file, bytes, 0);
    await file.sync();
  } catch (error) {
    // What cannot be completed would only take up room on a disk that may be full.
    await disk.remove(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** Puts a file in the place of another, in one step: after a crash the old one is there, whole, or the new one. */
export async function replaceFile(
  disk: Disk,
  { directory, name, bytes }: { readonly directory: string; readonly name: string; readonly bytes: Uint8Array },
): Promise<void> {
  const written = `${directory}/${name}.new`;
  // Contents before the name: a name that survives a power cut without its contents would be an empty file.
  await createFile(disk, written, bytes);
  await disk.rename(written, `${directory}/${name}`);
  await disk.syncDirectory(directory);
}
