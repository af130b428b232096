/**
 * One request under way, with all that may end it early: its caller's signal, its time, the client's close.
 *
 *   O1. What ends it first is what its waiting rejects with, though a `fetch` may not look at its signal.
 *   O2. Once it is released it holds no timer and no listener.
 */
import { BrainAbortError } from './errors.ts';

export class OpenRequest {
  readonly #controller = new AbortController();
  readonly #stopped: Promise<never>;
  readonly #releases: (() => void)[] = [];

  constructor(caller: AbortSignal | undefined) {
    const { signal } = this.#controller;
    this.#stopped = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    // Nobody may be waiting when it comes.
    this.#stopped.catch(() => undefined);
    if (caller !== undefined) this.#listenTo(caller);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first reason counts. */
  stop(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** What is to be undone once the request is over. */
  onRelease(release: () => void): void {
    this.#releases.push(release);
  }

  /** Waits for `work`, but no longer than the request is open. */
  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.#stopped, work]);
  }

  /** Closes what of it is still open. */
  release(): void {
    for (const release of this.#releases.splice(0)) release();
    this.#controller.abort(new BrainAbortError('the request is over'));
  }

  #listenTo(caller: AbortSignal): void {
    const stop = (): void => {
      this.stop(new BrainAbortError('the request was aborted', { cause: caller.reason }));
    };
    if (caller.aborted) {
      stop();
      return;
    }
    caller.addEventListener('abort', stop, { once: true });
    this.onRelease(() => {
      caller.removeEventListener('abort', stop);
    });
  }
}
