/**
 * Following a session, and waiting for what becomes of it: whoever waits for a turn or for an end follows the session's
 * records like any other reader.
 */
import type { LifecycleCursor } from '../machines/projections/lifecycle-events.ts';
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { Catalog } from './catalog.ts';
import { ServiceError } from './errors.ts';
import type { EventFeed } from './event-feed.ts';
import { assertCursor, seenWhole, shownThrough, someRecords } from './history.ts';
import { notFound, serviceError } from './session-refusals.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { Followed, Following, TurnAnswer } from './session-service.ts';
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
    project: (record: SessionRecord) => readonly T[],
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
    return { ended, items: this.#items(sessionId, seen, signal, project) };
  }

  /** What a reader is shown of the records, with live events between; a record of which it is shown nothing is passed over. */
  async *#items<T>(
    sessionId: string,
    after: Sequence,
    signal: AbortSignal,
    project: (record: SessionRecord) => readonly T[],
  ): AsyncGenerator<Followed<T>> {
    try {
      for await (const followed of this.#records(sessionId, after, signal)) {
        if (followed.kind === 'live') {
          yield followed;
          continue;
        }
        for (const item of project(followed.item)) yield { kind: 'recorded', item };
      }
    } catch (error) {
      throw serviceError(error);
    }
  }

  /** The answer of the turn that began with a record, once it is over. */
  async turnAnswer(sessionId: string, started: Sequence): Promise<TurnAnswer> {
    const fold = new TurnAnswerFold(sessionId);
    for await (const followed of this.#records(sessionId, started - 1, neverAborted())) {
      const answer = followed.kind === 'recorded' ? fold.apply(followed.item) : null;
      if (answer !== null) return answer;
    }
    if (this.#parts.isDraining()) throw new ServiceError('draining', 'the server was shut down before the turn was over');
    throw notFound();
  }

  /** Resolves when a creation is over, or nothing more is to come of it. `after`: its last record so far. */
  async untilCreated(sessionId: string, after: Sequence): Promise<void> {
    for await (const followed of this.#records(sessionId, after, neverAborted())) {
      if (followed.kind === 'recorded' && (followed.item.type === 'session_ready' || followed.item.type === 'session_failed')) return;
    }
  }

  async untilEnded(sessionId: string): Promise<void> {
    const row = this.#parts.catalog.row(sessionId);
    if (row?.state === 'ended') return;
    for await (const followed of this.#records(sessionId, row?.last_sequence ?? 0, neverAborted())) {
      if (followed.kind === 'recorded' && followed.item.type === 'session_ended') return;
    }
  }

  #records(sessionId: string, after: Sequence, signal: AbortSignal): AsyncGenerator<Followed<SessionRecord>> {
    const { catalog, feed, registry } = this.#parts;
    const journal = {
      readSome: (cursor: Sequence) => registry.read(sessionId, (opened) => someRecords(opened, cursor)),
      isOver: () => catalog.row(sessionId)?.state === 'ended',
    };
    return feed.follow(sessionId, after, journal, signal);
  }
}

/** What becomes of a turn is waited for however long it takes: its bounds are the turn's own. */
function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
