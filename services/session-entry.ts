/**
 * The one entry of a session in this process: opening, releasing, discarding and deleting happen here, one at a time.
 *
 *   E1. Whoever needs the session's files uses the entry, and uses are counted; the files are closed when the last use
 *       is over. A live actor is a use.
 *   E2. A session that nobody has looked at since this process started, or whose actor was discarded, is recovered
 *       before anything is read from it.
 *   E3. While the entry closes (released, discarded, deleted) nothing is opened: who comes waits for the outcome and
 *       looks again.
 *   E4. A discarded incarnation is stopped first; its files are closed when its executors are quiet, or their cleanup
 *       bound is over, and no call on them is under way. A read that it fails under is the next one's to answer.
 */
import type { Command } from '../machines/commands.ts';
import type { Rules } from '../machines/decide.ts';
import { recover } from '../machines/recover.ts';
import { SessionState } from '../machines/replay.ts';
import type { KeyedRequest, SessionRecord } from '../machines/records.ts';
import { StorageError, type Journal, type SessionStore } from '../storage/journal.ts';
import { rowOf, type Catalog } from './catalog.ts';
import type { EventFeed } from './event-feed.ts';
import type { Clock, Log } from './ports.ts';
import { decodeRecords, encodeRecord, payloadOf, timed } from './record-codec.ts';
import { ActorStopped, SessionActor, type Receipt } from './session-actor.ts';
import { Checkpoints, loadState, type LoadedState } from './session-loader.ts';
import type { Turns } from './turns.ts';

export interface EntryServices {
  readonly store: SessionStore;
  readonly catalog: Catalog;
  readonly feed: EventFeed;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: Rules;
  readonly turns: Turns;
  /** Told of each session that had something left open. */
  onRecovered(sessionId: string): void;
}

interface Opened {
  readonly journal: Journal;
  /** Loaded when it is first asked for. */
  loaded: Promise<LoadedState> | null;
}

export class SessionEntry {
  readonly sessionId: string;
  readonly #services: EntryServices;
  readonly #onClosed: () => void;
  #opened: Promise<Opened> | null = null;
  #actor: SessionActor | null = null;
  #uses = 0;
  #closing: Promise<void> | null = null;
  #isDiscarded = false;
  #whenUnused: (() => void) | null = null;
  /** Cancels the suspension that ends this stay in idle; null where none is due. */
  #suspension: (() => void) | null = null;

  /** `onClosed`: the entry is spent; the next access makes a new one. */
  constructor(sessionId: string, services: EntryServices, onClosed: () => void) {
    this.sessionId = sessionId;
    this.#services = services;
    this.#onClosed = onClosed;
  }

  get closing(): Promise<void> | null {
    return this.#closing;
  }

  get isResident(): boolean {
    return this.#actor !== null;
  }

