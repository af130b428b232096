/**
 * The keys of requests that no journal can hold: a create, before whose claim there is no journal, and a delete, after
 * which there is none. A claim is durable before its request is carried out, and names the session.
 *
 *   C1. What a claim is answered with is read from the session where it is there. Only where a session goes away is its
 *       create's answer kept here, before it goes; and of a delete that left its session, what it was told.
 *   C2. An answered claim is kept for 24 hours. One that was never answered is kept for ever: its request is not carried
 *       out again.
 */
import type { JsonObject, JsonValue } from '../machines/messages.ts';
import type { ClaimStore } from '../storage/claims.ts';
import type { ServiceErrorCode } from './errors.ts';
import type { KeyedCall } from './keyed-call.ts';
import type { Clock } from './ports.ts';

const ANSWER_KEPT_MS = 24 * 60 * 60 * 1000;
// Rewriting fewer entries than this saves nobody anything.
const COMPACTION_ENTRIES_MIN = 1_000;

/** What is written down, in the order in which it happened. Times are epoch milliseconds. */
type Entry =
  | { readonly kind: 'claimed'; readonly name: string; readonly body: string; readonly session_id: string }
  | ({ readonly kind: 'answered'; readonly name: string; readonly at: number } & Partial<KeptAnswer>)
  | { readonly kind: 'withdrawn'; readonly name: string };

/** An answer that nothing else tells: a result, or an error. */
export type KeptAnswer = { readonly answer: JsonValue } | { readonly error: KeptError };

export interface KeptError {
  readonly code: ServiceErrorCode;
  readonly message: string;
  readonly details?: JsonObject;
}

export interface Claim {
  /** SHA-256 of the body's canonical JSON, in hex. */
  readonly body: string;
  readonly session_id: string;
  readonly answered_at: number | null;
  /** Only where the session is not there any more to read it from. */
  readonly answer?: JsonValue;
  /** Where it was answered with one that the session does not tell. */
  readonly error?: KeptError;
}

interface TenantClaims {
  readonly byName: Map<string, Claim>;
  /** Claims whose requests this process is carrying out. */
  readonly underWay: Set<string>;
}

export class Claims {
  readonly #store: ClaimStore;
  readonly #clock: Clock;
  readonly #tenants = new Map<string, Promise<TenantClaims>>();

