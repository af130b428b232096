/** A disk that knows how many of the files opened through it are not closed. */
import type { Disk, DiskDirectory, DiskFile, DiskLock, OpenMode } from '../../storage/disk.ts';

export class HandleCount implements Disk {
  readonly #disk: Disk;
  readonly #open = new Map<DiskFile, string>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  get openFiles(): readonly string[] {
    return [...this.#open.values()];
  }

  async open(path: string, mode: OpenMode): Promise<DiskFile> {
    const file = await this.#disk.open(path, mode);
    const counted: DiskFile = {
      read: (buffer, position) => file.read(buffer, position),
      write: (bytes, position) => file.write(bytes, position),
      truncate: (length) => file.truncate(length),
      sync: () => file.sync(),
      size: () => file.size(),
      mode: () => file.mode(),
      close: async () => {
        await file.close();
        this.#open.delete(counted);
      },
    };
    this.#open.set(counted, path);
    return counted;
  }

  makeDirectory(path: string): Promise<void> {
    return this.#disk.makeDirectory(path);
  }

  list(path: string): Promise<readonly string[]> {
    return this.#disk.list(path);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#disk.rename(from, to);
  }

  remove(path: string): Promise<void> {
    return this.#disk.remove(path);
  }

  syncDirectory(path: string): Promise<void> {
    return this.#disk.syncDirectory(path);
  }

  openDirectory(path: string): Promise<DiskDirectory> {
    return this.#disk.openDirectory(path);
  }

  lock(path: string): Promise<DiskLock | null> {
    return this.#disk.lock(path);
  }
}
