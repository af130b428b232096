/**
 * The disk port: only the calls that storage uses, so that a simulated disk can stand in for the real one. Paths are
 * absolute or relative to the process, as the data directory's was given. Errors are Node's: `code` is `ENOENT`,
 * `EEXIST`, `ENOSPC`, `EIO` and so on.
 */

/**
 * `read`: an existing file, not to be written. `write`: an existing file, read and written. `create`: a new one. With
 * `-through` each write is flushed before it is answered: what is appended to costs one call then, and not two.
 */
export type OpenMode = 'read' | 'write' | 'create' | 'write-through' | 'create-through';

export interface Disk {
  open(path: string, mode: OpenMode): Promise<DiskFile>;
  makeDirectory(path: string): Promise<void>;
  /** The names in a directory, in no particular order. */
  list(path: string): Promise<readonly string[]>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a whole directory; one that is not there is no error. */
  remove(path: string): Promise<void>;
  /** Makes the entries of a directory durable: what was created, renamed or removed in it. */
  syncDirectory(path: string): Promise<void>;
  /** The same for a directory that is flushed often, and that nobody renames or removes. */
  openDirectory(path: string): Promise<DiskDirectory>;
  /** Takes the kernel's exclusive lock on a file, made where it is missing; null where another process holds it. */
  lock(path: string): Promise<DiskLock | null>;
}

/** A disk that also tells, at the cost of one call, whether a file is still the one that was read. */
export interface WatchableDisk extends Disk {
  /** Another text whenever the file was replaced or written since; null where there is none. */
  stamp(path: string): Promise<string | null>;
}

export interface DiskFile {
  /** Reads up to `buffer.length` bytes at a position; answers how many, 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /**
   * Writes at a position; answers how many bytes were taken, which may be fewer than given. Of a file that was opened to be
   * written through, these bytes are on the device then, and the length that they need; what else the file has pending is
   * not. Where that rejects, all of them may be in the file all the same, as they are after a `sync` that failed.
   */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Makes contents and length durable. */
  sync(): Promise<void>;
  size(): Promise<number>;
  /** The permission bits, as `chmod` takes them. */
  mode(): Promise<number>;
  /** Calls that come later, and those that are under way, may reject with `EBADF`; they never meet another file. */
  close(): Promise<void>;
}

export interface DiskDirectory {
  /** As `syncDirectory`. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskLock {
  release(): Promise<void>;
}
