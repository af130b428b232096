/** A clock that moves when a test moves it. Its wall time can be set either way; timers run on time that only grows. */
import type { Clock } from '../../services/ports.ts';
import { systemClock } from '../../services/system.ts';

interface Timer {
  readonly dueMs: number;
  readonly action: () => void;
}

export class SimulatedClock implements Clock {
  readonly #timers = new Set<Timer>();
  #monotonicMs = 0;
  #wallMs = Date.UTC(2026, 0, 1, 12);

  get timerCount(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { dueMs: this.#monotonicMs + ms, action };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  soon(action: () => void): void {
    systemClock.soon(action);
  }

  /** Somebody sets the wall clock: no timer is moved by that. */
  setWall(ms: number): void {
    this.#wallMs = ms;
  }

  /** Runs what becomes due on the way, each at its own time, with all that follows from it. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    for (;;) {
      await quiescence();
      const due = [...this.#timers].filter(({ dueMs }) => dueMs <= untilMs).toSorted((a, b) => a.dueMs - b.dueMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#moveTo(due.dueMs);
      due.action();
    }
    this.#moveTo(untilMs);
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }
}

/**
 * Resolves when everything has happened that needs neither time nor an answer that a test holds back: on simulated
 * ports all of it is promises, which are done when the event loop comes round.
 */
export async function quiescence(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
