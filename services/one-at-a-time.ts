/** Calls about one thing, carried out one after the other in the order in which they came; one that fails holds up none. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(about: string, call: () => Promise<T>): Promise<T> {
    const answer = (this.#last.get(about) ?? Promise.resolve()).then(call);
    const done = answer
      .catch(() => undefined)
      .finally(() => {
        if (this.#last.get(about) === done) this.#last.delete(about);
      });
    this.#last.set(about, done);
    return answer;
  }
}
