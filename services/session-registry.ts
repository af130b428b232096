/**
 * The sessions of this process: one entry for each that is in use. It opens them when something needs them, never at
 * start, and closes them when nothing does.
 */
import type { Command } from '../machines/commands.ts';
import type { KeyedRequest } from '../machines/records.ts';
import type { SessionState } from '../machines/replay.ts';
import type { Journal } from '../storage/journal.ts';
import { ServiceError } from './errors.ts';
import { ActorStopped, type Receipt } from './session-actor.ts';
import { decodeRecords } from './record-codec.ts';
import { SessionEntry, type EntryServices } from './session-entry.ts';

export class SessionRegistry {
  readonly #services: EntryServices;
  readonly #entries = new Map<string, SessionEntry>();
  readonly #leftovers = new Set<string>();
  #isClosed = false;

  constructor(services: EntryServices) {
    this.#services = services;
  }

  isResident(sessionId: string): boolean {
    return this.#entries.get(sessionId)?.isResident ?? false;
  }

  /** `sealed`: the session's own copy of its credentials; null where it has none. */
  async create(sessionId: string, command: Command & { readonly kind: 'create' }, sealed: Uint8Array | null): Promise<Receipt> {
    this.assertOpen();
    const entry = this.#newEntry(sessionId);
    try {
      const receipt = await entry.create(command, sealed);
      if (receipt.kind !== 'committed') await this.#takeAway(entry);
      return receipt;
    } catch (error) {
      await this.#takeAway(entry);
      throw error;
    }
  }

  /** What a create has left that came to nothing. */
  async #takeAway(entry: SessionEntry): Promise<void> {
    await entry.closing;
    const { sessionId } = entry;
    await this.#services.store.remove(sessionId).catch((failure: unknown) => {
      // Its first frame may be there whole, with only its flush failed: the next start takes it for what it finds.
      this.#leftovers.add(sessionId);
      this.#services.log.warn('create_leftover', { session_id: sessionId, error: String(failure) });
    });
  }

  /** Whether a create that failed may have left its session behind. */
  hasLeftover(sessionId: string): boolean {
    return this.#leftovers.has(sessionId);
  }

  command(sessionId: string, command: Command, request?: KeyedRequest): Promise<Receipt> {
    return this.#withEntry(sessionId, (entry) => entry.command(command, request));
  }

  read<T>(sessionId: string, work: (journal: Journal) => Promise<T>): Promise<T> {
    return this.#withEntry(sessionId, (entry) => entry.read(work));
  }

  readState<T>(sessionId: string, work: (state: SessionState) => T): Promise<T> {
    return this.#withEntry(sessionId, (entry) => entry.readState(work));
  }

  /** Looks at a session for the first time, so that it is recovered and its row in the catalog. */
  recover(sessionId: string): Promise<void> {
    return this.#withEntry(sessionId, (entry) => entry.read(() => Promise.resolve()));
  }

  /** Whose session it is that cannot be opened, where its beginning still tells; null where nothing does. */
  async ownerOf(sessionId: string): Promise<string | null> {
    const { catalog, store } = this.#services;
    const known = catalog.ownerOf(sessionId);
    if (known !== null) return known;
    const first = await store.firstPayload(sessionId).then(
      (payload) => (payload === null ? undefined : decodeRecords(payload)[0]),
      () => undefined,
    );
    if (first?.type !== 'session_created') return null;
    catalog.own(sessionId, first.data.tenant);
    return first.data.tenant;
  }

  /** Records that the session is to be deleted, and takes it away. */
  delete(sessionId: string): Promise<Receipt> {
    return this.#withEntry(sessionId, (entry) => entry.delete());
  }

  /** Resolves when every entry is closed. Whoever asks for a session from now on is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#entries.size > 0) await Promise.all([...this.#entries.values()].map((entry) => entry.shutDown()));
  }

  /** Throws `draining` once the registry is closed. */
  assertOpen(): void {
    if (this.#isClosed) throw new ServiceError('draining', 'the server is shutting down');
  }

  /** Runs on the session's entry; one that is closing is waited for, and looked up again. */
  async #withEntry<T>(sessionId: string, work: (entry: SessionEntry) => Promise<T>): Promise<T> {
    for (;;) {
      // Opening a session again for whoever lost it to the close would never come to an end.
      this.assertOpen();
      const entry = this.#entries.get(sessionId) ?? this.#newEntry(sessionId);
      if (entry.closing !== null) {
        await entry.closing;
        continue;
      }
      try {
        return await work(entry);
      } catch (error) {
        // Nothing of the command was decided: the next incarnation takes it.
        if (!(error instanceof ActorStopped)) throw error;
      }
    }
  }

  #newEntry(sessionId: string): SessionEntry {
    const entry: SessionEntry = new SessionEntry(sessionId, this.#services, () => {
      if (this.#entries.get(sessionId) === entry) this.#entries.delete(sessionId);
    });
    this.#entries.set(sessionId, entry);
    return entry;
  }
}
