/**
 * The credentials of sessions: each has its own sealed copy of what it was created with, beside its journal, and uses
 * that and nothing else.
 *
 *   O1. The copy is sealed for its session. It is written and flushed before the session's first record is, so that there
 *       is no session whose creation names a credential that it never had.
 *   O2. A session that names a credential never falls back on a key of the server.
 *   O3. Whatever a turn may hear of is a secret in use before anything of that turn is recorded.
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
  async sealedFor(sessionId: string, { tenant, model }: SessionCreated): Promise<Uint8Array | null> {
    const name = model.credential;
    if (name === undefined) return null;
    const value = await this.#parts.credentials.valueOf(tenant, name);
    if (value === null) {
      throw new ServiceError('unknown_credential', `there is no credential named ${name}`, { details: { field: '/model/credential' } });
    }
    return this.#parts.vault.seal(placeOf(sessionId), JSON.stringify({ version: 1, credentials: { [name]: value } }));
  }

  /** Opens what a turn needs, and learns what it must not record. Never rejects. */
  async openForTurn(sessionId: string, { tenant, model }: SessionCreated): Promise<TurnCredential> {
    const { credentials, secrets, log } = this.#parts;
    await credentials.learn(tenant).catch((error: unknown) => {
      // Values that do not open are used by nobody here: the turn goes on.
      log.warn('credentials_not_known', { session_id: sessionId, error: String(error) });
    });
    const key = await this.#keyOf(sessionId, model.credential);
    return { key, release: key.kind === 'own' ? secrets.hold(tenant, key.value) : () => undefined };
  }

  async #keyOf(sessionId: string, name: string | undefined): Promise<ModelKey> {
    if (name === undefined) return { kind: 'server' };
    try {
      const value = await this.#read(sessionId, name);
      if (value === null) return { kind: 'unavailable', reason: `the session's copy of the credential ${name} is missing` };
      if (!SENDABLE.test(value)) return { kind: 'unavailable', reason: `the credential ${name} cannot be sent as a key: it must be printable ASCII` };
      return { kind: 'own', value };
    } catch (error) {
      this.#parts.log.error('session_credential_unreadable', { session_id: sessionId, error: String(error) });
      return { kind: 'unavailable', reason: `the session's copy of the credential ${name} cannot be read` };
    }
  }

  async #read(sessionId: string, name: string): Promise<string | null> {
    const sealed = await this.#parts.store.readSealed(sessionId);
    if (sealed === null) return null;
    const { credentials } = parseCopy(this.#parts.vault.open(placeOf(sessionId), sealed));
    return Object.hasOwn(credentials, name) ? (credentials[name] ?? null) : null;
  }
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
