/**
 * Following a session, and waiting for what becomes of it: whoever waits for a turn or for an end follows the session's
 * records like any other reader.
 */
import type { LifecycleCursor } from '../machines/projections/lifecycle-events.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { Catalog } from './catalog.ts';
import { ServiceError } from './errors.ts';
import type { EventFeed } from './event-feed.ts';
import type { FollowedSession, Follower, FollowOptions } from './follower.ts';
import { assertCursor, seenWhole, shownThrough, someRecords } from './history.ts';
import { notFound, serviceError } from './session-refusals.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { Following, TurnAnswer } from './session-service.ts';
import { TurnAnswerFold } from './turn-answer.ts';

export interface FollowingParts {
  readonly registry: SessionRegistry;
  readonly catalog: Catalog;
  readonly feed: EventFeed;
  isDraining(): boolean;
}

export class SessionFollowing {
  readonly #parts: FollowingParts;

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  /** Throws `invalid_cursor` for a cursor past the journal's end. */
  async follow<T>(
    sessionId: string,
    after: LifecycleCursor,
    signal: AbortSignal,
    project: Project<T>,
  ): Promise<Following<T>> {
    const { catalog, registry } = this.#parts;
    const seen = seenWhole(after);
    const through = await registry.read(sessionId, async (journal) => {
      assertCursor(journal, after.sequence);
      return catalog.row(sessionId)?.state === 'ended' ? shownThrough(journal, seen, project) : seen;
    });
    // Both of one moment: the end may have been committed since the journal was read.
    const row = catalog.row(sessionId);
    const ended = row?.state === 'ended' && through >= row.last_sequence;
    return { ended, items: this.#follower(sessionId, project, { after: seen, signal, isLive: true }) };
  }

  /** The answer of a turn, once it is over. `begun`: what the commit that started it recorded of it. */
  async turnAnswer(sessionId: string, begun: readonly SessionRecord[]): Promise<TurnAnswer> {
    const last = begun.at(-1);
    if (last === undefined) throw new Error('an accepted message starts its turn in the same commit');
    const fold = new TurnAnswerFold(sessionId);
    for (const record of begun) fold.apply(record);
    const answer = await this.#first(sessionId, last.sequence, (record) => fold.apply(record));
    if (answer !== null) return answer;
    if (this.#parts.isDraining()) throw new ServiceError('draining', 'the server was shut down before the turn was over');
    throw notFound();
  }

  /** Resolves when a creation is over, or nothing more is to come of it. `after`: its last record so far. */
  async untilCreated(sessionId: string, after: Sequence): Promise<void> {
    await this.#first(sessionId, after, ({ type }) => (type === 'session_ready' || type === 'session_failed' ? type : null));
  }

  async untilEnded(sessionId: string): Promise<void> {
    const row = this.#parts.catalog.row(sessionId);
    if (row?.state === 'ended') return;
    await this.#first(sessionId, row?.last_sequence ?? 0, ({ type }) => (type === 'session_ended' ? type : null));
  }

  /** What is first found in the records after a sequence, however long that takes: what is waited for has its own bounds. */
  async #first<A>(sessionId: string, after: Sequence, find: (record: SessionRecord) => A | null): Promise<A | null> {
    for await (const followed of this.#follower(sessionId, itself, { after, signal: null, isLive: false })) {
      const found = followed.kind === 'recorded' ? find(followed.item) : null;
      if (found !== null) return found;
    }
    return null;
  }

  #follower<T>(sessionId: string, project: Project<T>, options: FollowOptions): Follower<T> {
    return this.#parts.feed.follow(sessionId, new SessionOfFollower(this.#parts, sessionId, project), options);
  }
}

/** What a reader is shown of a record. */
type Project<T> = (record: SessionRecord) => readonly T[];

function itself(record: SessionRecord): readonly SessionRecord[] {
  return [record];
}

class SessionOfFollower<T> implements FollowedSession<T> {
  readonly #parts: FollowingParts;
  readonly #sessionId: string;
  readonly shown: Project<T>;

  constructor(parts: FollowingParts, sessionId: string, shown: Project<T>) {
    this.#parts = parts;
    this.#sessionId = sessionId;
    this.shown = shown;
  }

  async readSome(after: Sequence): Promise<readonly SessionRecord[]> {
    try {
      return await this.#parts.registry.read(this.#sessionId, (opened) => someRecords(opened, after));
    } catch (error) {
      throw serviceError(error);
    }
  }

  /** The row is set with each commit, before anybody is told of it; without one, nobody knows. */
  isAtEnd(sequence: Sequence): boolean {
    return (this.#parts.catalog.row(this.#sessionId)?.last_sequence ?? Number.POSITIVE_INFINITY) <= sequence;
  }

  isOver(): boolean {
    return this.#parts.catalog.row(this.#sessionId)?.state === 'ended';
  }
}
