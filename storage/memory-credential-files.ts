/** Tenants' sealed files in memory: the reference of what the port means. */
import type { CredentialFiles } from './credential-files.ts';

export class MemoryCredentialFiles implements CredentialFiles {
  readonly #files = new Map<string, Uint8Array>();

  async read(tenant: string): Promise<Uint8Array | null> {
    const sealed = this.#files.get(tenant);
    return sealed === undefined ? null : Uint8Array.from(sealed);
  }

  async replace(tenant: string, sealed: Uint8Array): Promise<void> {
    this.#files.set(tenant, Uint8Array.from(sealed));
  }

  async hasAny(): Promise<boolean> {
    return this.#files.size > 0;
  }
}
