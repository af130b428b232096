/** Work that is done again and again: one at a time, or by many at once. */

/** How long it takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export interface Rate {
  /** Within the time that counts. */
  readonly count: number;
  readonly seconds: number;
  /** And before and after it. */
  readonly total: number;
}

/**
 * Each worker does its work again and again. The time that counts begins when as much is done as there are workers: until
 * then all of them began at once. What ends after it ran beside fewer and fewer others.
 */
export async function rateOf(workers: readonly (() => Promise<unknown>)[], seconds: number): Promise<Rate> {
  let total = 0;
  let count = 0;
  let startedAt = Number.POSITIVE_INFINITY;
  const isOver = (): boolean => performance.now() >= startedAt + seconds * 1000;
  await Promise.all(
    workers.map(async (work) => {
      while (!isOver()) {
        await work();
        total += 1;
        if (total > workers.length && !isOver()) count += 1;
        if (total === workers.length) startedAt = performance.now();
      }
    }),
  );
  return { count, seconds, total };
}
