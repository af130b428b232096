/** Which records begin and end one thing, and how long it took. */
import type { Sequence } from '../../../machines/records.ts';
import type { Bar } from './bars.ts';

export interface Paired {
  /** The other record: the end of a start, the start of an end; null for a start without an end. */
  readonly other: Sequence | null;
  readonly isStart: boolean;
  /** Null for a start without an end. */
  readonly milliseconds: number | null;
}

export function durationsOf(bars: readonly Bar[]): ReadonlyMap<Sequence, Paired> {
  const paired = new Map<Sequence, Paired>();
  for (const { sequence, endSequence, start, end } of bars) {
    const milliseconds = end === null ? null : end - start;
    paired.set(sequence, { other: endSequence, isStart: true, milliseconds });
    if (endSequence !== null) paired.set(endSequence, { other: sequence, isStart: false, milliseconds });
  }
  return paired;
}
