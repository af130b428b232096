/**
 * The claims port: a tenant's entries outside of any session's journal, for what has no journal to hold it. An entry is
 * opaque, and text without a zero byte, as the payload of a frame is.
 *
 * What no adapter may bend:
 *   L1. `append` and `replace` resolve when what they wrote is durable, names included, and not before.
 *   L2. Shown means flushed: what a process finds when it first loads a tenant's claims is flushed before it is shown.
 *   L3. After a failed append the entries end, for everybody who asks this process, with the last acknowledged one; until
 *       that is durable every call answers `journal_unavailable` or `disk_full`. A failed `replace` has happened whole or
 *       not at all, and the next call says which.
 *   L4. Calls for one tenant are carried out one after the other, in the order in which they came.
 */

export interface ClaimStore {
  /** All entries, oldest first. Rejects with `journal_corrupt` where they do not read back as they were written. */
  load(tenant: string): Promise<readonly Uint8Array[]>;
  /** A failure is `journal_unavailable` or `disk_full`: its outcome is unknown (L3). */
  append(tenant: string, entry: Uint8Array): Promise<void>;
  /** Replaces all entries in one durable step. */
  replace(tenant: string, entries: readonly Uint8Array[]): Promise<void>;
}
