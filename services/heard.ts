/**
 * A promise whose rejection somebody has heard, whether or not the code that it is handed to waits for it: what a loop or
 * a tool leaves alone must not end the process.
 */
export function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
