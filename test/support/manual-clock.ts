/** A clock that moves when a test moves it. */
import type { Clock } from '../../services/ports.ts';
import { systemClock } from '../../services/system.ts';

interface Timer {
  readonly dueMs: number;
  readonly action: () => void;
}

export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #nowMs = 1_767_268_800_000;

  get timerCount(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, action };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  soon(action: () => void): void {
    systemClock.soon(action);
  }

  /** Runs what becomes due on the way, each at its own time. */
  advance(ms: number): void {
    const until = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ dueMs }) => dueMs <= until).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = due.dueMs;
      due.action();
    }
    this.#nowMs = until;
  }
}
