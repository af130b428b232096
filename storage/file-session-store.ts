/**
 * The sessions of a data directory: who holds which journal, and what this process knows of each. Files are settled and
 * cut in `journal-repair.ts`, appended and read in `file-journal.ts`.
 *
 *   S1. A journal is settled once by a process; what it knows then is kept, so that later openings judge nothing again.
 *   S2. A journal whose append failed is `wounded`, also after its holder has let go: it is cut back before it is opened.
 *   S3. A journal that is released whole stays open for a while (`journals-at-rest.ts`), and is handed out again as it is.
 *   S4. A session is a session from its first durable frame on. What a crash or a failure left of one without goes to the
 *       trash when it is met.
 */
import assert from 'node:assert';
import { readCheckpoint, writeCheckpoint } from './checkpoint-store.ts';
import { readSessionFile, writeSessionFile } from './credential-files.ts';
import { DataDirectory, makeDirectory, type DataDirectoryOptions } from './data-directory.ts';
import { isErrorCode, storageFailure } from './disk-failure.ts';
import { readHighestRemovedId } from './highest-id.ts';
import { journalCorrupt } from './frame-cursor.ts';
import { FileJournal, type JournalEnd, type JournalKeeper } from './file-journal.ts';
import { cutBackJournal, reopenJournal, settleJournal, type SettledFiles } from './journal-repair.ts';
import { StorageError, type Journal, type SessionStore } from './journal.ts';
import { JournalsAtRest } from './journals-at-rest.ts';
import { judgedSegments } from './judged-segments.ts';
import { RoomForFiles } from './room-for-files.ts';
import { SegmentIndex } from './segment.ts';
import { assertSessionId, isSessionId } from './session-id.ts';

export class FileSessionStore implements SessionStore {
  /** Where it keeps them; others keep their own files beside. */
  readonly directory: DataDirectory;
  /** Null while a session is being opened or removed. */
  readonly #held = new Map<string, FileJournal | null>();
  readonly #settled = new Map<string, JournalEnd>();
  readonly #atRest: JournalsAtRest;
  readonly #wounded = new Map<string, JournalEnd>();
  /** Kept by `settleJournal`. */
  readonly #distrusted = new Set<string>();
  /** Moved away, but the flush failed: a power cut would bring them back. */
  readonly #halfRemoved = new Set<string>();
  readonly #checkpointing = new Set<string>();
  readonly #keeper: JournalKeeper;
  #isClosed = false;