  /** Creates the session. If its first commit fails it never was. What is sealed is there before that. */
  async create(command: Command & { readonly kind: 'create' }, sealed: Uint8Array | null): Promise<Receipt> {
    this.#uses += 1;
    try {
      this.#opened = this.#createJournal(sealed);
      return await (await this.#activate()).submit(command);
    } finally {
      this.#unuse();
    }
  }

  /** Reads from the journal, without an actor. */
  async read<T>(work: (journal: Journal) => Promise<T>): Promise<T> {
    return this.#use((opened) => this.#reading(() => work(opened.journal)));
  }

  /** Reads the session's state, without an actor. */
  async readState<T>(work: (state: SessionState) => T): Promise<T> {
    return this.#use((opened) => this.#reading(async () => work((await this.#load(opened)).state)));
  }

  async #reading<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.#isDiscarded && error instanceof StorageError) throw new ActorStopped('the session was discarded', { cause: error });
      throw error;
    }
  }

  async command(command: Command, request?: KeyedRequest): Promise<Receipt> {
    return this.#use(async () => (await this.#activate()).submit(command, request));
  }

  /**
   * Records that the session is to be deleted, and takes it away: after `beforeRemoval`, the last to see its journal.
   * Whoever comes meanwhile waits for the outcome.
   */
  async delete(beforeRemoval: (journal: Journal) => Promise<void>): Promise<Receipt> {
    const { receipt, removed } = await this.#use(async () => {
      const asked = await (await this.#activate()).submit({ kind: 'delete' });
      // Begun while the entry is in use: it could be released before otherwise, and the next one would know nothing.
      return { receipt: asked, removed: asked.kind === 'committed' ? this.#remove(beforeRemoval) : null };
    });
    await removed;
    if (removed !== null && this.#services.catalog.has(this.sessionId)) {
      throw new StorageError('journal_unavailable', `session ${this.sessionId} could not be removed`);
    }
    return receipt;
  }

  #remove(beforeRemoval: (journal: Journal) => Promise<void>): Promise<void> {
    const { store } = this.#services;
    return this.#close(async (journal) => {
      if (journal !== null) await beforeRemoval(journal);
      await journal?.release();
      await store.remove(this.sessionId);
      this.#gone();
    });
  }

  /** The session is not there any more: it is listed no longer, and its followers end. */
  #gone(): void {
    this.#services.catalog.remove(this.sessionId);
    this.#services.feed.gone(this.sessionId);
  }

  /** Gives the session's files up, for the end of this process. A turn that still runs is told, and not waited for. */
  async shutDown(): Promise<void> {
    if (this.#closing === null) {
      this.#closeQuietly(async (journal) => journal?.release());
      void this.#services.turns.discard(this.sessionId);
    }
    await this.#closing;
  }

  async #use<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    this.#uses += 1;
    try {
      this.#opened ??= this.#open();
      return await work(await this.#opened);
    } finally {
      this.#unuse();
    }
  }

  #unuse(): void {
    this.#uses -= 1;
    if (this.#uses > 0) return;
    this.#whenUnused?.();
    if (this.#closing === null) this.#closeQuietly(async (journal) => journal?.release());
  }

  /**
   * Closes the entry once: takes its actor away, waits until nobody uses it, and lets `work` finish with its files.
   * Another close under way is waited for instead.
   */
  #close(work: (journal: Journal | null) => Promise<void>): Promise<void> {
    if (this.#closing !== null) return this.#closing;
    const unused = new Promise<void>((resolve) => {
      this.#whenUnused = resolve;
    });
    const closed = unused.then(() => this.#finish(work)).finally(this.#onClosed);
    this.#closing = closed.catch(() => undefined);
    this.#dropActor();
    if (this.#uses === 0) this.#whenUnused?.();
    return closed;
  }

  /** Whatever becomes of `work`, the journal is given up: nobody could open the session again otherwise. */
  async #finish(work: (journal: Journal | null) => Promise<void>): Promise<void> {
    const journal = (await this.#opened?.catch(() => null))?.journal ?? null;
    try {
      await work(journal);
    } finally {
      await journal?.release();
    }
  }

  /** Nobody waits for this outcome: the files are given up, whatever closing them says. */
  #closeQuietly(work: (journal: Journal | null) => Promise<void>): void {
    this.#close(work).catch((error: unknown) => {
      this.#services.log.error('session_close_failed', { session_id: this.sessionId, error: String(error) });
    });
  }

  async #createJournal(sealed: Uint8Array | null): Promise<Opened> {
    const { store } = this.#services;
    const journal = await store.create(this.sessionId);
    try {
      if (sealed !== null) await store.writeSealed(this.sessionId, sealed);
    } catch (error) {
      await journal.release();
      throw error;
    }
    const loaded = { state: SessionState.empty(), checkpoints: new Checkpoints(store, journal, null) };
    return { journal, loaded: Promise.resolve(loaded) };
  }

  async #open(): Promise<Opened> {
    const { catalog } = this.#services;
    const journal = await this.#openJournal();
    const opened: Opened = { journal, loaded: null };
    if (catalog.row(this.sessionId) !== null) return opened;
    try {
      const { state } = await this.#load(opened);
      const recovered = await this.#recover(journal, state);
      catalog.set(this.sessionId, rowOf(state));
      if (recovered !== null) this.#services.feed.committed(this.sessionId, recovered.records, recovered.payloadBytes);
      return opened;
    } catch (error) {
      await journal.release();
      throw error;
    }
  }

  async #openJournal(): Promise<Journal> {
    try {
      return await this.#services.store.open(this.sessionId);
    } catch (error) {
      // A directory that a create left before its first record: it never was a session, and is listed no more.
      if (error instanceof StorageError && error.code === 'session_not_found') this.#gone();
      throw error;
    }
  }

  /** Closes what a process, or an incarnation, that is gone left open. Nothing is sent again. Null: it was at rest. */
  async #recover(
    journal: Journal,
    state: SessionState,
  ): Promise<{ readonly records: readonly SessionRecord[]; readonly payloadBytes: number } | null> {
    const decided = recover(state.snapshot);
    if (decided.length === 0) return null;
    const recorded_at = Math.max(this.#services.clock.now(), state.facts.recorded_at);
    const payload = payloadOf(decided.map((record) => encodeRecord(timed(record, recorded_at))));
    await journal.append({ firstSequence: state.lastSequence + 1, recordCount: decided.length, payload });
    const records = decodeRecords(payload);
    for (const record of records) state.apply(record);
    this.#services.onRecovered(this.sessionId);
    this.#services.log.info('session_recovered', { session_id: this.sessionId, state: state.state, records: records.length });
    return { records, payloadBytes: payload.length };
  }

  async #load(opened: Opened): Promise<LoadedState> {
    opened.loaded ??= loadState(this.#services.store, opened.journal, this.#services.log);
    return opened.loaded;
  }

  async #activate(): Promise<SessionActor> {
    const opened = await this.#opened;
    if (opened === null) throw new Error('an entry is activated while it is used');
    const { state, checkpoints } = await this.#load(opened);
    if (this.#closing !== null) throw new ActorStopped('the session is being closed');
    if (this.#actor !== null) return this.#actor;
    const { clock, rules } = this.#services;
    const actor: SessionActor = new SessionActor({
      state,
      journal: opened.journal,
      clock,
      rules,
      reactions: {
        committed: (records, payloadBytes) => {
          this.#committed(actor, records, payloadBytes);
        },
        quiet: () => {
          void this.#rest(actor, checkpoints);
        },
        spent: (error) => {
          this.#discard(actor, error);
        },
      },
    });
    this.#actor = actor;
    this.#uses += 1;
    return actor;
  }

  #committed(actor: SessionActor, records: readonly SessionRecord[], payloadBytes: number): void {
    const { catalog, feed, turns } = this.#services;
    // A commit that outlived its incarnation counts, but whoever opens the session next says so.
    if (this.#actor !== actor) return;
    if (records.some((record) => record.state !== 'idle')) this.#endStay();
    catalog.set(this.sessionId, rowOf(actor.state));
    turns.committed(this.sessionId, actor, records, (error) => {
      this.#discard(actor, error);
    });
    feed.committed(this.sessionId, records, payloadBytes);
  }

  /** Called whenever the actor has nothing to do: it is released where its state is one of rest. */
  async #rest(actor: SessionActor, checkpoints: Checkpoints): Promise<void> {
    if (!isAtRest(actor)) return;
    if (isRetained(actor)) this.#suspendLater(actor);
    const writing = checkpoints.writeIfDue(actor.state);
    if (writing !== null) {
      this.#uses += 1;
      await writing.finally(() => this.#unuse());
    }
    // A write took its time: the actor may be at work again, or gone.
    if (this.#actor === actor && actor.isQuiet && isAtRest(actor) && !isRetained(actor)) this.#dropActor();
  }

  #suspendLater(actor: SessionActor): void {
    const { retain } = actor.state.context;
    if (retain === null || retain === 0 || this.#suspension !== null) return;
    this.#suspension = this.#services.clock.after(retain, () => {
      // A commit that fails spends the actor, which says so by itself.
      actor.submit({ kind: 'suspend' }).catch(() => undefined);
    });
  }

  #endStay(): void {
    this.#suspension?.();
    this.#suspension = null;
  }

  /** The actor's own use ends with it. */
  #dropActor(): void {
    if (this.#actor === null) return;
    this.#endStay();
    this.#actor.stop();
    this.#actor = null;
    this.#unuse();
  }

  #discard(actor: SessionActor, error: unknown): void {
    if (this.#actor !== actor) return;
    const { catalog, feed, log, turns } = this.#services;
    log.error('session_discarded', { session_id: this.sessionId, error: String(error) });
    this.#isDiscarded = true;
    const quiet = turns.discard(this.sessionId);
    catalog.forgetRow(this.sessionId);
    this.#closeQuietly(async (journal) => {
      await quiet;
      await journal?.release();
    });
    feed.lookAgain(this.sessionId);
  }
}

/** A stay in idle is kept where it is this actor's: one that another process left behind is over. */
function isRetained(actor: SessionActor): boolean {
  return actor.state.state === 'idle' && actor.hasCommitted;
}

function isAtRest(actor: SessionActor): boolean {
  const { state } = actor.state;
  return !state.startsWith('running') && state !== 'creating' && state !== 'ending';
}
