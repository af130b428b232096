/**
 * What samples say, and how sure of it one can be.
 *
 *   T1. A percentile p needs 10 / (1 - p) samples: ten of them lie beyond it. With fewer there is none.
 *   T2. What is measured once a round is told as the middle of the rounds, with the least and the most beside it.
 */

export interface Spread {
  readonly least: number;
  readonly middle: number;
  readonly most: number;
  readonly count: number;
}

/** How far the middle half of a yardstick may reach, as a part of its middle, before nothing measured with it counts. */
export const RESTLESS_OVER = 0.25;

/** By nearest rank; null where there are too few samples (T1). */
export function percentile(samples: readonly number[], fraction: number): number | null {
  return samples.length < samplesFor(fraction) ? null : rankedAt(ascending(samples), fraction);
}

/** Throws where there are too few samples (T1). */
export function p50(samples: readonly number[]): number {
  const found = percentile(samples, 0.5);
  if (found === null) throw new RangeError(`a p50 needs ${samplesFor(0.5)} samples, and there are ${samples.length}`);
  return found;
}

/** Null where there is nothing. */
export function spreadOf(values: readonly number[]): Spread | null {
  const sorted = ascending(values);
  const [least] = sorted;
  const most = sorted.at(-1);
  if (least === undefined || most === undefined) return null;
  const upper = sorted[Math.floor(sorted.length / 2)] ?? most;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? least;
  return { least, middle: (lower + upper) / 2, most, count: sorted.length };
}

/** The width of the middle half of the values over their middle: 0 where they are all the same. */
export function restlessness(values: readonly number[]): number {
  const spread = spreadOf(values);
  if (spread === null) return 0;
  const sorted = ascending(values);
  return (rankedAt(sorted, 0.75) - rankedAt(sorted, 0.25)) / spread.middle;
}

function samplesFor(fraction: number): number {
  // 1 - 0.9 is a little less than a tenth in binary, and ten over it a little more than a hundred.
  return Math.ceil(Number((10 / (1 - fraction)).toFixed(6)));
}

function rankedAt(sorted: readonly number[], fraction: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)] ?? Number.NaN;
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((left, right) => left - right);
}
