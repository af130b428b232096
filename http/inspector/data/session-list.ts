/** The sessions of the server, read again and again: there is no stream of all of them. */
import type { SessionStatus } from '../../../machines/projections/status.ts';
import type { Failure } from '../model/failure.ts';
import { mayPass } from '../model/failure.ts';
import { backoffMs } from './backoff.ts';
import { now, wait } from './clock.ts';
import { ServerFailure, type Server } from './server.ts';
import type { SessionEntry, SessionPage } from './wire.ts';

const PAGE_SESSIONS = 1000;
const PAUSE_MS = 2_000;
// Reading ten thousand sessions is work for the server: most of the time it shall have for others.
const PAUSE_PER_READING = 4;

/** What the server is to choose by. */
export interface SessionQuery {
  readonly status: SessionStatus | null;
  /** `KEY=VALUE`. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
}

export interface SessionListView {
  /** Newest first. */
  readonly sessions: readonly SessionEntry[];
  /** Whether all of them have been read once. */
  readonly isComplete: boolean;
  readonly failure: Failure | null;
}

export class SessionList {
  readonly #server: Server;
  readonly #query: SessionQuery;
  readonly #closed = new AbortController();
  readonly #listeners = new Set<() => void>();
  #view: SessionListView = { sessions: [], isComplete: false, failure: null };

  constructor(server: Server, query: SessionQuery) {
    this.#server = server;
    this.#query = query;
    void this.#run(this.#closed.signal);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly view = (): SessionListView => this.#view;

  close(): void {
    this.#listeners.clear();
    this.#closed.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = now();
      try {
        await this.#readAll(signal);
        failures = 0;
        await wait(Math.max(PAUSE_MS, PAUSE_PER_READING * (now() - startedAt)), signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ServerFailure)) throw error;
        this.#change({ failure: error.failure });
        if (!mayPass(error.failure)) return;
        await wait(backoffMs(failures), signal);
        failures += 1;
      }
    }
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    let read: readonly SessionEntry[] = [];
    let after: string | null = null;
    do {
      const page: SessionPage = await this.#server.get<SessionPage>(this.#pathAfter(after), signal);
      read = [...page.sessions.toReversed(), ...read];
      // The first time each page is shown as it comes; later the list changes as a whole.
      if (!this.#view.isComplete) this.#change({ sessions: read, failure: null });
      after = page.next_cursor;
    } while (after !== null && !signal.aborted);
    this.#change({ sessions: read, isComplete: true, failure: null });
  }

  #pathAfter(after: string | null): string {
    const query = new URLSearchParams({ limit: String(PAGE_SESSIONS) });
    if (after !== null) query.set('after', after);
    if (this.#query.status !== null) query.set('status', this.#query.status);
    for (const [key, value] of this.#query.metadata) query.set(`metadata.${key}`, value);
    return `/v1/sessions?${query.toString()}`;
  }

  #change(change: Partial<SessionListView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
