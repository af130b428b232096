/**
 * The environments that a tenant has declared, by name. Sessions name some at their creation and record what they stand for
 * then, so that nothing that happens here moves a session.
 *
 *   D1. What is stored can be used: an address that can be called, tools whose names differ, schemas that can be checked.
 *   D2. No declaration holds a secret that this server knows: it is shown, and recorded in the sessions that name it.
 *   D3. Calls for one tenant are carried out one after the other.
 */
import type { ResolvedEnvironment, ResolvedTool } from '../../machines/records.ts';
import type { EnvironmentFiles } from '../../storage/environment-files.ts';
import type { Credentials } from '../credentials.ts';
import { ServiceError } from '../errors.ts';
import { OneAtATime } from '../one-at-a-time.ts';
import type { Clock, Log } from '../ports.ts';
import type { Secrets } from '../secrets.ts';
import { answering } from '../session-refusals.ts';
import { storable, type Declaration, type StoredDeclaration } from './declaration.ts';
import { parseStored, storedBytes, type Stored } from './stored-declarations.ts';
import { secretIn } from './secret-in.ts';

export type EnvironmentView = StoredDeclaration & {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly created_at: number;
  readonly updated_at: number;
};

/** What `http/` calls. Everything rejects with a `ServiceError` and nothing else. */
export interface EnvironmentService {
  /** In place of the one that has this name, if there is one. */
  put(tenant: string, name: string, declaration: Declaration): Promise<EnvironmentView>;
  get(tenant: string, name: string): Promise<EnvironmentView>;
  /** By name, ascending. */
  list(tenant: string): Promise<readonly EnvironmentView[]>;
  delete(tenant: string, name: string): Promise<void>;
}

/** What a name stands for in a session that is created now. */
export interface ResolvedDeclaration {
  readonly environment: ResolvedEnvironment;
  readonly tools: readonly ResolvedTool[];
}

export interface DeclarationsParts {
  readonly files: EnvironmentFiles;
  readonly credentials: Pick<Credentials, 'learn'>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Log;
}

const DISK_FAILED = 'the disk failed; whether this change was stored is unknown, so look at the environments first';

// A person reads the list, and it is answered whole.
export const ENVIRONMENTS_MAX = 100;
// A tenant's declarations are written whole with each change, and those that a session names are in its first record.
export const DECLARED_BYTES_MAX = 4 * 1024 * 1024;

export class Declarations implements EnvironmentService {
  readonly #parts: DeclarationsParts;
  readonly #calls = new OneAtATime();

  constructor(parts: DeclarationsParts) {
    this.#parts = parts;
  }

  put(tenant: string, name: string, declaration: Declaration): Promise<EnvironmentView> {
    return answering(async () => {
      // Before anything else is looked at: what is wrong with a declaration is said in its own words.
      await this.#refuseSecrets(tenant, { name, ...declaration });
      const checked = storable(name, declaration);
      return this.#calls.run(tenant, async () => {
        const stored = await this.#read(tenant);
        const now = this.#parts.clock.now();
        const before = stored.find((one) => one.name === name);
        const others = stored.filter((one) => one.name !== name);
        if (others.length >= ENVIRONMENTS_MAX) {
          throw new ServiceError('invalid_request', `a tenant has ${ENVIRONMENTS_MAX} environments at most; delete one first`, { details: { field: '/name' } });
        }
        const added: Stored = { name, declaration: checked, created_at: before?.created_at ?? now, updated_at: now };
        const bytes = storedBytes([...others, added]);
        if (bytes.length > DECLARED_BYTES_MAX) {
          throw new ServiceError('too_large', `a tenant's declarations are ${DECLARED_BYTES_MAX} bytes at most, all of them together`);
        }
        await this.#parts.files.replace(tenant, bytes);
        return viewOf(added);
      });
    }, DISK_FAILED);
  }

  get(tenant: string, name: string): Promise<EnvironmentView> {
    return answering(async () => {
      const found = (await this.#stored(tenant)).find((one) => one.name === name);
      if (found === undefined) throw notFound();
      return viewOf(found);
    }, DISK_FAILED);
  }

  list(tenant: string): Promise<readonly EnvironmentView[]> {
    return answering(async () => (await this.#stored(tenant)).map(viewOf).toSorted((a, b) => (a.name < b.name ? -1 : 1)), DISK_FAILED);
  }

  delete(tenant: string, name: string): Promise<void> {
    return answering(() =>
      this.#calls.run(tenant, async () => {
        const stored = await this.#read(tenant);
        const others = stored.filter((one) => one.name !== name);
        if (others.length === stored.length) throw notFound();
        await this.#parts.files.replace(tenant, storedBytes(others));
      }),
      DISK_FAILED,
    );
  }

  /** What the names of a create stand for, in their order. Throws a `ServiceError` that names the one which stands for nothing. */
  async resolve(tenant: string, names: readonly string[]): Promise<readonly ResolvedDeclaration[]> {
    if (names.length === 0) return [];
    const stored = new Map((await this.#stored(tenant)).map((one) => [one.name, one.declaration]));
    const resolved: ResolvedDeclaration[] = [];
    for (const [index, name] of names.entries()) {
      const details = { field: `/environments/${index}` };
      const declaration = stored.get(name);
      if (declaration === undefined) {
        throw new ServiceError('unknown_environment', `there is no environment named ${name}`, { details });
      }
      resolved.push(resolvedAs(name, declaration));
      // A credential may have been stored after the declaration that holds its value.
      if ((await this.#secretIn(tenant, declaration)) !== null) {
        throw new ServiceError('invalid_request', `the declaration of the environment ${name} holds the value of a credential: declare it again without`, { details });
      }
    }
    return resolved;
  }

  #stored(tenant: string): Promise<readonly Stored[]> {
    return this.#calls.run(tenant, () => this.#read(tenant));
  }

  async #read(tenant: string): Promise<readonly Stored[]> {
    const bytes = await this.#parts.files.read(tenant);
    return bytes === null ? [] : parseStored(bytes);
  }

  async #refuseSecrets(tenant: string, declared: { readonly name: string } & Declaration): Promise<void> {
    const field = await this.#secretIn(tenant, declared);
    if (field === null) return;
    const message = 'a declaration is shown and recorded, and this one holds the value of a stored credential or a key of this server: name a credential in its place';
    throw new ServiceError('invalid_request', message, { details: { field } });
  }

  async #secretIn(tenant: string, declared: Declaration): Promise<string | null> {
    const { credentials, secrets, log } = this.#parts;
    await credentials.learn(tenant).catch((error: unknown) => {
      // Values that do not open are used by nobody here.
      log.warn('credentials_not_known', { error: String(error) });
    });
    return secretIn(secrets.of(tenant), declared);
  }
}

function viewOf({ declaration, ...about }: Stored): EnvironmentView {
  return { ...about, ...declaration };
}

function resolvedAs(environment: string, { tools, ...declaration }: StoredDeclaration): ResolvedDeclaration {
  return { environment: { name: environment, ...declaration }, tools: tools.map((tool) => ({ ...tool, environment })) };
}

function notFound(): ServiceError {
  return new ServiceError('not_found', 'there is no such environment');
}
