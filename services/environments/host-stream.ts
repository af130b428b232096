/**
 * What a host is told, as its process takes it: one thing at a time, and only when the one before it was taken. A process
 * that takes nothing holds nothing but what is open anyway.
 */
import type { Sequence } from '../../machines/records.ts';
import type { ENVIRONMENT_CONTRACT, Operation } from './operation.ts';

export type HostEvent =
  | { readonly type: 'command'; readonly contract: typeof ENVIRONMENT_CONTRACT; readonly operation: Operation }
  /** Nobody waits for this command any more. */
  | { readonly type: 'cancel'; readonly session_id: string; readonly sequence: Sequence };

/** Something that waits to be told. */
export interface HostNews {
  /** It goes out now: from here on it may have arrived. */
  tell(): HostEvent;
}

export class HostStream implements AsyncIterable<HostEvent> {
  readonly #waiting = new Set<HostNews>();
  readonly #ending = new AbortController();
  #wake: () => void = () => undefined;

  /** Aborts when this stream is to be closed: nothing more comes on it. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  add(news: HostNews): void {
    this.#waiting.add(news);
    this.#wake();
  }

  drop(news: HostNews): void {
    this.#waiting.delete(news);
  }

  end(): void {
    this.#waiting.clear();
    this.#ending.abort();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HostEvent> {
    while (!this.ended.aborted) {
      const [next] = this.#waiting;
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      this.#waiting.delete(next);
      yield next.tell();
    }
  }
}
