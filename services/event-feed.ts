/**
 * Following a session: a cursor over the journal, woken by commits.
 *
 *   F1. A follower misses nothing that is recorded: what it shows comes from the journal, or from the last records kept
 *       here for those who are up to date with it. It holds no backlog: a slow one reads on at its own pace.
 *   F2. Live events are for whoever keeps up: they are shown between the records they came between, and what a slow
 *       follower has no room for is dropped.
 *   F3. Each session has its own topic: another session's traffic reaches no follower of this one. What nobody follows has
 *       none, and costs nothing here.
 */
import type { SessionRecord, Sequence } from '../machines/records.ts';
import { Topics } from './event-topic.ts';
import { Follower, type FollowedSession, type FollowOptions } from './follower.ts';
import type { LiveEvent } from './session-service.ts';

// What an event takes beside its words. Without it a follower that does not read would hold any number of those that have none.
const EVENT_CHARACTERS = 16;

export class EventFeed {
  readonly #topics = new Topics();

  /** Wakes followers with a commit's records. `payloadBytes`: what they take. */
  committed(sessionId: string, records: readonly SessionRecord[], payloadBytes: number): void {
    const topic = this.#topics.get(sessionId);
    if (topic === undefined) return;
    topic.keep(records, payloadBytes);
    topic.wake();
  }

  /** Shows a live event to whoever follows right now. `at`: the session's last sequence. */
  live(sessionId: string, at: Sequence, event: LiveEvent): void {
    const topic = this.#topics.get(sessionId);
    if (topic === undefined) return;
    const live = { at, event, characters: EVENT_CHARACTERS + charactersOf(event) };
    for (const watcher of topic.watchers) watcher.offer(live);
  }

  /** Makes followers look into the journal again: the session's actor is gone, and may have left something to recover. */
  lookAgain(sessionId: string): void {
    const topic = this.#topics.get(sessionId);
    if (topic === undefined) return;
    topic.forget();
    topic.wake();
  }

  /** The session is deleted: its followers end. */
  gone(sessionId: string): void {
    const topic = this.#topics.get(sessionId);
    if (topic === undefined) return;
    topic.isGone = true;
    topic.wake();
  }

  /** Nothing more is to come: each follower ends when it has caught up. */
  close(): void {
    this.#topics.isClosing = true;
    for (const topic of this.#topics.all()) topic.wake();
  }

  /** What is shown of every record after a sequence, and then as they are committed, with live events between. */
  follow<T>(sessionId: string, session: FollowedSession<T>, options: FollowOptions): Follower<T> {
    return new Follower(this.#topics, sessionId, session, options);
  }
}

function charactersOf({ data }: LiveEvent): number {
  if ('text' in data) return data.text.length;
  if ('reasoning' in data) return data.reasoning.length;
  if ('tool_input' in data) return data.tool_input.length;
  if ('record' in data) return JSON.stringify(data.record).length;
  return data.message?.length ?? 0;
}
