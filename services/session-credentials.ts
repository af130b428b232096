/**
 * The credentials of sessions: each has its own sealed copy of what it was created with, beside its journal, and uses
 * that and nothing else.
 *
 *   O1. The copy is sealed for its session. It is written and flushed before the session's first record is, so that there
 *       is no session whose creation names a credential that it never had.
 *   O2. A session that names a credential never falls back on a key of the server, and its environments get no other's.
 *   O3. Whatever a turn or an environment may hear of is a secret in use before anything of what it says is recorded.
 */
import { z } from 'zod';
import type { SessionCreated } from '../machines/records.ts';
import type { SessionStore } from '../storage/journal.ts';
import type { Credentials } from './credentials.ts';
import { ServiceError } from './errors.ts';
import type { Log } from './ports.ts';
import type { Secrets } from './secrets.ts';
import { VaultError, type Vault, type VaultPlace } from './vault.ts';

/** What the model calls of a turn are made with. */
export type ModelKey =
  | { readonly kind: 'server' }
  | { readonly kind: 'own'; readonly value: string }
  /** `reason` is for whoever reads the session. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** What an environment's operations are sent with; `release` ends the use of it. */
export type EnvironmentKey = (
  | { readonly kind: 'none' }
  | { readonly kind: 'own'; readonly value: string }
  /** `reason` is for whoever reads the session. */
  | { readonly kind: 'unavailable'; readonly reason: string }
) & { readonly release: () => void };

/** What a turn has learned; `release` ends it. */
export interface TurnCredential {
  readonly key: ModelKey;
  readonly release: () => void;
}

export interface SessionCredentialsParts {
  readonly store: SessionStore;
  readonly credentials: Credentials;
  readonly vault: Vault;
  readonly secrets: Secrets;
  readonly log: Log;
}

const copySchema = z.strictObject({ version: z.literal(1), credentials: z.record(z.string(), z.string()) });

// What HTTP takes as the value of a header; anything else would only be refused further down, or be sent as another value.
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export class SessionCredentials {
  readonly #parts: SessionCredentialsParts;

  constructor(parts: SessionCredentialsParts) {
    this.#parts = parts;
  }

  /** The sealed copy for a session to be; null where its creation names no credential. */
  async sealedFor(sessionId: string, created: SessionCreated): Promise<Uint8Array | null> {
    const named = credentialsIn(created);
    if (named.length === 0) return null;
    const values = new Map<string, string>();
    for (const { name, field } of named) {
      const value = values.get(name) ?? (await this.#parts.credentials.valueOf(created.tenant, name));
      if (value === null) throw new ServiceError('unknown_credential', `there is no credential named ${name}`, { details: { field } });
      values.set(name, value);
    }
    return this.#parts.vault.seal(placeOf(sessionId), JSON.stringify({ version: 1, credentials: Object.fromEntries(values) }));
  }

  /** Opens what a turn needs, and learns what it must not record. Never rejects. */
  async openForTurn(sessionId: string, { tenant, model }: SessionCreated): Promise<TurnCredential> {
    const { release, ...key } = await this.#keyOf(sessionId, { tenant, name: model.credential });
    return { key: key.kind === 'none' ? { kind: 'server' } : key, release };
  }

  /** Opens what an operation of an environment needs, and learns what must not be recorded of its answer. Never rejects. */
  async openForEnvironment(sessionId: string, { tenant, environments }: SessionCreated, environment: string): Promise<EnvironmentKey> {
    const found = environments.find(({ name }) => name === environment);
    return this.#keyOf(sessionId, { tenant, name: found?.driver === 'http' ? found.credential : undefined });
  }

  async #keyOf(sessionId: string, { tenant, name }: { readonly tenant: string; readonly name: string | undefined }): Promise<EnvironmentKey> {
    const { credentials, secrets, log } = this.#parts;
    await credentials.learn(tenant).catch((error: unknown) => {
      // Values that do not open are used by nobody here: what is asked for goes on.
      log.warn('credentials_not_known', { session_id: sessionId, error: String(error) });
    });
    if (name === undefined) return { kind: 'none', release: () => undefined };
    const unavailable = (reason: string): EnvironmentKey => ({ kind: 'unavailable', reason, release: () => undefined });
    try {
      const value = await this.#read(sessionId, name);
      if (value === null) return unavailable(`the session's copy of the credential ${name} is missing`);
      if (!SENDABLE.test(value)) return unavailable(`the credential ${name} cannot be sent as a key: it must be printable ASCII`);
      return { kind: 'own', value, release: secrets.hold(tenant, value) };
    } catch (error) {
      log.error('session_credential_unreadable', { session_id: sessionId, error: String(error) });
      return unavailable(`the session's copy of the credential ${name} cannot be read`);
    }
  }

  async #read(sessionId: string, name: string): Promise<string | null> {
    const sealed = await this.#parts.store.readSealed(sessionId);
    if (sealed === null) return null;
    const { credentials } = parseCopy(this.#parts.vault.open(placeOf(sessionId), sealed));
    return Object.hasOwn(credentials, name) ? (credentials[name] ?? null) : null;
  }
}

/** Each credential that a creation names, and where in its request. */
function credentialsIn({ model, environments }: SessionCreated): readonly { readonly name: string; readonly field: string }[] {
  return [
    ...(model.credential === undefined ? [] : [{ name: model.credential, field: '/model/credential' }]),
    ...environments.flatMap((environment, index) =>
      environment.driver === 'http' && environment.credential !== undefined ? [{ name: environment.credential, field: `/environments/${index}` }] : [],
    ),
  ];
}

/** Whatever is wrong with it is not told by the parser's own error, which shows what it stumbled over. */
function parseCopy(text: string): z.infer<typeof copySchema> {
  try {
    return copySchema.parse(JSON.parse(text));
  } catch {
    throw new VaultError('a sealed copy opens, and is not what this version writes');
  }
}

function placeOf(sessionId: string): VaultPlace {
  return { kind: 'session', sessionId };
}
