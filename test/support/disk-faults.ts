/** Faults of a simulated disk, as a test says them in one line. */
import type { CallPlan, DiskCall, DiskCallKind, SimulatedDisk } from './simulated-disk.ts';

/** Every call of a kind on a session's journal goes as planned, until `heal`. Answers how many did. */
export function plan(
  disk: SimulatedDisk,
  wanted: { readonly kinds: readonly DiskCallKind[]; readonly sessionId: string; readonly times?: number },
  planned: CallPlan,
): { heal(): void; readonly count: number } {
  let count = 0;
  const before = disk.plan;
  disk.plan = (call: DiskCall) => {
    const isWanted = wanted.kinds.includes(call.kind) && call.path.includes(`${wanted.sessionId}/journal`);
    if (!isWanted || count >= (wanted.times ?? Infinity)) return before(call);
    count += 1;
    return planned;
  };
  return {
    heal: () => {
      disk.plan = before;
    },
    get count() {
      return count;
    },
  };
}
