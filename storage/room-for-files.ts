/**
 * A disk as its callers see it while files are open that nobody uses: a call that finds no descriptor free has them closed,
 * and is made once more. It had changed nothing, or is a removal, which goes on where it stopped.
 */
import { isErrorCode } from './disk-failure.ts';
import type { Disk, DiskDirectory, DiskFile, DiskLock, OpenMode } from './disk.ts';

export class RoomForFiles implements Disk {
  readonly #disk: Disk;
  readonly #makeRoom: () => Promise<number>;

  /** `makeRoom`: closes what it can, and answers how many files that were. */
  constructor(disk: Disk, makeRoom: () => Promise<number>) {
    this.#disk = disk;
    this.#makeRoom = makeRoom;
  }

  open(path: string, mode: OpenMode): Promise<DiskFile> {
    return this.#withRoom(() => this.#disk.open(path, mode));
  }

  makeDirectory(path: string): Promise<void> {
    return this.#disk.makeDirectory(path);
  }

  list(path: string): Promise<readonly string[]> {
    return this.#withRoom(() => this.#disk.list(path));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#disk.rename(from, to);
  }

  remove(path: string): Promise<void> {
    return this.#withRoom(() => this.#disk.remove(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#withRoom(() => this.#disk.syncDirectory(path));
  }

  openDirectory(path: string): Promise<DiskDirectory> {
    return this.#withRoom(() => this.#disk.openDirectory(path));
  }

  lock(path: string): Promise<DiskLock | null> {
    return this.#withRoom(() => this.#disk.lock(path));
  }

  async #withRoom<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isErrorCode(error, 'EMFILE', 'ENFILE') || (await this.#makeRoom()) === 0) throw error;
      return call();
    }
  }
}
