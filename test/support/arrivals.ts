/** Things that arrive one after another, and tests that wait for the next of them. */
export class Arrivals<T> {
  readonly #arrived: T[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  get all(): readonly T[] {
    return this.#arrived;
  }

  add(item: T): void {
    this.#arrived.push(item);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** The one at an index, counted from 0, as soon as it is there. */
  async at(index: number, waitMs = 30_000): Promise<T> {
    return this.first((_, at) => at === index, `${this.#what} ${index}`, waitMs);
  }

  /** The first that is like this, as soon as it is there. */
  async first(isWanted: (item: T, index: number) => boolean, wanted = this.#what, waitMs = 30_000): Promise<T> {
    const deadline = Date.now() + waitMs;
    // Each is looked at once: with every look at all of them, hundreds of thousands would take for ever.
    let looked = 0;
    for (;;) {
      for (const item of this.#arrived.slice(looked)) {
        if (isWanted(item, looked++)) return item;
      }
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`waited ${waitMs} ms for ${wanted}; ${this.#arrived.length} of ${this.#what} came`);
      await this.#nextOrAfter(left);
    }
  }

  async #nextOrAfter(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
