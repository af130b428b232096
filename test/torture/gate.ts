/** Lets clients through while the server is there, and knows how many are at work behind it. */
export class Gate {
  #isOpen = false;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #leaving: (() => void)[] = [];

  open(): void {
    this.#isOpen = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  close(): void {
    this.#isOpen = false;
  }

  async passing<T>(action: () => Promise<T>): Promise<T> {
    while (!this.#isOpen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inside += 1;
    try {
      return await action();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) for (const wake of this.#leaving.splice(0)) wake();
    }
  }

  async empty(): Promise<void> {
    while (this.#inside > 0) await new Promise<void>((resolve) => this.#leaving.push(resolve));
  }
}
