/** What is known of something that goes on changing: whoever shows it is told of each change, and sees it whole. */
export abstract class LiveView<V extends object> {
  readonly #listeners = new Set<() => void>();
  #view: V;

  protected constructor(view: V) {
    this.#view = view;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same object until something changes. */
  readonly view = (): V => this.#view;

  /** Nobody is told of anything after this. */
  close(): void {
    this.#listeners.clear();
  }

  protected change(change: Partial<V>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
