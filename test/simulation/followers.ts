/** Followers of the simulated world: each follows one session on one surface, over as many connections as it takes. */
import type { Brain } from '../../services/brain.ts';
import type { LifecycleCursor, LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { Followed, Following } from '../../services/session-service.ts';
import type { Auditor } from './auditor/auditor.ts';
import { codeOf } from './error-codes.ts';

export type FeedName = 'events' | 'lifecycle';

/** One surface's stream of a session: where a reader of it stands, and what it is shown. */
interface Feed {
  /** In words. */
  readonly at: string;
  /** Whether the surface has the session while it is being created. */
  readonly hasCreating: boolean;
  follow(brain: Brain, signal: AbortSignal): Promise<Following<unknown>>;
  shown(item: unknown): void;
  /** What it should have been shown, and was not; null where there is none. */
  missed(): unknown;
}

export class Follower {
  readonly sessionId: string;
  readonly label: string;
  /** Reads an event only when it is told to. */
  readonly isSlow: boolean;
  readonly feed: Feed;
  status: 'away' | 'connected' | 'over' = 'away';
  /** How many events it has been shown, live ones too. */
  shownCount = 0;
  readonly #auditor: Auditor;
  #abort = new AbortController();
  #items: AsyncIterator<Followed<unknown>> | null = null;
  #isReading = false;
  /** Whether the session was not yet to be followed when it was asked for. */
  #isEarly = false;
  #brain: Brain | null = null;

  constructor(
    auditor: Auditor,
    followed: { readonly tenant: string; readonly sessionId: string; readonly label: string; readonly isSlow: boolean; readonly feed: FeedName },
  ) {
    this.#auditor = auditor;
    this.sessionId = followed.sessionId;
    this.label = followed.label;
    this.isSlow = followed.isSlow;
    this.feed = followed.feed === 'events' ? eventsFeed(auditor, followed) : lifecycleFeed(auditor, followed);
  }

  connect(brain: Brain): void {
    this.status = 'connected';
    this.#brain = brain;
    this.#isEarly = !this.feed.hasCreating && this.#auditor.sessions.ledger(this.sessionId)?.state === 'creating';
    const abort = new AbortController();
    this.#abort = abort;
    void this.feed.follow(brain, abort.signal).then(
      (following) => this.#begin(following, abort),
      (error: unknown) => this.#end(abort, codeOf(error)),
    );
  }

  drop(): void {
    this.#abort.abort();
    this.status = 'away';
    this.#items = null;
  }

  lose(): void {
    this.#abort = new AbortController();
    this.status = this.status === 'over' ? 'over' : 'away';
    this.#items = null;
    this.#isReading = false;
  }

  /** Reads one event, if a connection stands and nothing is being read. */
  read(): void {
    const items = this.#items;
    const abort = this.#abort;
    if (items === null || this.#isReading) return;
    this.#isReading = true;
    void items.next().then(
      ({ done, value }) => {
        if (abort !== this.#abort || abort.signal.aborted) return;
        this.#isReading = false;
        if (done === true) {
          this.#end(abort, null);
          return;
        }
        this.shownCount += 1;
        if (value.kind === 'recorded') this.feed.shown(value.item);
        else this.#auditor.heardLive(this.sessionId, value.event);
        if (!this.isSlow) this.read();
      },
      (error: unknown) => this.#end(abort, codeOf(error)),
    );
  }

  #begin(following: Following<unknown>, abort: AbortController): void {
    if (abort !== this.#abort || abort.signal.aborted) return;
    this.#items = following.items[Symbol.asyncIterator]();
    this.#isReading = false;
    this.read();
  }

  #end(abort: AbortController, code: string | null): void {
    if (abort !== this.#abort || abort.signal.aborted) return;
    this.status = code === null || (code === 'not_found' && !this.#isEarly) ? 'over' : 'away';
    this.#items = null;
    this.#isReading = false;
    const isDraining = this.#brain?.isDraining ?? false;
    if (isDraining) this.status = 'away';
    if (code !== 'not_found' && code !== 'journal_corrupt') this.#auditor.followingEnded(this.sessionId, this.feed, { isDraining, code });
  }
}

function eventsFeed(auditor: Auditor, { tenant, sessionId }: { readonly tenant: string; readonly sessionId: string }): Feed {
  let cursor = 0;
  return {
    get at() {
      return String(cursor);
    },
    hasCreating: true,
    follow: (brain, signal) => brain.sessions.followEvents(tenant, sessionId, cursor, signal),
    shown: (item) => {
      const event = item as PublicEvent;
      auditor.followed(sessionId, cursor, event);
      cursor = event.sequence;
    },
    missed: () => auditor.sessions.ledger(sessionId)?.nextPublic(cursor) ?? null,
  };
}

function lifecycleFeed(auditor: Auditor, { tenant, sessionId }: { readonly tenant: string; readonly sessionId: string }): Feed {
  let cursor: LifecycleCursor = { sequence: 0, index: null };
  return {
    get at() {
      return `${cursor.sequence}.${String(cursor.index ?? '')}`;
    },
    hasCreating: false,
    follow: (brain, signal) => brain.sessions.followLifecycle(tenant, sessionId, cursor, signal),
    shown: (item) => {
      const event = item as LifecycleEvent;
      auditor.followedLifecycle(sessionId, cursor, event);
      cursor = { sequence: event.sequence, index: event.index };
    },
    missed: () => auditor.nextLifecycle(sessionId, cursor),
  };
}
