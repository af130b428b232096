/**
 * Sealed files: what a vault made of credentials. This layer knows their places and that they are replaced whole; what is
 * in them is for who holds the key.
 *
 *     sessions/{id}/credentials    a session's own copy; it goes with the session
 *     credentials/{key}            a tenant's
 *
 *   S1. A file is replaced in one step, and the replacement is durable when the call resolves. A failed one has happened
 *       whole or not at all.
 *   S2. Shown means flushed: the first read by a process flushes the name that it finds.
 */
import { makeDirectory, type DataDirectory } from './data-directory.ts';
import { isErrorCode, storageFailure } from './disk-failure.ts';
import { tenantKey } from './tenant-key.ts';
import { readFileIfThere, replaceFile } from './whole-file.ts';

/** The tenants' sealed files. Calls for one tenant come one after the other. */
export interface CredentialFiles {
  /** Null where there is none. Rejects with `journal_unavailable` where it cannot be read now. */
  read(tenant: string): Promise<Uint8Array | null>;
  /** Rejects with `journal_unavailable` or `disk_full`: then the outcome is unknown (S1). */
  replace(tenant: string, sealed: Uint8Array): Promise<void>;
  /** Whether any tenant has a file. */
  hasAny(): Promise<boolean>;
}

const DIRECTORY = 'credentials';
const SESSION_FILE = 'credentials';

export class TenantCredentialFiles implements CredentialFiles {
  readonly #directory: DataDirectory;
  readonly #flushed = new Set<string>();

  constructor(directory: DataDirectory) {
    this.#directory = directory;
  }

  read(tenant: string): Promise<Uint8Array | null> {
    const key = tenantKey(tenant);
    return this.#using(key, async () => {
      const sealed = await readFileIfThere(this.#directory.disk, this.#directory.at(`${DIRECTORY}/${key}`));
      if (sealed === null || this.#flushed.has(key)) return sealed;
      await this.#directory.ensure(DIRECTORY);
      await this.#directory.disk.syncDirectory(this.#directory.at(DIRECTORY));
      this.#flushed.add(key);
      return sealed;
    });
  }

  replace(tenant: string, sealed: Uint8Array): Promise<void> {
    const key = tenantKey(tenant);
    return this.#using(key, async () => {
      await this.#directory.ensure(DIRECTORY);
      this.#flushed.delete(key);
      await replaceFile(this.#directory.disk, { directory: this.#directory.at(DIRECTORY), name: key, bytes: sealed });
      this.#flushed.add(key);
    });
  }

  hasAny(): Promise<boolean> {
    return this.#using('', async () => {
      try {
        return (await this.#directory.disk.list(this.#directory.at(DIRECTORY))).length > 0;
      } catch (error) {
        if (isErrorCode(error, 'ENOENT')) return false;
        throw error;
      }
    });
  }

  #using<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#directory.using(async () => {
      try {
        return await work();
      } catch (error) {
        throw storageFailure(error, 'the credentials of a tenant cannot be used now', `${DIRECTORY}/${key}`);
      }
    });
  }
}

export async function readSessionFile(directory: DataDirectory, sessionId: string): Promise<Uint8Array | null> {
  const file = `sessions/${sessionId}/${SESSION_FILE}`;
  try {
    return await readFileIfThere(directory.disk, directory.at(file));
  } catch (error) {
    throw storageFailure(error, `session ${sessionId}: its credentials cannot be read`, file);
  }
}

/** Makes the session's directory where it is not there yet: its name becomes durable with the first frame. */
export async function writeSessionFile(directory: DataDirectory, sessionId: string, sealed: Uint8Array): Promise<void> {
  const session = `sessions/${sessionId}`;
  try {
    await makeDirectory(directory.disk, directory.at(session));
    await replaceFile(directory.disk, { directory: directory.at(session), name: SESSION_FILE, bytes: sealed });
  } catch (error) {
    throw storageFailure(error, `session ${sessionId}: its credentials cannot be written`, `${session}/${SESSION_FILE}`);
  }
}
