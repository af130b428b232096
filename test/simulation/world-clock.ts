/** Time in the simulated world. A process sees it through a clock of its own, whose timers die with the process. */
import type { Clock } from '../../services/ports.ts';
import { systemClock } from '../../services/system.ts';

export interface Timer {
  readonly dueMs: number;
  readonly action: () => void;
}

export class WorldClock {
  wallMs = Date.UTC(2026, 0, 1, 12);
  monotonicMs = 0;
  #timers: Timer[] = [];

  get timerCount(): number {
    return this.#timers.length;
  }

  /** A clock for a process that starts now. Those of processes before it have no timers any more. */
  boot(): Clock {
    this.#timers = [];
    const timers = this.#timers;
    const bootedMs = this.monotonicMs;
    return {
      now: () => this.wallMs,
      monotonic: () => this.monotonicMs - bootedMs,
      after: (ms, action) => {
        const timer = { dueMs: this.monotonicMs + ms, action };
        timers.push(timer);
        return () => {
          const index = timers.indexOf(timer);
          if (index !== -1) timers.splice(index, 1);
        };
      },
      soon: (action) => systemClock.soon(action),
    };
  }

  advance(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
  }

  /** Goes to the next timer and lets it act. False where there is none. */
  fireNext(): boolean {
    const [next] = [...this.#timers].sort((a, b) => a.dueMs - b.dueMs);
    if (next === undefined) return false;
    this.#timers.splice(this.#timers.indexOf(next), 1);
    this.advance(Math.max(0, next.dueMs - this.monotonicMs));
    next.action();
    return true;
  }
}
