/**
 * Following a session: a cursor over the journal, woken by commits.
 *
 *   F1. A follower misses nothing that is recorded: what it shows comes from the journal, or from the last records kept
 *       here for those who are up to date with it. It holds no backlog: a slow one reads on at its own pace.
 *   F2. Live events are for whoever keeps up: they are shown between the records they came between, and what a slow
 *       follower has no room for is dropped.
 *   F3. Each session has its own topic: another session's traffic reaches no follower of this one.
 */
import type { Followed, LiveEvent } from './session-service.ts';
import type { SessionRecord, Sequence } from '../machines/records.ts';

// The tail that followers who keep up are served from: enough for the commits of a busy turn.
const TAIL_BYTES_MAX = 256 * 1024;
// What a follower may lag behind in live text before it is dropped: a fraction of a second of the fastest model.
const LIVE_CHARACTERS_MAX = 16 * 1024;

/** How a follower reads what it is not served from the tail. */
export interface FollowedJournal {
  /** The next records after a sequence, a bounded number of bytes of them; none at the end. */
  readSome(after: Sequence): Promise<readonly SessionRecord[]>;
  /** Whether nothing can come any more. */
  isOver(): boolean;
}

interface LiveAt {
  /** The last record before it. */
  readonly at: Sequence;
  readonly event: LiveEvent;
}

class Watcher {
  /** Grows with everything that happens: a change between two looks is never missed. */
  #version = 0;
  #wake: (() => void) | null = null;
  #live: LiveAt[] = [];
  #liveCharacters = 0;

  get version(): number {
    return this.#version;
  }

  changed(): void {
    this.#version += 1;
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  offer(live: LiveAt): void {
    const characters = charactersOf(live.event);
    if (this.#liveCharacters + characters > LIVE_CHARACTERS_MAX) {
      this.#live = [];
      this.#liveCharacters = 0;
    }
    this.#live.push(live);
    this.#liveCharacters += characters;
    this.changed();
  }

  /** Takes the live events that came before a record, oldest first. */
  takeLiveBefore(sequence: Sequence): readonly LiveEvent[] {
    const due = this.#live.filter((live) => live.at < sequence);
    if (due.length === 0) return [];
    this.#live = this.#live.filter((live) => live.at >= sequence);
    this.#liveCharacters = this.#live.reduce((sum, live) => sum + charactersOf(live.event), 0);
    return due.map((live) => live.event);
  }

  /** Resolves when something happened since `version`, or `signal` aborts. */
  async sinceVersion(version: number, signal: AbortSignal): Promise<void> {
    if (this.#version !== version || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#wake = wake;
    });
  }
}

interface Commit {
  readonly records: readonly SessionRecord[];
  readonly bytes: number;
}

class Topic {
  readonly watchers = new Set<Watcher>();
  isGone = false;
  #tail: Commit[] = [];
  #tailBytes = 0;

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

  /** The kept records after a sequence; null where they do not reach back to it. Costs what is new, however long the tail. */
  after(sequence: Sequence): readonly SessionRecord[] | null {
    const first = this.#tail[0]?.records[0];
    if (first === undefined || first.sequence > sequence + 1) return null;
    let from = this.#tail.length;
    while (from > 0 && lastOf(this.#tail[from - 1]) > sequence) from -= 1;
    const records = this.#tail.slice(from).flatMap((commit) => commit.records);
    return records.filter((record) => record.sequence > sequence);
  }
}

export class EventFeed {
  readonly #topics = new Map<string, Topic>();
  #isClosing = false;

  /** Wakes followers with a commit's records. `payloadBytes`: what they take. */
  committed(sessionId: string, records: readonly SessionRecord[], payloadBytes: number): void {
    const topic = this.#topics.get(sessionId);
    if (topic === undefined) return;
    topic.keep(records, payloadBytes);
    topic.wake();
  }

  /** Shows a live event to whoever follows right now. `at`: the session's last sequence. */
  live(sessionId: string, at: Sequence, event: LiveEvent): void {
    const watchers = this.#topics.get(sessionId)?.watchers ?? [];
    for (const watcher of watchers) watcher.offer({ at, event });
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
    this.#isClosing = true;
    for (const topic of this.#topics.values()) topic.wake();
  }

  /** Every record after a sequence, and then as they are committed, with live events between. */
  async *follow(
    sessionId: string,
    after: Sequence,
    journal: FollowedJournal,
    signal: AbortSignal,
  ): AsyncGenerator<Followed<SessionRecord>> {
    const topic = this.#topics.get(sessionId) ?? new Topic();
    this.#topics.set(sessionId, topic);
    const watcher = new Watcher();
    topic.watchers.add(watcher);
    let cursor = after;
    try {
      while (!signal.aborted && !topic.isGone) {
        const { version } = watcher;
        const records = topic.after(cursor) ?? (await journal.readSome(cursor));
        for (const record of records) {
          for (const event of watcher.takeLiveBefore(record.sequence)) yield { kind: 'live', event };
          yield { kind: 'recorded', item: record };
          if (aborted(signal)) return;
          cursor = record.sequence;
        }
        if (records.length > 0) continue;
        for (const event of watcher.takeLiveBefore(cursor + 1)) yield { kind: 'live', event };
        if (watcher.version !== version) continue;
        if (this.#isClosing || journal.isOver()) return;
        await watcher.sinceVersion(version, signal);
      }
    } catch (error) {
      // Its journal went away under it: that is how a deleted session ends, and no error.
      if (!topic.isGone) throw error;
    } finally {
      topic.watchers.delete(watcher);
      if (topic.watchers.size === 0 && this.#topics.get(sessionId) === topic) this.#topics.delete(sessionId);
    }
  }
}

// A function: the compiler would otherwise take a signal that was not aborted before a yield for one that never is.
function aborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function lastOf(commit: Commit | undefined): Sequence {
  return commit?.records.at(-1)?.sequence ?? 0;
}

function charactersOf({ data }: LiveEvent): number {
  if ('text' in data) return data.text.length;
  if ('reasoning' in data) return data.reasoning.length;
  if ('tool_input' in data) return data.tool_input.length;
  if ('record' in data) return JSON.stringify(data.record).length;
  return data.message?.length ?? 0;
}
