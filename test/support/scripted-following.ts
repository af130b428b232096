/** Followers of a session that a test scripts. */
import type { Followed, Following } from '../../services/session-service.ts';
import { eventually } from './eventually.ts';

/** What a test puts into a stream, item by item, until it ends it or its reader is gone. */
export class ScriptedFollowing<T> implements AsyncIterable<Followed<T>> {
  readonly #items: Followed<T>[] = [];
  #wake: () => void = () => undefined;
  #isOver = false;
  #failure: Error | null = null;
  /** How often an item was asked for. */
  pulls = 0;
  isReleased = false;

  constructor(signal: AbortSignal) {
    const release = (): void => {
      this.isReleased = true;
      this.end();
    };
    if (signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
  }

  add(...items: readonly Followed<T>[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Followed<T>> {
    for (;;) {
      this.pulls += 1;
      while (this.#items.length === 0 && !this.#isOver && this.#failure === null) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.isReleased) return;
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#failure !== null) throw this.#failure;
      else return;
    }
  }
}

/** Everybody who follows, in the order in which they came. */
export class ScriptedFollowings<T> {
  readonly all: ScriptedFollowing<T>[] = [];

  /** In the place of a service's method that follows. */
  readonly follow = async (_tenant: string, _sessionId: string, _after: unknown, signal: AbortSignal): Promise<Following<T>> => {
    const items = new ScriptedFollowing<T>(signal);
    this.all.push(items);
    return { ended: false, items };
  };

  /** The one that came after so many others, as soon as it is there. */
  at(index: number): Promise<ScriptedFollowing<T>> {
    return eventually(async () => this.all[index], 'a follower');
  }
}
