/**
 * The one entry of a session in this process, and its residency there: activating, releasing, discarding and deleting
 * happen here, one at a time.
 *
 *   E1. Whoever needs the session uses its files, which stay open meanwhile. A live actor is a use.
 *   E2. While the entry closes (released, discarded, deleted) nothing is opened: who comes waits for the outcome and
 *       looks again.
 *   E3. A discarded incarnation is stopped first; its files are closed when its executors are quiet, or their cleanup
 *       bound is over, and no call on them is under way. A read that it fails under is the next one's to answer.
 *   E4. A delete waits for its teardowns, and takes the session away only where nothing of an environment is left. One that
 *       comes meanwhile is refused: what was torn down is the first one's answer. Nothing is torn down again by itself.
 *   E5. An end with `interrupt` that finds the session ending records nothing: what the end waits for is stopped, and says so.
 */
import type { Command } from '../machines/commands.ts';
import type { Rules } from '../machines/decide.ts';
import type { KeyedRequest, SessionRecord } from '../machines/records.ts';
import { isRemovalDue } from '../machines/recover.ts';
import type { SessionState } from '../machines/replay.ts';
import { StorageError, type Journal } from '../storage/journal.ts';
import { rowOf } from './catalog.ts';
import { teardownFailure } from './environments/environment-failures.ts';
import type { EnvironmentWork } from './environments/environment-work.ts';
import { recordsOf } from './history.ts';
import { ActorStopped, SessionActor, type Receipt } from './session-actor.ts';
import { SessionFiles, type FilesServices, type OpenedFiles } from './session-files.ts';
import type { Checkpoints } from './session-loader.ts';
import type { Turns } from './turns.ts';

export interface EntryServices extends FilesServices {
  readonly rules: Rules;
  readonly turns: Turns;
  readonly environmentWork: EnvironmentWork;
}

/** A live actor, and the use of the files that it is. */
interface Resident {
  readonly actor: SessionActor;
  readonly release: () => void;
}

type Refusal = Receipt & { readonly kind: 'refused' };

/** A delete that is being carried out. */
interface Deletion {
  /** What another one is told that comes now; null: the outcome. Known once it is decided whether anything is torn down. */
  readonly refusal: Promise<Refusal | null>;
  readonly outcome: Promise<Receipt>;
}

export class SessionEntry {
  readonly sessionId: string;
  readonly #services: EntryServices;
  readonly #files: SessionFiles;
  #resident: Resident | null = null;
  #isDiscarded = false;
  #deletion: Deletion | null = null;
  /** Told when no operation of an environment is open any more, or nobody knows. */
  readonly #whenSettled: (() => void)[] = [];
  /** Cancels the suspension that ends this stay in idle; null where none is due. */
  #suspension: (() => void) | null = null;

  /** `onClosed`: the entry is spent; the next access makes a new one. */
  constructor(sessionId: string, services: EntryServices, onClosed: () => void) {
    this.sessionId = sessionId;
    this.#services = services;
    this.#files = new SessionFiles(sessionId, services, onClosed);
  }

  get closing(): Promise<void> | null {
    return this.#files.closing;
  }

  get isResident(): boolean {
    return this.#resident !== null;
  }

  /** Creates the session. If its first commit fails it never was. What is sealed is there before that. */
  async create(command: Command & { readonly kind: 'create' }, sealed: Uint8Array | null): Promise<Receipt> {
    return this.#files.useNew(sealed, async (opened) => (await this.#activate(opened)).submit(command));
  }

  /** Reads from the journal, without an actor. */
  async read<T>(work: (journal: Journal) => Promise<T>): Promise<T> {
    return this.#files.use((opened) => this.#reading(() => work(opened.journal)));
  }

