/** The time, for what is told as an age. */
import { useEffect, useState } from 'react';
import { every, now } from '../data/clock.ts';

const STEP_MS = 1000;

/** Epoch milliseconds, to the second or so. */
export function useNow(): number {
  const [time, setTime] = useState(now);
  useEffect(() => every(STEP_MS, () => setTime(now())), []);
  return time;
}
