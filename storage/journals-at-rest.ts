/**
 * Journals that nobody holds, and whose last file is still open: the next opening of such a session, at its next message as a
 * rule, asks the disk for nothing.
 *
 *   R1. Only files that are acknowledged to their end are kept, with nothing of this process pending behind it.
 *   R2. They are bounded in number. The one that was released longest ago goes first.
 *   R3. A journal's files are closed before they are moved or taken away, and all of them before the directory is given up.
 *       `OpenSegment` waits for a read of its last holder before it closes.
 *
 * A file that is changed from outside meanwhile is found damaged by its next reader, or by the next start, and not by the
 * next opening; one that is taken away from outside goes on being written, to nobody. It is the same while a session is held.
 */
import type { SettledFiles } from './journal-repair.ts';

// The conversations that go on at a time, out of the 1,024 files that a process may open where nobody set another limit: most of
// those are left to connections.
const JOURNALS_AT_REST_MAX = 256;

export class JournalsAtRest {
  /** The one that was released last is the last. */
  readonly #files = new Map<string, SettledFiles>();
  readonly #closings = new Set<Promise<void>>();

  keep(sessionId: string, files: SettledFiles): void {
    this.#files.set(sessionId, files);
    if (this.#files.size <= JOURNALS_AT_REST_MAX) return;
    const [oldest] = this.#files.keys();
    if (oldest !== undefined) void this.close(oldest);
  }

  /** Null where none are kept; else they are the caller's to close. */
  take(sessionId: string): SettledFiles | null {
    const files = this.#files.get(sessionId) ?? null;
    this.#files.delete(sessionId);
    return files;
  }

  async close(sessionId: string): Promise<void> {
    const files = this.take(sessionId);
    if (files === null) return;
    // All that counts is flushed: what a close has to say concerns nobody.
    const closing = files.tail.close().catch(() => undefined);
    this.#closings.add(closing);
    await closing;
    this.#closings.delete(closing);
  }

  /** Answers how many there were. */
  async closeAll(): Promise<number> {
    const count = this.#files.size;
    for (const sessionId of [...this.#files.keys()]) void this.close(sessionId);
    await Promise.all(this.#closings);
    return count;
  }
}
