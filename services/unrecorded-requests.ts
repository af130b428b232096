/**
 * Keyed creates and deletes: claimed first, carried out once, and answered again from what is there.
 *
 *   U1. A create whose session is not there, and of which no answer was kept, was killed before its first record: it is
 *       `idempotency_ambiguous`. A delete whose session is not there was carried out.
 *   U2. A request that was refused, or that is known to have changed nothing, gives its key back.
 */
import type { JsonValue } from '../machines/messages.ts';
import { StorageError, type Journal } from '../storage/journal.ts';
import type { Catalog } from './catalog.ts';
import type { Claim, Claims } from './claims.ts';
import { ServiceError } from './errors.ts';
import type { KeyedCall } from './keyed-call.ts';
import type { Log } from './ports.ts';
import { viewAt } from './past-views.ts';
import { ambiguous, inProgress, refuseOtherBody } from './repeats.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { SessionView } from './session-service.ts';

export class UnrecordedRequests {
  readonly #claims: Claims;
  readonly #catalog: Catalog;
  readonly #registry: SessionRegistry;
  readonly #log: Log;

  constructor(parts: { readonly claims: Claims; readonly catalog: Catalog; readonly registry: SessionRegistry; readonly log: Log }) {
    this.#claims = parts.claims;
    this.#catalog = parts.catalog;
    this.#registry = parts.registry;
    this.#log = parts.log;
  }

  /** The first answer of a create (`sessionId` null) or a delete that was made before; null where the key is free. */
  async repeated(tenant: string, sessionId: string | null, call: KeyedCall): Promise<{ readonly answer: SessionView | null } | null> {
    const found = await this.#claims.find(tenant, call, sessionId);
    return found === null ? null : { answer: await this.#again(tenant, call, found) };
  }

  async create(
    tenant: string,
    sessionId: string,
    keyed: KeyedCall | undefined,
    work: () => Promise<SessionView>,
  ): Promise<SessionView> {
    if (keyed === undefined) return work();
    const first = await this.#claims.take(tenant, keyed, null, sessionId);
    if (first !== null) {
      keyed.isReplayed = true;
      return (await this.#again(tenant, keyed, first)) as SessionView;
    }
    return this.#carryOut(tenant, null, keyed, work, () => !this.#catalog.has(sessionId) && !this.#registry.hasLeftover(sessionId));
  }

  async delete(tenant: string, sessionId: string, keyed: KeyedCall | undefined, work: () => Promise<void>): Promise<void> {
    if (keyed === undefined) return work();
    const first = await this.#claims.take(tenant, keyed, sessionId, sessionId);
    if (first !== null) {
      keyed.isReplayed = true;
      await this.#again(tenant, keyed, first);
      return;
    }
    await this.#carryOut(tenant, sessionId, keyed, work, isRefusal);
  }

  async #carryOut<T>(
    tenant: string,
    scope: string | null,
    keyed: KeyedCall,
    work: () => Promise<T>,
    changedNothing: (error: unknown) => boolean,
  ): Promise<T> {
    try {
      const answer = await work();
      // It was carried out whether or not this is written: what is there tells it.
      await this.#claims.answered(tenant, keyed, scope).catch((error: unknown) => this.#unwritten(error));
      return answer;
    } catch (error) {
      const leaving = changedNothing(error) ? this.#claims.withdraw(tenant, keyed, scope) : this.#claims.leave(tenant, keyed, scope);
      await leaving.catch((failure: unknown) => this.#unwritten(failure));
      throw error;
    }
  }

  /** A directory without a first record was never a session, and is found to be none when it is looked at. */
  async #isThere(sessionId: string): Promise<boolean> {
    if (this.#catalog.has(sessionId) && this.#catalog.row(sessionId) === null) {
      await this.#registry.recover(sessionId).catch((error: unknown) => {
        if (!(error instanceof StorageError) || error.code !== 'session_not_found') throw error;
      });
    }
    return this.#catalog.has(sessionId);
  }

  #unwritten(error: unknown): void {
    this.#log.warn('claim_not_written', { error: String(error) });
  }

  async #again(
    tenant: string,
    call: KeyedCall,
    { claim, isUnderWay }: { readonly claim: Claim; readonly isUnderWay: boolean },
  ): Promise<SessionView | null> {
    refuseOtherBody(call, claim.body);
    if (isUnderWay) throw inProgress();
    const { session_id } = claim;
    const isThere = await this.#isThere(session_id);
    if (call.route === 'delete') {
      if (claim.answered_at !== null || !isThere) return null;
      throw ambiguous({ session_id });
    }
    const view = isThere ? await this.#viewIfThere(session_id) : null;
    if (view !== null) return view;
    // Looked up only now: it is kept at the moment at which the session goes.
    const kept = (await this.#claims.find(tenant, call, null))?.claim.answer;
    if (kept !== undefined) return kept as unknown as SessionView;
    throw ambiguous({ session_id });
  }

  /** The session as its create was answered; null where it is deleted meanwhile. */
  async #viewIfThere(sessionId: string): Promise<SessionView | null> {
    try {
      return await this.#registry.read(sessionId, (journal) => viewAtReady(journal, this.#registry.isResident(sessionId)));
    } catch (error) {
      if (error instanceof StorageError && error.code === 'session_not_found') return null;
      throw error;
    }
  }
}

/** Keeps what a create was answered with, before the session that could tell is taken away. */
export async function keepCreateAnswer(claims: Claims, tenant: string, journal: Journal): Promise<void> {
  await claims.keepAnswer(tenant, journal.sessionId, async () => (await viewAtReady(journal)) as unknown as JsonValue);
}

/** A refusal is said before anything is changed; any other failure may have come later. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError;
}

/** The session as it was when its creation was over. */
function viewAtReady(journal: Journal, isResident = false): Promise<SessionView> {
  return viewAt(journal, ({ type }) => type === 'session_ready' || type === 'session_failed', isResident);
}
