/** The deadline of the calls of one dispatch. It is measured on the monotonic clock: the wall clock may be set meanwhile. */
import type { Clock } from '../ports.ts';

export class CallDeadline {
  /** Epoch milliseconds, as it is recorded; null without a bound. */
  readonly at: number | null;
  readonly #clock: Clock;
  readonly #dueMs: number | null;

  /** `boundMs` from now on; null: no bound. */
  constructor(clock: Clock, boundMs: number | null) {
    this.#clock = clock;
    this.at = boundMs === null ? null : clock.now() + boundMs;
    this.#dueMs = boundMs === null ? null : clock.monotonic() + boundMs;
  }

  /** What is left, in whole milliseconds; null without a bound. */
  leftMs(): number | null {
    return this.#dueMs === null ? null : Math.max(0, Math.floor(this.#dueMs - this.#clock.monotonic()));
  }

  /** `passed` resolves at the deadline, unless it is cancelled before. */
  wait(): { readonly passed: Promise<void>; cancel(): void } {
    const leftMs = this.leftMs();
    let cancel = (): void => undefined;
    const passed = new Promise<void>((resolve) => {
      if (leftMs !== null) cancel = this.#clock.after(leftMs, resolve);
    });
    return { passed, cancel };
  }
}
