/** Tenants' whole files in memory: the reference of what the port means. */
import type { CredentialFiles } from './credential-files.ts';

export class MemoryTenantFiles implements CredentialFiles {
  readonly #files = new Map<string, Uint8Array>();

  async read(tenant: string): Promise<Uint8Array | null> {
    const bytes = this.#files.get(tenant);
    return bytes === undefined ? null : Uint8Array.from(bytes);
  }

  async replace(tenant: string, bytes: Uint8Array): Promise<void> {
    this.#files.set(tenant, Uint8Array.from(bytes));
  }

  async hasAny(): Promise<boolean> {
    return this.#files.size > 0;
  }
}