  /** Reads the session's state, without an actor. */
  async readState<T>(work: (state: SessionState) => T): Promise<T> {
    return this.#files.use((opened) => this.#reading(async () => work((await opened.state()).state)));
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
    return this.#files.use(async (opened) => {
      const actor = await this.#activate(opened);
      const receipt = await actor.submit(command, request);
      if (command.kind === 'end' && command.mode === 'interrupt' && foundEnding(actor, receipt)) this.#services.environmentWork.close(this.sessionId);
      return receipt;
    });
  }

  /**
   * Records that the session is to be deleted, tears down what is or may be there of its environments, and takes it away.
   * Refused as busy where another one tears down; where that only takes the session away, its outcome is this one's. Throws
   * `teardown_failed` where something may be left.
   */
  async delete(): Promise<Receipt> {
    const underWay = this.#deletion;
    // It may be over by then.
    if (underWay !== null) return (await underWay.refusal) ?? underWay.outcome;
    let decided: (refusal: Refusal | null) => void = () => undefined;
    const refusal = new Promise<Refusal | null>((resolve) => {
      decided = resolve;
    });
    const outcome = this.#delete(decided).finally(() => {
      decided(null);
      this.#deletion = null;
    });
    this.#deletion = { refusal, outcome };
    return outcome;
  }

  async #delete(decided: (refusal: Refusal | null) => void): Promise<Receipt> {
    const { receipt, removed } = await this.#files.use(async (opened) => {
      const actor = await this.#activate(opened);
      const asked = await actor.submit({ kind: 'delete' });
      if (asked.kind !== 'committed') return { receipt: asked, removed: null };
      decided(hasOpen(actor) ? { kind: 'refused', code: 'session_busy', state: actor.state.state } : null);
      await this.#settled(actor);
      if (!isRemovalDue(actor.state)) {
        throw await teardownFailure(this.sessionId, recordsOf(opened.journal, (asked.records[0]?.sequence ?? 1) - 1));
      }
      // Begun while the files are in use: they could be given up before otherwise, and the next one would know nothing.
      const { tenant } = actor.state.facts.created;
      return { receipt: asked, removed: this.#close((journal) => this.#files.remove(tenant, journal)) };
    });
    await removed;
    if (removed !== null && this.#services.catalog.has(this.sessionId)) {
      throw new StorageError('journal_unavailable', `session ${this.sessionId} could not be removed`);
    }
    return receipt;
  }

  /** Resolves when no operation of an environment is open. */
  async #settled(actor: SessionActor): Promise<void> {
    while (hasOpen(actor) && this.closing === null) await new Promise<void>((resolve) => this.#whenSettled.push(resolve));
    // What was sent is unknown now: the next incarnation says so, and must not take this delete for one that sent nothing.
    if (hasOpen(actor)) throw new StorageError('journal_unavailable', `session ${this.sessionId} was lost while it was torn down`);
  }

  #tellSettled(): void {
    for (const resolve of this.#whenSettled.splice(0)) resolve();
  }

  /** Gives the session's files up, for the end of this process. A turn that still runs is told, and not waited for. */
  async shutDown(): Promise<void> {
    if (this.closing === null) {
      this.#files.closeQuietly();
      this.#dropActor();
      this.#tellSettled();
      void this.#services.turns.discard(this.sessionId);
      void this.#services.environmentWork.discard(this.sessionId);
    }
    await this.closing;
  }

  #close(work: (journal: Journal | null) => Promise<void>): Promise<void> {
    const closed = this.#files.close(work);
    this.#dropActor();
    return closed;
  }

  async #activate(opened: OpenedFiles): Promise<SessionActor> {
    const { state, checkpoints } = await opened.state();
    if (this.closing !== null) throw new ActorStopped('the session is being closed');
    if (this.#resident !== null) return this.#resident.actor;
    const { clock, rules } = this.#services;
    const actor: SessionActor = new SessionActor({
      state,
      journal: opened.journal,
      clock,
      rules,
      reactions: {
        activation: (messageSequence) => this.#services.turns.activation(this.sessionId, actor.state.facts.created, messageSequence),
        committed: (records, payloadBytes) => {
          this.#committed(actor, records, payloadBytes);
        },
        quiet: () => {
          if (isAtRest(actor)) void this.#rest(actor, opened.journal, checkpoints);
        },
        spent: (error) => {
          this.#discard(actor, error);
        },
      },
    });
    this.#resident = { actor, release: this.#files.hold() };
    return actor;
  }

  #isLive(actor: SessionActor): boolean {
    return this.#resident?.actor === actor;
  }

  #committed(actor: SessionActor, records: readonly SessionRecord[], payloadBytes: number): void {
    const { catalog, environmentWork, feed, turns } = this.#services;
    // A commit that outlived its incarnation counts, but whoever opens the session next says so.
    if (!this.#isLive(actor)) return;
    if (records.some((record) => record.state !== 'idle')) this.#endStay();
    catalog.set(this.sessionId, rowOf(actor.state));
    turns.committed(this.sessionId, actor, records, (error) => {
      this.#discard(actor, error);
    });
    environmentWork.committed(this.sessionId, actor, records);
    if (this.#whenSettled.length > 0 && !hasOpen(actor)) this.#tellSettled();
    feed.committed(this.sessionId, records, payloadBytes);
  }

  /** Called whenever the actor has nothing to do and its state is one of rest: it is released. */
  async #rest(actor: SessionActor, journal: Journal, checkpoints: Checkpoints): Promise<void> {
    if (isRetained(actor)) this.#suspendLater(actor);
    const writing = checkpoints.writeIfDue(journal, actor.state);
    if (writing !== null) await writing.finally(this.#files.hold());
    // A write took its time: the actor may be at work again, or gone.
    if (this.#isLive(actor) && actor.isQuiet && isAtRest(actor) && !isRetained(actor)) this.#dropActor();
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
    if (this.#resident === null) return;
    const { actor, release } = this.#resident;
    this.#endStay();
    actor.stop();
    this.#resident = null;
    release();
  }

  #discard(actor: SessionActor, error: unknown): void {
    if (!this.#isLive(actor)) return;
    const { catalog, environmentWork, feed, log, turns } = this.#services;
    log.error('session_discarded', { session_id: this.sessionId, error: String(error) });
    this.#isDiscarded = true;
    const quiet = Promise.all([turns.discard(this.sessionId), environmentWork.discard(this.sessionId)]);
    catalog.forgetRow(this.sessionId);
    this.#files.closeQuietly(async (journal) => {
      await quiet;
      await journal?.release();
    });
    this.#dropActor();
    this.#tellSettled();
    feed.lookAgain(this.sessionId);
  }
}

/** A stay in idle is kept where it is this actor's: one that another process left behind is over. */
function isRetained(actor: SessionActor): boolean {
  return actor.state.state === 'idle' && actor.hasCommitted;
}

function isAtRest(actor: SessionActor): boolean {
  const { state } = actor.state;
  return !state.startsWith('running') && state !== 'creating' && state !== 'ending' && !hasOpen(actor);
}

/** Whether an end came to a session that another one had brought to `ending`. */
function foundEnding(actor: SessionActor, receipt: Receipt): boolean {
  const isFirst = receipt.kind === 'committed' && receipt.records.some(({ type }) => type === 'session_ending' || type === 'session_end_requested');
  return actor.state.state === 'ending' && receipt.kind !== 'repeated' && !isFirst;
}

function hasOpen(actor: SessionActor): boolean {
  return actor.state.context.open.length > 0;
}