  private constructor(directory: DataDirectory, atRest: JournalsAtRest) {
    this.directory = directory;
    this.#atRest = atRest;
    this.#keeper = {
      poisoned: (sessionId, end) => void this.#wounded.set(sessionId, end),
      released: (sessionId, end, files) => {
        this.#held.delete(sessionId);
        if (files !== null) this.#atRest.keep(sessionId, files);
        // Without a frame there is no session, whatever lies there for it.
        if (end.segment === 0) this.#wounded.set(sessionId, end);
        else this.#settled.set(sessionId, end);
      },
    };
  }

  /** Takes the data directory. Rejects with `data_directory_locked` or `data_directory_unusable`. */
  static async open(options: DataDirectoryOptions): Promise<FileSessionStore> {
    const atRest = new JournalsAtRest();
    const disk = new RoomForFiles(options.disk, () => atRest.closeAll());
    return new FileSessionStore(await DataDirectory.open({ ...options, disk }), atRest);
  }

  async list(): Promise<readonly string[]> {
    this.#assertOpen();
    try {
      const names = await this.directory.disk.list(this.directory.at('sessions'));
      return names.filter((name) => isSessionId(name) && !this.#isUnborn(name)).toSorted();
    } catch (error) {
      throw storageFailure(error, 'the sessions cannot be listed', 'sessions');
    }
  }

  async highestRemovedId(): Promise<string> {
    this.#assertOpen();
    return this.directory.using(() => readHighestRemovedId(this.directory));
  }

  async create(sessionId: string): Promise<Journal> {
    return this.#takingHold(sessionId, async () => {
      // Nobody looks whether something is there: the name tells, which is the session's from here on.
      if (!(await makeDirectory(this.directory.disk, this.directory.at(`sessions/${sessionId}`)))) await this.#clearFor(sessionId);
      this.#wounded.delete(sessionId);
      const index = new SegmentIndex();
      const end: JournalEnd = { segment: 0, segmentBytes: 0, sealedBytes: 0, lastFrame: null, index };
      return this.#hold(sessionId, { segments: [], tail: null, end });
    });
  }

  async open(sessionId: string): Promise<Journal> {
    return this.#takingHold(sessionId, async () => {
      const found = await this.#find(sessionId);
      if (found !== null) return this.#hold(sessionId, found);
      await this.#discardUnborn(sessionId);
      throw new StorageError('session_not_found', `there is no session ${sessionId}`);
    });
  }

  async firstPayload(sessionId: string): Promise<Uint8Array | null> {
    this.#assertOpen();
    assertSessionId(sessionId);
    const journal = this.directory.at(`sessions/${sessionId}/journal`);
    try {
      const { value } = await judgedSegments(this.directory.disk, journal, sessionId).next();
      return value?.frames[0]?.payload ?? null;
    } catch (error) {
      if (isErrorCode(error, 'ENOENT')) return null;
      throw storageFailure(error, `session ${sessionId} cannot be read now`, `sessions/${sessionId}`);
    }
  }

  async remove(sessionId: string): Promise<void> {
    await this.#takingHold(sessionId, async () => {
      await this.#atRest.close(sessionId);
      await this.#removeDurably(sessionId);
      this.#held.delete(sessionId);
    });
  }

  async readCheckpoint(sessionId: string): Promise<Uint8Array | null> {
    this.#assertOpen();
    assertSessionId(sessionId);
    return readCheckpoint(this.directory, sessionId);
  }

  async writeCheckpoint(sessionId: string, payload: Uint8Array): Promise<boolean> {
    this.#assertOpen();
    assertSessionId(sessionId);
    // Two at once would write to the same file on the way. The one that is left out is only older, or comes again.
    if (this.#checkpointing.has(sessionId)) return false;
    this.#checkpointing.add(sessionId);
    try {
      return await this.directory.using(() => writeCheckpoint(this.directory, sessionId, payload));
    } finally {
      this.#checkpointing.delete(sessionId);
    }
  }

  async writeSealed(sessionId: string, sealed: Uint8Array): Promise<void> {
    this.#assertOpen();
    assertSessionId(sessionId);
    await writeSessionFile(this.directory, sessionId, sealed);
  }

  async readSealed(sessionId: string): Promise<Uint8Array | null> {
    this.#assertOpen();
    assertSessionId(sessionId);
    return readSessionFile(this.directory, sessionId);
  }

  /** Releases what is still held: an append after the lock is gone could meet another process's. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const journal of [...this.#held.values()]) await journal?.release();
    await this.#atRest.closeAll();
    await this.directory.close();
  }

  /** Runs what takes hold of a session, which nobody else can meanwhile; it stays held where a journal came of it. */
  async #takingHold<T>(sessionId: string, action: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    assertSessionId(sessionId);
    assert(!this.#held.has(sessionId), `session ${sessionId} is held already`);
    this.#held.set(sessionId, null);
    try {
      return await this.directory.using(action);
    } catch (error) {
      this.#held.delete(sessionId);
      throw storageFailure(error, `session ${sessionId} cannot be used now`, `sessions/${sessionId}`);
    }
  }

  async #hold(sessionId: string, { segments, tail, end }: SettledFiles | EmptyFiles): Promise<FileJournal> {
    // The store was closed meanwhile, and has released all that was held: this one would outlive the lock.
    if (this.#isClosed) {
      await tail?.close();
      throw new StorageError('journal_unavailable', 'the session store is closed');
    }
    const journal = new FileJournal({
      directory: this.directory,
      sessionId,
      keeper: this.#keeper,
      segments,
      tail,
      end,
    });
    this.#held.set(sessionId, journal);
    return journal;
  }

  /** A session's files, ready for use; null where there is none. */
  async #find(sessionId: string): Promise<SettledFiles | null> {
    const atRest = this.#atRest.take(sessionId);
    if (atRest !== null) return atRest;
    const wounded = this.#wounded.get(sessionId);
    if (wounded?.segment === 0) return null;
    if (wounded !== undefined) {
      await cutBackJournal(this.directory, sessionId, wounded);
      this.#wounded.delete(sessionId);
    }
    const settled = this.#settled.get(sessionId);
    return settled === undefined
      ? settleJournal(this.directory, sessionId, this.#distrusted)
      : reopenJournal(this.directory, sessionId, settled);
  }

  /** What a crash or a failure left where a new journal shall be. The rest of the directory may be meant for it. */
  async #clearFor(sessionId: string): Promise<void> {
    const found = await this.#find(sessionId);
    await found?.tail.close();
    assert(found === null, `session ${sessionId} exists`);
    const journal = `sessions/${sessionId}/journal`;
    const moved = await this.directory.moveToTrash(journal, `${sessionId}.journal`);
    if (moved !== null) await this.directory.settleMove(journal, moved);
  }

  async #discardUnborn(sessionId: string): Promise<void> {
    const isThere = await this.#exists(`sessions/${sessionId}`);
    if (!isThere && !this.#wounded.has(sessionId) && !this.#halfRemoved.has(sessionId)) return;
    // A checkpoint is written of acknowledged records only: what is missing here was there, and is not ours to throw away.
    if (isThere && (await this.readCheckpoint(sessionId)) !== null) {
      throw journalCorrupt({ file: `sessions/${sessionId}/journal`, offset: 0, what: 'its first records are missing, and its checkpoint tells of them' });
    }
    await this.#removeDurably(sessionId);
    if (isThere) this.directory.log.warn('session_discarded', { session_id: sessionId, reason: 'it has no whole first frame: it never was' });
  }

  async #removeDurably(sessionId: string): Promise<void> {
    const session = `sessions/${sessionId}`;
    const moved = await this.directory.moveToTrash(session, sessionId);
    this.#wounded.delete(sessionId);
    this.#settled.delete(sessionId);
    this.#distrusted.delete(sessionId);
    this.#halfRemoved.add(sessionId);
    await this.directory.settleMove(session, moved);
    this.#halfRemoved.delete(sessionId);
  }

  async #exists(relative: string): Promise<boolean> {
    try {
      await this.directory.disk.list(this.directory.at(relative));
      return true;
    } catch (error) {
      if (isErrorCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** Whether a name on the disk is not yet a session's: its first frame is being written, or failed to be. */
  #isUnborn(sessionId: string): boolean {
    return this.#held.get(sessionId)?.lastSequence === 0 || this.#wounded.get(sessionId)?.segment === 0;
  }

  #assertOpen(): void {
    assert(!this.#isClosed, 'the session store is closed');
  }
}

/** The files of a journal that has none yet. */
interface EmptyFiles {
  readonly segments: readonly [];
  readonly tail: null;
  readonly end: JournalEnd;
}
