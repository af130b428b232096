/** The time, and waiting. */

/** Epoch milliseconds. */
export function now(): number {
  return Date.now();
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

/** Calls again and again until what it answers is called. */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => clearInterval(timer);
}
