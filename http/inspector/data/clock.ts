/** The time, and waiting. */

/** Epoch milliseconds. */
export function now(): number {
  return Date.now();
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. Nothing of it stays with the signal. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      cancel();
      signal.removeEventListener('abort', goOn);
      resolve();
    };
    const cancel = after(ms, goOn);
    signal.addEventListener('abort', goOn);
  });
}

/** Calls once, unless what it answers is called before. */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}

/** Calls again and again until what it answers is called. */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => clearInterval(timer);
}
