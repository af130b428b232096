/**
 * What followers of one session share: who they are, and the last records, kept for those who are up to date with it.
 */
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { LiveEvent } from './session-service.ts';

// The tail that followers who keep up are served from: enough for the commits of a busy turn.
const TAIL_BYTES_MAX = 256 * 1024;

const NONE: readonly SessionRecord[] = [];

/** A live event on its way to whoever follows right now. */
export interface LiveAt {
  /** The last record before it. */
  readonly at: Sequence;
  readonly event: LiveEvent;
  readonly characters: number;
}

export interface Watcher {
  /** There is something to look for in the tail or in the journal. */
  changed(): void;
  offer(live: LiveAt): void;
}

interface Commit {
  readonly records: readonly SessionRecord[];
  readonly bytes: number;
}

export class Topic {
  readonly sessionId: string;
  readonly watchers = new Set<Watcher>();
  /** The session is deleted. */
  isGone = false;
  #tail: Commit[] = [];
  #tailBytes = 0;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  wake(): void {
    for (const watcher of this.watchers) watcher.changed();
  }

  keep(records: readonly SessionRecord[], bytes: number): void {
    const expected = lastOf(this.#tail.at(-1)) + 1;
    if (records[0]?.sequence !== expected) this.forget();
    this.#tail.push({ records, bytes });
    this.#tailBytes += bytes;
    while (this.#tailBytes > TAIL_BYTES_MAX) this.#tailBytes -= this.#tail.shift()?.bytes ?? 0;
  }

  /** A tail with a gap, or of an incarnation that is gone, would hide records from those it serves. */
  forget(): void {
    this.#tail = [];
    this.#tailBytes = 0;
  }

  /**
   * The kept records that come next after a sequence, of one commit: whoever holds them holds no more than that. None at
   * the end; null where what is kept does not reach back. Costs what is new, however long the tail.
   */
  after(sequence: Sequence): readonly SessionRecord[] | null {
    const first = this.#tail[0]?.records[0];
    if (first === undefined || first.sequence > sequence + 1) return null;
    let at = this.#tail.length;
    while (at > 0 && lastOf(this.#tail[at - 1]) > sequence) at -= 1;
    const records = this.#tail[at]?.records ?? NONE;
    return records[0]?.sequence === sequence + 1 ? records : records.filter((record) => record.sequence > sequence);
  }
}

/** The topics that somebody follows. */
export class Topics {
  readonly #topics = new Map<string, Topic>();
  /** Nothing more is to come of any. */
  isClosing = false;

  get(sessionId: string): Topic | undefined {
    return this.#topics.get(sessionId);
  }

  all(): Iterable<Topic> {
    return this.#topics.values();
  }

  join(sessionId: string, watcher: Watcher): Topic {
    const topic = this.#topics.get(sessionId) ?? new Topic(sessionId);
    this.#topics.set(sessionId, topic);
    topic.watchers.add(watcher);
    return topic;
  }

  leave(topic: Topic, watcher: Watcher): void {
    topic.watchers.delete(watcher);
    if (topic.watchers.size === 0 && this.#topics.get(topic.sessionId) === topic) this.#topics.delete(topic.sessionId);
  }
}

function lastOf(commit: Commit | undefined): Sequence {
  return commit?.records.at(-1)?.sequence ?? 0;
}
