/**
 * The sessions of the server, read again and again: there is no stream of all of them. What is in sight and what is new is
 * read every two seconds; all of them, where they are many, as seldom as their number makes it dear.
 */
import type { SessionStatus } from '../../../machines/projections/status.ts';
import type { Failure } from '../model/failure.ts';
import { mayPass } from '../model/failure.ts';
import { backoffMs } from './backoff.ts';
import { now, wait } from './clock.ts';
import { LiveView } from './live-view.ts';
import { ServerFailure, type Server } from './server.ts';
import type { SessionEntry, SessionPage } from './wire.ts';

const PAGE_SESSIONS = 1000;
const PAUSE_MS = 2_000;
// Reading ten thousand sessions takes a server seconds: nearly all of its time it shall have for others.
const PAUSE_PER_READING = 19;
// Of a list that is filtered here, what lies between two rows in sight can be long.
const SIGHT_SESSIONS = 200;

/** The rows that a person sees. */
export interface Sight {
  readonly newest: string;
  readonly oldest: string;
}

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

/** What there is before any was read. */
export const UNREAD_LIST: SessionListView = { sessions: [], isComplete: false, failure: null };

export class SessionList extends LiveView<SessionListView> {
  readonly #server: Server;
  readonly #query: SessionQuery;
  readonly #closed = new AbortController();
  #sight: Sight | null = null;

  constructor(server: Server, query: SessionQuery) {
    super(UNREAD_LIST);
    this.#server = server;
    this.#query = query;
    void this.#run(this.#closed.signal);
  }

  look(sight: Sight | null): void {
    this.#sight = sight;
  }

  override close(): void {
    super.close();
    this.#closed.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = now();
      try {
        await this.#readAll(signal);
        failures = 0;
        await this.#pause(Math.max(PAUSE_MS, PAUSE_PER_READING * (now() - startedAt)), signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ServerFailure)) throw error;
        this.change({ failure: error.failure });
        if (!mayPass(error.failure)) return;
        await wait(backoffMs(failures), signal);
        failures += 1;
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const until = now() + ms;
    await wait(Math.min(PAUSE_MS, ms), signal);
    while (!signal.aborted && now() < until) {
      await this.#readSight(signal);
      await wait(Math.min(PAUSE_MS, Math.max(0, until - now())), signal);
    }
  }

  async #readSight(signal: AbortSignal): Promise<void> {
    const { sessions } = this.view();
    const from = sessions.findIndex(({ session_id }) => session_id === this.#sight?.newest);
    const to = sessions.findIndex(({ session_id }) => session_id === this.#sight?.oldest);
    if (to >= 0) await this.#readAfter(sessions[to + 1]?.session_id ?? null, Math.min(SIGHT_SESSIONS, to - Math.max(0, from) + 1), signal);
    await this.#readAfter(sessions[0]?.session_id ?? null, PAGE_SESSIONS, signal);
  }

  /** Puts a page in the place of what was read for it before. */
  async #readAfter(after: string | null, limit: number, signal: AbortSignal): Promise<void> {
    const page = await this.#server.get<SessionPage>(this.#pathAfter(after, limit), signal);
    const { sessions } = this.view();
    const newer = page.next_cursor === null ? [] : sessions.filter(({ session_id }) => session_id > (page.next_cursor ?? ''));
    const older = after === null ? [] : sessions.filter(({ session_id }) => session_id <= after);
    this.change({ sessions: [...newer, ...page.sessions.toReversed(), ...older], failure: null });
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    let read: readonly SessionEntry[] = [];
    let after: string | null = null;
    do {
      const page: SessionPage = await this.#server.get<SessionPage>(this.#pathAfter(after, PAGE_SESSIONS), signal);
      read = [...page.sessions.toReversed(), ...read];
      // The first time each page is shown as it comes; later the list changes as a whole.
      if (!this.view().isComplete) this.change({ sessions: read, failure: null });
      after = page.next_cursor;
    } while (after !== null && !signal.aborted);
    this.change({ sessions: read, isComplete: true, failure: null });
  }

  #pathAfter(after: string | null, limit: number): string {
    const query = new URLSearchParams({ limit: String(limit) });
    if (after !== null) query.set('after', after);
    if (this.#query.status !== null) query.set('status', this.#query.status);
    for (const [key, value] of this.#query.metadata) query.set(`metadata.${key}`, value);
    return `/v1/sessions?${query.toString()}`;
  }
}
