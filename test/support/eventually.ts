/** Asks again until the answer is one, for what nothing announces. */
export async function eventually<T>(ask: () => Promise<T | undefined>, what: string, waitMs = 30_000): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${waitMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
