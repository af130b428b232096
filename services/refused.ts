/** What a host service answers where it does nothing: plain data, which a loop in another process could be sent as well. */
import type { Refused } from './loops/agent-loop.ts';

export function refused(code: Refused['code'], message: string): Refused {
  return { outcome: 'refused', code, message };
}
