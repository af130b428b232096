/**
 * Whoever has sent nothing for a while says that it is still there. One timer serves all of them: a thousand silent streams
 * take no more than their places in a list.
 */
import type { Clock } from '../services/ports.ts';

// Proxies cut a silent connection, the impatient ones after 20 seconds.
export const KEEPALIVE_MS = 15_000;

export interface Silent {
  /** Called after so long a silence. What it sends breaks that, or is as good as having done so. */
  sayAlive(): void;
}

export class Keepalives {
  readonly #clock: Clock;
  /** With the moment of each one's last byte, the longest silence first. */
  readonly #since = new Map<Silent, number>();
  #cancel: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It has just sent something. */
  sent(one: Silent): void {
    this.#since.delete(one);
    this.#since.set(one, this.#clock.monotonic());
    if (this.#cancel === null) this.#wait();
  }

  forget(one: Silent): void {
    this.#since.delete(one);
    if (this.#since.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Until the first could be due: what it sends meanwhile costs the timer nothing. */
  #wait(): void {
    for (const since of this.#since.values()) {
      this.#cancel = this.#clock.after(since + KEEPALIVE_MS - this.#clock.monotonic(), () => this.#tell());
      return;
    }
  }

  #tell(): void {
    this.#cancel = null;
    const latest = this.#clock.monotonic() - KEEPALIVE_MS;
    for (const [one, since] of this.#since) {
      if (since > latest) break;
      one.sayAlive();
      if (this.#since.has(one)) this.sent(one);
    }
    if (this.#cancel === null) this.#wait();
  }
}
