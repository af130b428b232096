/**
 * A session's files in this process: opened when something needs them first, used by many at a time, and given up once.
 *
 *   F1. Uses are counted; the files are closed when the last one is over.
 *   F2. A session that nobody has looked at since this process started, or whose actor was discarded, is recovered before
 *       anything is read from it.
 *   F3. They close once, by whoever asks first. Whatever is done with them then, the journal is given up: nobody could
 *       open the session again otherwise.
 *   F4. The state is kept for the next use only where the files are closed because nobody uses them any more: after a
 *       discard, a delete or a recovery that failed there is none.
 */
import { isRemovalDue } from '../machines/recover.ts';
import { SessionState } from '../machines/replay.ts';
import { StorageError, type Journal, type SessionStore } from '../storage/journal.ts';
import { rowOf, type Catalog } from './catalog.ts';
import type { EventFeed } from './event-feed.ts';
import type { Log } from './ports.ts';
import { Checkpoints, loadState, type LoadedState } from './session-loader.ts';
import { recoverSession, type RecoveryServices } from './session-recovery.ts';
import type { StatesAtRest } from './states-at-rest.ts';

export interface FilesServices extends RecoveryServices {
  readonly store: SessionStore;
  readonly catalog: Catalog;
  readonly feed: EventFeed;
  readonly log: Log;
  readonly statesAtRest: StatesAtRest;
  /** The last to see the journal of a session that is about to be taken away. */
  beforeRemoval(tenant: string, journal: Journal): Promise<void>;
}

export interface OpenedFiles {
  readonly journal: Journal;
  /** The session's state, read when it is first asked for. */
  state(): Promise<LoadedState>;
  /** The same, where it was read. */
  readonly loaded: LoadedState | null;
}

export class SessionFiles {
  readonly #sessionId: string;
  readonly #services: FilesServices;
  readonly #onClosed: () => void;
  #opened: Promise<OpenedFiles> | null = null;
  #uses = 0;
  #closing: Promise<void> | null = null;
  #whenUnused: (() => void) | null = null;

  /** `onClosed`: they are given up; the next access makes others. */
  constructor(sessionId: string, services: FilesServices, onClosed: () => void) {
    this.#sessionId = sessionId;
    this.#services = services;
    this.#onClosed = onClosed;
  }

  /** Resolves when they are given up; null while nobody has asked for that. */
  get closing(): Promise<void> | null {
    return this.#closing;
  }

  /** Runs on the session's files, which stay open meanwhile. */
  use<T>(work: (opened: OpenedFiles) => Promise<T>): Promise<T> {
    return this.#use(() => this.#open(), work);
  }

  /** The same, on a new session's. `sealed`: its own copy of its credentials; null where it has none. */
  useNew<T>(sealed: Uint8Array | null, work: (opened: OpenedFiles) => Promise<T>): Promise<T> {
    return this.#use(() => this.#create(sealed), work);
  }

  /** A use that ends when the answer is called. */
  hold(): () => void {
    this.#uses += 1;
    return () => {
      this.#unuse();
    };
  }

