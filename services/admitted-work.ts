/** What was admitted and is still on its way to its record. A drain waits for it: nothing admitted is dropped. */
export class AdmittedWork {
  #count = 0;
  #whenNone: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
      if (this.#count === 0) for (const resolve of this.#whenNone.splice(0)) resolve();
    }
  }

  whenNone(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenNone.push(resolve));
  }
}
