/**
 * One who follows a session: a cursor that is asked for one item at a time, and what it has not taken yet. There may be
 * thousands that hear nothing for hours, so one that waits is this object and the promise that it owes: no generator, no
 * timer, no listener but one.
 *
 *   R1. It is there for its topic from the first time that it is asked, and before it reads.
 *   R2. Whatever happens while it reads makes it look again: nothing falls between a read and a wait.
 *   R3. It ends once, however that comes, and leaves its topic and its signal then.
 */
import type { Sequence, SessionRecord } from '../machines/records.ts';
import type { LiveAt, Topic, Topics, Watcher } from './event-topic.ts';
import type { Followed } from './session-service.ts';

// What a follower may lag behind in live text before it is dropped: a fraction of a second of the fastest model.
const LIVE_CHARACTERS_MAX = 16 * 1024;

/** A session as its followers read it. */
export interface FollowedSession<T> {
  /** The next records after a sequence, a bounded number of bytes of them; none at the end. */
  readSome(after: Sequence): Promise<readonly SessionRecord[]>;
  /** Whether it is known without a read that there is nothing after a sequence. */
  isAtEnd(sequence: Sequence): boolean;
  /** Whether nothing can come any more. */
  isOver(): boolean;
  /** What they are shown of a record; nothing where it is passed over. */
  shown(record: SessionRecord): readonly T[];
}

export interface FollowOptions {
  readonly after: Sequence;
  /** Ends it; null: nothing does but its session's end. */
  readonly signal: AbortSignal | null;
  /** Whether it is shown what only passes by. */
  readonly isLive: boolean;
}

