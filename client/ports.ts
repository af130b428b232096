/** The world as the client sees it, passed in from the outside: tests put their own in place of each. */

/** The part of `fetch` that is called. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ClientClock {
  /** Wall time, epoch milliseconds. It may jump either way. */
  now(): number;
  /** Runs `action` once, `ms` from now at the earliest. The answer cancels it; cancelling twice is harmless. */
  after(ms: number, action: () => void): () => void;
}

export interface ClientPorts {
  readonly fetch: Fetch;
  readonly clock: ClientClock;
  /** From 0 to below 1. */
  random(): number;
  /** A new idempotency key. */
  newKey(): string;
  /** Says what went wrong while nobody waited, where nobody asked to be told. */
  complain(error: Error): void;
}