  constructor(store: ClaimStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The claim of a call that was made before; null where its key is free. */
  async find(tenant: string, call: KeyedCall, sessionId: string | null): Promise<{ readonly claim: Claim; readonly isUnderWay: boolean } | null> {
    const name = nameOf(call, sessionId);
    const { byName, underWay } = await this.#tenant(tenant);
    const claim = byName.get(name);
    if (claim === undefined || this.#isForgotten(claim)) return null;
    return { claim, isUnderWay: underWay.has(name) };
  }

  /**
   * Takes the key for a request that is about to be carried out on a session; durable when it resolves. Answers the
   * claim that was there first, if one was.
   */
  async take(
    tenant: string,
    call: KeyedCall,
    scope: string | null,
    session_id: string,
  ): Promise<{ readonly claim: Claim; readonly isUnderWay: boolean } | null> {
    const name = nameOf(call, scope);
    const claims = await this.#tenant(tenant);
    const first = claims.byName.get(name);
    if (first !== undefined && !this.#isForgotten(first)) return { claim: first, isUnderWay: claims.underWay.has(name) };
    const { body } = call.request;
    // Before the write, so that whoever comes meanwhile finds it under way.
    claims.byName.set(name, { body, session_id, answered_at: null });
    claims.underWay.add(name);
    try {
      await this.#append(tenant, { kind: 'claimed', name, body, session_id });
      return null;
    } catch (error) {
      // A failed append has written nothing, as the port has it, and nothing was carried out. All other claims stand.
      if (first === undefined) claims.byName.delete(name);
      else claims.byName.set(name, first);
      claims.underWay.delete(name);
      throw error;
    }
  }

  /** The request was answered. `kept`: the answer, where nothing else tells it. */
  async answered(tenant: string, call: KeyedCall, scope: string | null, kept?: KeptAnswer): Promise<void> {
    const name = nameOf(call, scope);
    const claims = await this.#tenant(tenant);
    try {
      await this.#answer(tenant, claims, name, kept);
    } finally {
      claims.underWay.delete(name);
    }
  }

  /** The request was refused, or never took effect: its key is free again. */
  async withdraw(tenant: string, call: KeyedCall, scope: string | null): Promise<void> {
    const name = nameOf(call, scope);
    const claims = await this.#tenant(tenant);
    try {
      await this.#append(tenant, { kind: 'withdrawn', name });
      claims.byName.delete(name);
    } finally {
      // Not before: whoever comes meanwhile would find a claim that nobody is at work on, and take it for an ambiguous one.
      claims.underWay.delete(name);
    }
  }

  /** What became of the request is unknown: its key is not free, and nobody is at work on it. */
  async leave(tenant: string, call: KeyedCall, scope: string | null): Promise<void> {
    (await this.#tenant(tenant)).underWay.delete(nameOf(call, scope));
  }

  /** Keeps the answer of the create that made a session which is about to go, if a key was used for it. Null: it has none. */
  async keepAnswer(tenant: string, sessionId: string, answer: () => Promise<KeptAnswer | null>): Promise<void> {
    const claims = await this.#tenant(tenant);
    for (const [name, claim] of claims.byName) {
      if (claim.session_id !== sessionId || !isOfCreate(name) || this.#isForgotten(claim)) continue;
      const kept = await answer();
      if (kept !== null) await this.#answer(tenant, claims, name, kept);
    }
  }

  async #answer(tenant: string, claims: TenantClaims, name: string, kept?: KeptAnswer): Promise<void> {
    const claim = claims.byName.get(name);
    if (claim === undefined) return;
    const at = claim.answered_at ?? this.#clock.now();
    await this.#append(tenant, { kind: 'answered', name, at, ...kept });
    claims.byName.set(name, { ...claim, answered_at: at, ...kept });
  }

  #append(tenant: string, entry: Entry): Promise<void> {
    return this.#store.append(tenant, Buffer.from(JSON.stringify(entry), 'utf8'));
  }

  #isForgotten({ answered_at }: Claim): boolean {
    return answered_at !== null && this.#clock.now() - answered_at > ANSWER_KEPT_MS;
  }

  #tenant(tenant: string): Promise<TenantClaims> {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const loading = this.#load(tenant).catch((error: unknown) => {
      this.#tenants.delete(tenant);
      throw error;
    });
    this.#tenants.set(tenant, loading);
    return loading;
  }

  async #load(tenant: string): Promise<TenantClaims> {
    const entries = (await this.#store.load(tenant)).map((bytes) => JSON.parse(Buffer.from(bytes).toString('utf8')) as Entry);
    const byName = new Map<string, Claim>();
    for (const entry of entries) apply(byName, entry);
    for (const [name, claim] of byName) if (this.#isForgotten(claim)) byName.delete(name);
    if (entries.length > COMPACTION_ENTRIES_MIN && entries.length > 4 * byName.size) {
      const kept = [...byName].flatMap(([name, claim]) => entriesOf(name, claim));
      await this.#store.replace(tenant, kept.map((entry) => Buffer.from(JSON.stringify(entry), 'utf8')));
    }
    return { byName, underWay: new Set() };
  }
}

/** Both surfaces create sessions. */
function isOfCreate(name: string): boolean {
  return /^(sessions\.)?create /.test(name);
}

function apply(byName: Map<string, Claim>, entry: Entry): void {
  const claim = byName.get(entry.name);
  switch (entry.kind) {
    case 'claimed':
      byName.set(entry.name, { body: entry.body, session_id: entry.session_id, answered_at: null });
      return;
    case 'withdrawn':
      byName.delete(entry.name);
      return;
    case 'answered':
      if (claim === undefined) return;
      byName.set(entry.name, { ...claim, answered_at: entry.at, ...keptIn(entry) });
  }
}

function entriesOf(name: string, claim: Claim): readonly Entry[] {
  const { body, session_id, answered_at } = claim;
  const claimed: Entry = { kind: 'claimed', name, body, session_id };
  if (answered_at === null) return [claimed];
  return [claimed, { kind: 'answered', name, at: answered_at, ...keptIn(claim) }];
}

function keptIn({ answer, error }: { readonly answer?: JsonValue; readonly error?: KeptError }): Partial<KeptAnswer> {
  if (error !== undefined) return { error };
  return answer === undefined ? {} : { answer };
}

// Neither a route nor an id has a space in it, so that no two calls make one name.
function nameOf({ request: { route, key } }: KeyedCall, scope: string | null): string {
  return `${route} ${scope ?? ''} ${key}`;
}
