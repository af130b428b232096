/**
 * One directory's flushes, shared by those that wait for one at a time: a flush that begins after a name was made covers it,
 * whoever made it.
 *
 *   Y1. Nobody is answered by a flush that had begun before it asked.
 *   Y2. A flush that fails has failed for all that it was for, and for nobody else.
 */
import type { DiskDirectory } from './disk.ts';

export class SharedSync {
  readonly #directory: DiskDirectory;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(directory: DiskDirectory) {
    this.#directory = directory;
  }

  sync(): Promise<void> {
    if (this.#running === null) return this.#begin();
    this.#next ??= this.#running.catch(() => undefined).then(() => {
      this.#next = null;
      return this.#begin();
    });
    return this.#next;
  }

  /** Nothing is waited for any more. */
  close(): Promise<void> {
    return this.#directory.close();
  }

  #begin(): Promise<void> {
    const running = this.#directory.sync().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }
}
