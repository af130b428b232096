/** How long to wait before the next try: longer each time, and not for long. */
const FIRST_MS = 500;
const MOST_MS = 8_000;

export function backoffMs(triesBefore: number): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** triesBefore);
}
