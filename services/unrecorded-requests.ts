/**
 * Keyed creates and deletes: claimed first, carried out once, and answered again from what is there.
 *
 *   U1. A create whose session is not there, and of which no answer was kept, was killed before its first record: it is
 *       `idempotency_ambiguous`. A delete whose session is not there was carried out.
 *   U2. A request that was refused, or that is known to have changed nothing, gives its key back.
 *   U3. A create whose environments could not be set up, and a delete that could not tear them down, have their answer: a
 *       repeat gets it again, and neither is tried once more. One that a restart cut short is `idempotency_ambiguous`.
 */
import type { JsonValue } from '../machines/messages.ts';
import { StorageError, type Journal } from '../storage/journal.ts';
import type { Catalog } from './catalog.ts';
import type { Claim, Claims, KeptAnswer, KeptError } from './claims.ts';
import { creationAnswer, type CreationAnswer } from './creation-answers.ts';
import { ServiceError } from './errors.ts';
import type { KeyedCall } from './keyed-call.ts';
import type { Log } from './ports.ts';
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
    if (first !== null) return (await this.#again(tenant, keyed, first)) as SessionView;
    return this.#carryOut(tenant, null, keyed, work, () => !this.#catalog.has(sessionId) && !this.#registry.hasLeftover(sessionId));
  }

  async delete(tenant: string, sessionId: string, keyed: KeyedCall | undefined, work: () => Promise<void>): Promise<void> {
    if (keyed === undefined) return work();
    const first = await this.#claims.take(tenant, keyed, sessionId, sessionId);
    if (first !== null) {
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
      await this.#endOfClaim(tenant, scope, keyed, error, changedNothing).catch((failure: unknown) => this.#unwritten(failure));
      throw error;
    }
  }

  async #endOfClaim(
    tenant: string,
    scope: string | null,
    keyed: KeyedCall,
    error: unknown,
    changedNothing: (error: unknown) => boolean,
  ): Promise<void> {
    // Of a create its session tells, for as long as it is there.
    if (isAnswer(error)) await this.#claims.answered(tenant, keyed, scope, keyed.route === 'delete' ? { error: keptError(error) } : undefined);
    else if (changedNothing(error)) await this.#claims.withdraw(tenant, keyed, scope);
    else await this.#claims.leave(tenant, keyed, scope);
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

  /** The first answer, be it an error. Any other error says that there is none to give. */
  async #again(
    tenant: string,
    call: KeyedCall,
    found: { readonly claim: Claim; readonly isUnderWay: boolean },
  ): Promise<SessionView | null> {
    try {
      const answer = await this.#answerOf(tenant, call, found);
      call.isReplayed = true;
      return answer;
    } catch (error) {
      call.isReplayed = isAnswer(error);
      throw error;
    }
  }

  async #answerOf(
    tenant: string,
    call: KeyedCall,
    { claim, isUnderWay }: { readonly claim: Claim; readonly isUnderWay: boolean },
  ): Promise<SessionView | null> {
    refuseOtherBody(call, claim.body);
    if (isUnderWay) throw inProgress();
    const { session_id } = claim;
    const isThere = await this.#isThere(session_id);
    if (call.route === 'delete') {
      if (claim.error !== undefined) throw errorOf(claim.error);
      if (claim.answered_at !== null || !isThere) return null;
      throw ambiguous({ session_id });
    }
    const answer = isThere ? await this.#answerIfThere(session_id) : null;
    if (answer !== null) return viewIn(answer, session_id);
    // Looked up only now: it is kept at the moment at which the session goes.
    const kept = (await this.#claims.find(tenant, call, null))?.claim;
    if (kept?.error !== undefined) throw errorOf(kept.error);
    if (kept?.answer !== undefined) return kept.answer as unknown as SessionView;
    throw ambiguous({ session_id });
  }

  /** How the session's creation was answered; null where it is deleted meanwhile. */
  async #answerIfThere(sessionId: string): Promise<CreationAnswer | null> {
    try {
      return await this.#registry.read(sessionId, (journal) => creationAnswer(journal, this.#registry.isResident(sessionId)));
    } catch (error) {
      if (error instanceof StorageError && error.code === 'session_not_found') return null;
      throw error;
    }
  }
}

/** Keeps what a create was answered with, before the session that could tell is taken away. */
export async function keepCreateAnswer(claims: Claims, tenant: string, journal: Journal): Promise<void> {
  await claims.keepAnswer(tenant, journal.sessionId, async (): Promise<KeptAnswer | null> => {
    const answer = await creationAnswer(journal, false);
    if (answer.kind === 'ready') return { answer: answer.view as unknown as JsonValue };
    return answer.kind === 'failed' ? { error: keptError(answer.error) } : null;
  });
}

function viewIn(answer: CreationAnswer, session_id: string): SessionView {
  switch (answer.kind) {
    case 'ready':
      return answer.view;
    case 'failed':
      throw answer.error;
    case 'interrupted':
      throw ambiguous({ session_id });
    case 'under_way':
      throw inProgress();
  }
}

/** An error that says what the request came to, and not that it was refused or lost. */
function isAnswer(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.code === 'environment_failed' || error.code === 'teardown_failed');
}

function keptError({ code, message, details }: ServiceError): KeptError {
  return { code, message, ...(details === undefined ? {} : { details }) };
}

function errorOf({ code, message, details }: KeptError): ServiceError {
  return new ServiceError(code, message, details === undefined ? {} : { details });
}

/** A refusal is said before anything is changed; any other failure may have come later. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError;
}
