/**
 * A tenant's credentials: stored by name, sealed, and never shown again. Sessions name one at their creation and get a
 * copy of their own, so that nothing that happens here moves a session.
 *
 *   C1. A change is written over what opens. Where a stored value does not open under the server's key nothing is
 *       changed, since what cannot be read cannot be told from what is worth keeping; it can be deleted by its name.
 *   C2. Calls for one tenant are carried out one after the other.
 *   C3. The values that this process has seen are secrets in use until they are replaced or deleted.
 */
import { z } from 'zod';
import type { CredentialFiles } from '../storage/credential-files.ts';
import { ServiceError } from './errors.ts';
import { OneAtATime } from './one-at-a-time.ts';
import type { Clock } from './ports.ts';
import type { Secrets } from './secrets.ts';
import { answering } from './session-refusals.ts';
import { VaultError, type Vault, type VaultPlace } from './vault.ts';

export interface CredentialView {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly updated_at: number;
}

/** What `http/` calls. Everything rejects with a `ServiceError` and nothing else. */
export interface CredentialService {
  put(tenant: string, name: string, value: string): Promise<void>;
  /** By name, ascending. */
  list(tenant: string): Promise<readonly CredentialView[]>;
  delete(tenant: string, name: string): Promise<void>;
}

export interface CredentialsParts {
  readonly files: CredentialFiles;
  readonly vault: Vault;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

const DISK_FAILED = 'the disk failed; whether this change was stored is unknown, so list the credentials first';

const storedSchema = z.strictObject({
  version: z.literal(1),
  credentials: z.array(z.strictObject({ name: z.string(), updated_at: z.int(), sealed: z.base64() })),
});
type Stored = z.infer<typeof storedSchema>['credentials'][number];

/** A value that this process has opened. */
interface Opened {
  readonly value: string;
  /** Ends its use as a secret. */
  readonly release: () => void;
}

/** All values of a tenant, by name. */
interface Known {
  readonly values: Map<string, Opened>;
  /** Whether something else may be stored by now. They stay secrets until that is known. */
  isStale: boolean;
}

export class Credentials implements CredentialService {
  readonly #parts: CredentialsParts;
  readonly #calls = new OneAtATime();
  readonly #known = new Map<string, Known>();

  constructor(parts: CredentialsParts) {
    this.#parts = parts;
  }

  put(tenant: string, name: string, value: string): Promise<void> {
    return answering(() =>
      this.#calls.run(tenant, async () => {
        const { vault, clock } = this.#parts;
        await this.#learn(tenant);
        const sealed = Buffer.from(await vault.seal(placeOf(tenant, name), value)).toString('base64');
        const others = (await this.#read(tenant)).filter((one) => one.name !== name);
        await this.#write(tenant, [...others, { name, updated_at: clock.now(), sealed }]);
        await this.#learn(tenant);
      }),
      DISK_FAILED,
    );
  }

  list(tenant: string): Promise<readonly CredentialView[]> {
    return answering(() =>
      this.#calls.run(tenant, async () => {
        const stored = await this.#read(tenant);
        return stored.map(({ name, updated_at }) => ({ name, updated_at })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      }),
      DISK_FAILED,
    );
  }

  delete(tenant: string, name: string): Promise<void> {
    return answering(() =>
      this.#calls.run(tenant, async () => {
        const stored = await this.#read(tenant);
        const others = stored.filter((one) => one.name !== name);
        if (others.length === stored.length) throw new ServiceError('not_found', 'there is no such credential');
        // The others are not opened again: where one of them does not open, deleting it is how to mend that.
        const known = this.#known.get(tenant);
        const wasStale = known?.isStale ?? true;
        await this.#write(tenant, others);
        known?.values.get(name)?.release();
        known?.values.delete(name);
        if (known !== undefined) known.isStale = wasStale;
      }),
      DISK_FAILED,
    );
  }

  /** The value of a credential; null where the tenant has none of this name. */
  valueOf(tenant: string, name: string): Promise<string | null> {
    return this.#calls.run(tenant, async () => (await this.#learn(tenant)).get(name)?.value ?? null);
  }

  /** Makes the values of a tenant secrets in use. */
  async learn(tenant: string): Promise<void> {
    if (this.#known.get(tenant)?.isStale === false) return;
    await this.#calls.run(tenant, () => this.#learn(tenant));
  }

  async #learn(tenant: string): Promise<ReadonlyMap<string, Opened>> {
    const known = this.#known.get(tenant);
    if (known?.isStale === false) return known.values;
    const { secrets, vault } = this.#parts;
    const opened = (await this.#read(tenant)).map(({ name, sealed }) => {
      return { name, value: vault.open(placeOf(tenant, name), Buffer.from(sealed, 'base64')) };
    });
    const values = new Map(opened.map(({ name, value }) => [name, { value, release: secrets.hold(tenant, value) }]));
    this.#known.set(tenant, { values, isStale: false });
    // After the new ones are in use: there is no moment between.
    for (const { release } of known?.values.values() ?? []) release();
    return values;
  }

  async #read(tenant: string): Promise<readonly Stored[]> {
    const bytes = await this.#parts.files.read(tenant);
    return bytes === null ? [] : parseStored(bytes);
  }

  async #write(tenant: string, credentials: readonly Stored[]): Promise<void> {
    const known = this.#known.get(tenant);
    if (known !== undefined) known.isStale = true;
    await this.#parts.files.replace(tenant, Buffer.from(JSON.stringify({ version: 1, credentials })));
  }
}

function placeOf(tenant: string, name: string): VaultPlace {
  return { kind: 'tenant', tenant, name };
}

function parseStored(bytes: Uint8Array): readonly Stored[] {
  try {
    return storedSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).credentials;
  } catch {
    throw new VaultError('the credentials of a tenant do not read back as they were written; their file is in the directory credentials');
  }
}
