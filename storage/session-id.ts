/** Session ids as this layer takes them: they become paths, so that nothing else may pass. */
import assert from 'node:assert';

const PATTERN = /^[0-9a-f]{32}$/;

export function isSessionId(text: string): boolean {
  return PATTERN.test(text);
}

export function assertSessionId(text: string): void {
  assert(isSessionId(text), 'a session id is 32 lower-case hex digits');
}
