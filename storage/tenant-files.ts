/**
 * One whole file of each tenant, for one purpose: `{directory}/{key}`. This layer knows its place and that it is replaced
 * whole; what is in it is for who wrote it.
 *
 *   S1. A file is replaced in one step, and the replacement is durable when the call resolves. A failed one has happened
 *       whole or not at all.
 *   S2. Shown means flushed: the first read by a process flushes the name that it finds.
 */
import type { DataDirectory } from './data-directory.ts';
import { isErrorCode, storageFailure } from './disk-failure.ts';
import { tenantKey } from './tenant-key.ts';
import { readFileIfThere, replaceFile } from './whole-file.ts';

/** The tenants' files. Calls for one tenant come one after the other. */
export interface TenantFiles {
  /** Null where there is none. Rejects with `journal_unavailable` where it cannot be read now. */
  read(tenant: string): Promise<Uint8Array | null>;
  /** Rejects with `journal_unavailable` or `disk_full`: then the outcome is unknown (S1). */
  replace(tenant: string, bytes: Uint8Array): Promise<void>;
}

export class WholeTenantFiles implements TenantFiles {
  readonly #directory: DataDirectory;
  readonly #name: string;
  readonly #flushed = new Set<string>();

  /** `name`: of the directory, and of what is in it. */
  constructor(directory: DataDirectory, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  read(tenant: string): Promise<Uint8Array | null> {
    const key = tenantKey(tenant);
    return this.#using(key, async () => {
      const bytes = await readFileIfThere(this.#directory.disk, this.#directory.at(`${this.#name}/${key}`));
      if (bytes === null || this.#flushed.has(key)) return bytes;
      await this.#directory.ensure(this.#name);
      await this.#directory.disk.syncDirectory(this.#directory.at(this.#name));
      this.#flushed.add(key);
      return bytes;
    });
  }

  replace(tenant: string, bytes: Uint8Array): Promise<void> {
    const key = tenantKey(tenant);
    return this.#using(key, async () => {
      await this.#directory.ensure(this.#name);
      this.#flushed.delete(key);
      await replaceFile(this.#directory.disk, { directory: this.#directory.at(this.#name), name: key, bytes });
      this.#flushed.add(key);
    });
  }

  /** Whether any tenant has a file. */
  hasAny(): Promise<boolean> {
    return this.#using('', async () => {
      try {
        return (await this.#directory.disk.list(this.#directory.at(this.#name))).length > 0;
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
        throw storageFailure(error, `the ${this.#name} of a tenant cannot be used now`, `${this.#name}/${key}`);
      }
    });
  }
}
