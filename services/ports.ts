/**
 * The world as the services see it, passed in from the outside: the simulation puts its own in place of each. The real
 * ones are in `system.ts`; the disk's port is `storage/disk.ts`, the models' and tools' are beside their folders.
 */

export interface Clock {
  /** Wall time, epoch milliseconds. It may jump either way. */
  now(): number;
  /** Milliseconds that only ever grow, from an arbitrary start. Durations and deadlines are measured on it. */
  monotonic(): number;
  /** Runs `action` once, `ms` from now at the earliest. The answer cancels it; cancelling twice is harmless. */
  after(ms: number, action: () => void): () => void;
  /** Runs `action` when all has happened that waits for nothing: before time goes on, and before anything comes from outside. */
  soon(action: () => void): void;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

/** Structured log lines. No secret, no message content. */
export interface Log {
  debug(event: string, facts?: LogFacts): void;
  info(event: string, facts?: LogFacts): void;
  warn(event: string, facts?: LogFacts): void;
  error(event: string, facts?: LogFacts): void;
}

export type LogFacts = Readonly<Record<string, unknown>>;
