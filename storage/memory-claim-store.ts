/** Claims in memory: the reference of what the port means. Nothing survives the store, and nothing fails. */
import type { ClaimStore } from './claims.ts';
import { assertFrame } from './frame.ts';

export class MemoryClaimStore implements ClaimStore {
  readonly #entries = new Map<string, readonly Uint8Array[]>();

  async load(tenant: string): Promise<readonly Uint8Array[]> {
    return this.#of(tenant).map((entry) => Uint8Array.from(entry));
  }

  async append(tenant: string, entry: Uint8Array): Promise<void> {
    this.#entries.set(tenant, [...this.#of(tenant), kept(entry)]);
  }

  async replace(tenant: string, entries: readonly Uint8Array[]): Promise<void> {
    this.#entries.set(tenant, entries.map(kept));
  }

  #of(tenant: string): readonly Uint8Array[] {
    return this.#entries.get(tenant) ?? [];
  }
}

/** A copy: its caller may do with the bytes what it likes. */
function kept(entry: Uint8Array): Uint8Array {
  assertFrame({ firstSequence: 1, recordCount: 1, payload: entry }, 0);
  return Uint8Array.from(entry);
}