  /**
   * Closes them: waits until nobody uses them, and lets `work` finish with the journal, null where none could be opened.
   * Where they are closing already, that is waited for instead.
   */
  close(work: (journal: Journal | null) => Promise<void>): Promise<void> {
    if (this.#closing !== null) return this.#closing;
    const unused = new Promise<void>((resolve) => {
      this.#whenUnused = resolve;
    });
    const closed = unused.then(() => this.#finish(work)).finally(this.#onClosed);
    this.#closing = closed.catch(() => undefined);
    if (this.#uses === 0) this.#whenUnused?.();
    return closed;
  }

  /** Nobody waits for this outcome: the files are given up, whatever closing them says. */
  closeQuietly(work: (journal: Journal | null) => Promise<void> = giveUp): void {
    this.close(work).catch((error: unknown) => {
      this.#services.log.error('session_close_failed', { session_id: this.#sessionId, error: String(error) });
    });
  }

  /** Takes the session away, whole. Nothing may use it any more. */
  async remove(tenant: string, journal: Journal | null): Promise<void> {
    if (journal !== null) await this.#services.beforeRemoval(tenant, journal);
    await journal?.release();
    await this.#services.store.remove(this.#sessionId);
    this.#gone();
  }

  async #use<T>(open: () => Promise<OpenedFiles>, work: (opened: OpenedFiles) => Promise<T>): Promise<T> {
    this.#uses += 1;
    try {
      this.#opened ??= open();
      return await work(await this.#opened);
    } finally {
      this.#unuse();
    }
  }

  #unuse(): void {
    this.#uses -= 1;
    if (this.#uses > 0) return;
    this.#whenUnused?.();
    if (this.#closing === null) this.closeQuietly((journal) => this.#rest(journal));
  }

  async #rest(journal: Journal | null): Promise<void> {
    await journal?.release();
    const loaded = (await this.#opened?.catch(() => null))?.loaded ?? null;
    if (journal !== null && loaded !== null) this.#services.statesAtRest.keep(journal, loaded);
  }

  async #finish(work: (journal: Journal | null) => Promise<void>): Promise<void> {
    const journal = (await this.#opened?.catch(() => null))?.journal ?? null;
    try {
      await work(journal);
    } finally {
      await journal?.release();
    }
  }

  async #create(sealed: Uint8Array | null): Promise<OpenedFiles> {
    const { store } = this.#services;
    const journal = await store.create(this.#sessionId);
    try {
      if (sealed !== null) await store.writeSealed(this.#sessionId, sealed);
    } catch (error) {
      await journal.release();
      throw error;
    }
    const loaded = { state: SessionState.empty(), checkpoints: new Checkpoints(store, null) };
    return { journal, loaded, state: () => Promise.resolve(loaded) };
  }

  async #open(): Promise<OpenedFiles> {
    const { catalog } = this.#services;
    const journal = await this.#openJournal();
    const opened = this.#asOpened(journal);
    if (catalog.row(this.#sessionId) !== null) return opened;
    try {
      await this.#recover(opened);
      return opened;
    } catch (error) {
      await journal.release();
      throw error;
    }
  }

  async #openJournal(): Promise<Journal> {
    try {
      return await this.#services.store.open(this.#sessionId);
    } catch (error) {
      // A directory that a create left before its first record: it never was a session, and is listed no more.
      if (error instanceof StorageError && error.code === 'session_not_found') this.#gone();
      throw error;
    }
  }

  #asOpened(journal: Journal): OpenedFiles {
    const { log, statesAtRest, store } = this.#services;
    let loaded = statesAtRest.take(journal);
    let loading: Promise<LoadedState> | null = null;
    const load = async (): Promise<LoadedState> => {
      try {
        return (loaded = await loadState(store, journal, log));
      } finally {
        // A disk that failed once is asked again: others may keep the files open for as long as they like.
        loading = null;
      }
    };
    return {
      journal,
      get loaded() {
        return loaded;
      },
      state: async () => loaded ?? (loading ??= load()),
    };
  }

  async #recover(opened: OpenedFiles): Promise<void> {
    const { catalog, feed, log } = this.#services;
    const { journal } = opened;
    const { state } = await opened.state();
    if (isRemovalDue(state)) {
      await this.remove(state.facts.created.tenant, journal);
      log.info('delete_finished', { session_id: this.#sessionId });
      throw new StorageError('session_not_found', `session ${this.#sessionId} was deleted`);
    }
    const recovered = await recoverSession(journal, state, this.#services);
    catalog.set(this.#sessionId, rowOf(state));
    if (recovered !== null) feed.committed(this.#sessionId, recovered.records, recovered.payloadBytes);
  }

  /** The session is not there any more: it is listed no longer, and its followers end. */
  #gone(): void {
    this.#services.statesAtRest.forget(this.#sessionId);
    this.#services.catalog.remove(this.#sessionId);
    this.#services.feed.gone(this.#sessionId);
  }
}

async function giveUp(journal: Journal | null): Promise<void> {
  await journal?.release();
}
