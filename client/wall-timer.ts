/** Waits by the wall clock: the hours that a machine slept count, and a clock that was set back delays nothing. */
import type { ClientClock } from './ports.ts';

// A timer stands still while the machine sleeps. After it woke up this much may pass before the clock is looked at.
const LOOK_MS = 5_000;

/** Runs `action` once `ms` have passed. The answer cancels it. */
export function afterWallTime(clock: ClientClock, ms: number, action: () => void): () => void {
  let left = ms;
  let cancel: () => void = () => undefined;
  const wait = (): void => {
    const part = Math.min(left, LOOK_MS);
    const since = clock.now();
    cancel = clock.after(part, () => {
      left -= Math.max(part, clock.now() - since);
      if (left > 0) wait();
      else action();
    });
  };
  wait();
  return () => {
    cancel();
  };
}