interface Asked<T> {
  readonly resolve: (result: IteratorResult<Followed<T>, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

// Nothing is ever put into these: a follower that waits needs none of its own.
const NO_RECORDS: readonly SessionRecord[] = [];
const NO_ITEMS: readonly never[] = [];

export class Follower<T> implements AsyncIterableIterator<Followed<T>, undefined>, Watcher {
  readonly #topics: Topics;
  readonly #sessionId: string;
  readonly #session: FollowedSession<T>;
  readonly #signal: AbortSignal | null;
  readonly #isLive: boolean;
  #state: 'new' | 'following' | 'ended' = 'new';
  #topic: Topic | null = null;
  #asked: Asked<T> | null = null;
  /** The last record that was taken apart into items. */
  #cursor: Sequence;
  /** What comes next, and how much of it was shown. */
  #items: readonly Followed<T>[] = NO_ITEMS;
  #itemsShown = 0;
  #records: readonly SessionRecord[] = NO_RECORDS;
  #recordsTaken = 0;
  /** Null where there is none, as mostly. */
  #live: LiveAt[] | null = null;
  #liveCharacters = 0;
  #isReading = false;
  /** A read found nothing after the cursor, and nothing has been committed since it began. */
  #isUpToDate = false;

  constructor(topics: Topics, sessionId: string, session: FollowedSession<T>, { after, signal, isLive }: FollowOptions) {
    this.#topics = topics;
    this.#sessionId = sessionId;
    this.#session = session;
    this.#cursor = after;
    this.#signal = signal;
    this.#isLive = isLive;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Not to be asked again before it has answered. */
  next(): Promise<IteratorResult<Followed<T>, undefined>> {
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      if (this.#state === 'new') this.#begin();
      this.#goOn();
    });
  }

  return(): Promise<IteratorResult<Followed<T>, undefined>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  changed(): void {
    this.#isUpToDate = false;
    this.#goOn();
  }

  offer(live: LiveAt): void {
    if (!this.#isLive) return;
    if (this.#live === null || this.#liveCharacters + live.characters > LIVE_CHARACTERS_MAX) {
      this.#live = [];
      this.#liveCharacters = 0;
    }
    this.#live.push(live);
    this.#liveCharacters += live.characters;
    this.#goOn();
  }

  /** Of its signal, which has this one thing to say. */
  handleEvent(): void {
    this.#end();
  }

  #begin(): void {
    if (this.#signal?.aborted === true) {
      this.#end();
      return;
    }
    this.#state = 'following';
    this.#topic = this.#topics.join(this.#sessionId, this);
    this.#signal?.addEventListener('abort', this);
  }

  /** Answers whoever asks, once there is something to answer. Otherwise it reads, or is woken. */
  #goOn(): void {
    if (this.#asked === null || this.#isReading) return;
    try {
      const item = this.#take();
      if (item !== null) this.#answer({ done: false, value: item });
    } catch (error) {
      this.#fail(error);
    }
  }

  #answer(result: IteratorResult<Followed<T>, undefined>): void {
    const asked = this.#asked;
    this.#asked = null;
    asked?.resolve(result);
  }

  #take(): Followed<T> | null {
    for (;;) {
      const item = this.#items[this.#itemsShown];
      if (item !== undefined) {
        this.#itemsShown += 1;
        return item;
      }
      if (!this.#prepare()) return null;
    }
  }

  /** Makes items of what comes next; false where nothing is to be had right now. */
  #prepare(): boolean {
    this.#items = NO_ITEMS;
    this.#itemsShown = 0;
    const record = this.#records[this.#recordsTaken];
    if (record !== undefined) {
      this.#recordsTaken += 1;
      this.#cursor = record.sequence;
      const shown = this.#session.shown(record).map((item): Followed<T> => ({ kind: 'recorded', item }));
      this.#items = [...this.#liveBefore(record.sequence), ...shown];
      return true;
    }
    this.#recordsTaken = 0;
    this.#records = NO_RECORDS;
    const topic = this.#topic;
    if (topic === null || topic.isGone) {
      this.#end();
      return false;
    }
    const records = topic.after(this.#cursor);
    if (records === null && !this.#isUpToDate && !this.#session.isAtEnd(this.#cursor)) {
      void this.#read(topic);
      return false;
    }
    this.#records = records ?? NO_RECORDS;
    if (this.#records.length > 0) return true;
    this.#items = this.#liveBefore(this.#cursor + 1);
    if (this.#items.length > 0) return true;
    if (this.#topics.isClosing || this.#session.isOver()) this.#end();
    return false;
  }

  async #read(topic: Topic): Promise<void> {
    this.#isReading = true;
    this.#isUpToDate = true;
    try {
      this.#records = await this.#session.readSome(this.#cursor);
      if (this.#records.length > 0) this.#isUpToDate = false;
      this.#isReading = false;
      this.#goOn();
    } catch (error) {
      this.#isReading = false;
      // Its journal went away under it: that is how a deleted session ends, and no error.
      if (topic.isGone) this.#end();
      else this.#fail(error);
    }
  }

  /** Takes the live events that came before a record, oldest first. */
  #liveBefore(sequence: Sequence): readonly Followed<T>[] {
    if (this.#live === null) return NO_ITEMS;
    const due = this.#live.filter((live) => live.at < sequence);
    const left = this.#live.filter((live) => live.at >= sequence);
    this.#live = left.length === 0 ? null : left;
    this.#liveCharacters = left.reduce((sum, { characters }) => sum + characters, 0);
    return due.map(({ event }) => ({ kind: 'live', event }));
  }

  #fail(error: unknown): void {
    const asked = this.#asked;
    this.#asked = null;
    this.#end();
    asked?.reject(error);
  }

  #end(): void {
    if (this.#state === 'following') {
      this.#signal?.removeEventListener('abort', this);
      if (this.#topic !== null) this.#topics.leave(this.#topic, this);
    }
    this.#state = 'ended';
    this.#topic = null;
    this.#items = NO_ITEMS;
    this.#records = NO_RECORDS;
    this.#live = null;
    this.#answer({ done: true, value: undefined });
  }
}
