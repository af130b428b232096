/**
 * The real disk, over Node's file system. Files and directories are for their owner alone: they hold conversations, and
 * sealed credentials beside them.
 *
 *   N1. A call is a trip to the thread pool, over a plain descriptor and a callback: `fs/promises` and its handles take
 *       a fifth more of the processor for the same calls, and a commit is little else.
 *   N2. What is written through is opened with `O_DSYNC`, on Linux: there a write does in the same call, with the bytes that it
 *       took, all that `fdatasync` does. Elsewhere (macOS) it stops short of the device, and `fdatasync` is called.
 *   N3. A descriptor is closed once, and when no call with it is under way: its number may be another file's at once.
 */
import * as fs from 'node:fs';
import { tryLock } from 'fs-native-extensions';
import { isErrorCode } from './disk-failure.ts';
import type { DiskDirectory, DiskFile, DiskLock, OpenMode, WatchableDisk } from './disk.ts';

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const MODE_BITS = 0o777;

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_APPEND, O_DSYNC } = fs.constants;

const HAS_FLUSHING_WRITES = process.platform === 'linux';
const THROUGH = HAS_FLUSHING_WRITES ? O_DSYNC : 0;

const OPEN_FLAGS = {
  read: O_RDONLY,
  write: O_RDWR,
  create: O_RDWR | O_CREAT | O_EXCL,
  'write-through': O_RDWR | THROUGH,
  'create-through': O_RDWR | O_CREAT | O_EXCL | THROUGH,
} as const satisfies Record<OpenMode, number>;

const LOCK_FLAGS = O_RDWR | O_CREAT | O_APPEND;

type Done<T> = (error: Error | null, value: T) => void;

export class NodeDisk implements WatchableDisk {
  async open(path: string, mode: OpenMode): Promise<DiskFile> {
    const isThrough = mode === 'write-through' || mode === 'create-through';
    return new NodeDiskFile(await openDescriptor(path, OPEN_FLAGS[mode]), { syncsAfterWrites: isThrough && !HAS_FLUSHING_WRITES });
  }

  makeDirectory(path: string): Promise<void> {
    return answered((done) => {
      fs.mkdir(path, DIRECTORY_MODE, done);
    });
  }

  list(path: string): Promise<readonly string[]> {
    return answered((done) => {
      fs.readdir(path, done);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return answered((done) => {
      fs.rename(from, to, done);
    });
  }

  remove(path: string): Promise<void> {
    return answered((done) => {
      fs.rm(path, { recursive: true, force: true }, done);
    });
  }

  async syncDirectory(path: string): Promise<void> {
    const descriptor = await openDescriptor(path, O_RDONLY);
    try {
      await answered<void>((done) => {
        fs.fsync(descriptor, done);
      });
    } finally {
      // No trip: a directory that is closed has nothing to write.
      fs.closeSync(descriptor);
    }
  }

  async openDirectory(path: string): Promise<DiskDirectory> {
    const file = new NodeDiskFile(await openDescriptor(path, O_RDONLY), { syncsAfterWrites: false });
    return { sync: () => file.syncAll(), close: () => file.close() };
  }

  async lock(path: string): Promise<DiskLock | null> {
    const descriptor = await openDescriptor(path, LOCK_FLAGS);
    try {
      if (tryLock(descriptor)) return { release: () => closeDescriptor(descriptor) };
    } catch (error) {
      await closeDescriptor(descriptor);
      throw error;
    }
    await closeDescriptor(descriptor);
    return null;
  }

  async stamp(path: string): Promise<string | null> {
    try {
      // Big integers, since times in milliseconds do not tell two writes of one millisecond apart.
      const { ino, size, mtimeNs, ctimeNs } = await answered<fs.BigIntStats>((done) => {
        fs.stat(path, { bigint: true }, done);
      });
      return [ino, size, mtimeNs, ctimeNs].join(' ');
    } catch (error) {
      // Below what is no directory there is no file either.
      if (isErrorCode(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  }
}

class NodeDiskFile implements DiskFile {
  readonly #descriptor: number;
  readonly #syncsAfterWrites: boolean;
  #underWay = 0;
  #isClosed = false;
  #whenIdle: (() => void) | null = null;

  constructor(descriptor: number, { syncsAfterWrites }: { readonly syncsAfterWrites: boolean }) {
    this.#descriptor = descriptor;
    this.#syncsAfterWrites = syncsAfterWrites;
  }

  read(buffer: Uint8Array, position: number): Promise<number> {
    return this.#call((descriptor, done) => {
      fs.read(descriptor, buffer, 0, buffer.length, position, done);
    });
  }

  write(bytes: Uint8Array, position: number): Promise<number> {
    const written = this.#call<number>((descriptor, done) => {
      fs.write(descriptor, bytes, 0, bytes.length, position, done);
    });
    return this.#syncsAfterWrites ? written.then((count) => this.sync().then(() => count)) : written;
  }

  truncate(length: number): Promise<void> {
    return this.#call((descriptor, done) => {
      fs.ftruncate(descriptor, length, done);
    });
  }

  /** Leaves out times, which nobody reads back; a length that changed is flushed with the data. */
  sync(): Promise<void> {
    return this.#call((descriptor, done) => {
      fs.fdatasync(descriptor, done);
    });
  }

  /** Also what `fdatasync` leaves out, which of a directory is nothing to be sure of. */
  syncAll(): Promise<void> {
    return this.#call((descriptor, done) => {
      fs.fsync(descriptor, done);
    });
  }

  async size(): Promise<number> {
    return (await this.#stats()).size;
  }

  async mode(): Promise<number> {
    return (await this.#stats()).mode & MODE_BITS;
  }

  async close(): Promise<void> {
    if (this.#isClosed) throw closed();
    this.#isClosed = true;
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    await closeDescriptor(this.#descriptor);
  }

  #stats(): Promise<fs.Stats> {
    return this.#call((descriptor, done) => {
      fs.fstat(descriptor, done);
    });
  }

  #call<T>(call: (descriptor: number, done: Done<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(closed());
        return;
      }
      this.#underWay += 1;
      call(this.#descriptor, (error, value) => {
        this.#underWay -= 1;
        if (this.#underWay === 0) this.#whenIdle?.();
        if (error === null) resolve(value);
        else reject(error);
      });
    });
  }
}

function openDescriptor(path: string, flags: number): Promise<number> {
  return answered((done) => {
    fs.open(path, flags, FILE_MODE, done);
  });
}

function closeDescriptor(descriptor: number): Promise<void> {
  return answered((done) => {
    fs.close(descriptor, done);
  });
}

function answered<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => {
      // Some of the calls without a value leave the error out instead.
      if (error === null || error === undefined) resolve(value);
      else reject(error);
    });
  });
}

/** What the kernel says of a descriptor that is none. */
function closed(): Error {
  return Object.assign(new Error('the file is closed'), { code: 'EBADF' });
}
