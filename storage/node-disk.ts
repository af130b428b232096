/**
 * The real disk, over Node's file system. Files and directories are for their owner alone: they hold conversations, and
 * sealed credentials beside them.
 */
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { tryLock } from 'fs-native-extensions';
import { isErrorCode } from './disk-failure.ts';
import type { DiskFile, DiskLock, WatchableDisk } from './disk.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const MODE_BITS = 0o777;

const OPEN_FLAGS = { read: 'r', write: 'r+', create: 'wx+' } as const;

export class NodeDisk implements WatchableDisk {
  async open(path: string, mode: 'read' | 'write' | 'create'): Promise<DiskFile> {
    return new NodeDiskFile(await open(path, OPEN_FLAGS[mode], FILE_MODE));
  }

  async makeDirectory(path: string): Promise<void> {
    await mkdir(path, { mode: DIRECTORY_MODE });
  }

  async list(path: string): Promise<readonly string[]> {
    return readdir(path);
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(from, to);
  }

  async remove(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true });
  }

  async syncDirectory(path: string): Promise<void> {
    const directory = await open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  async lock(path: string): Promise<DiskLock | null> {
    const file = await open(path, 'a+', FILE_MODE);
    try {
      if (tryLock(file.fd)) return { release: () => file.close() };
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return null;
  }

  async stamp(path: string): Promise<string | null> {
    try {
      // Big integers, since times in milliseconds do not tell two writes of one millisecond apart.
      const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      return [ino, size, mtimeNs, ctimeNs].join(' ');
    } catch (error) {
      // Below what is no directory there is no file either.
      if (isErrorCode(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  }
}

class NodeDiskFile implements DiskFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    return (await this.#file.read(buffer, 0, buffer.length, position)).bytesRead;
  }

  async write(bytes: Uint8Array, position: number): Promise<number> {
    return (await this.#file.write(bytes, 0, bytes.length, position)).bytesWritten;
  }

  async truncate(length: number): Promise<void> {
    await this.#file.truncate(length);
  }

  /** Leaves out times, which nobody reads back; a length that changed is flushed with the data. */
  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async size(): Promise<number> {
    return (await this.#file.stat()).size;
  }

  async mode(): Promise<number> {
    return (await this.#file.stat()).mode & MODE_BITS;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
