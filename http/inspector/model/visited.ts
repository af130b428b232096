/** Which states a session has been in. */
import type { Sequence } from '../../../machines/records.ts';
import type { RecordRow } from './record-row.ts';

/** The states up to a record, the one before the first included. A record that is not here yet counts for nothing. */
export function visitedStates(rows: readonly (RecordRow | undefined)[], through: Sequence): ReadonlySet<string> {
  const visited = new Set<string>(['none']);
  for (let index = 0; index < through; index += 1) {
    const state = rows[index]?.state;
    if (state === undefined || visited.has(state)) continue;
    visited.add(state);
    // `running.working` is a visit of `running` too.
    const [outer] = state.split('.');
    if (outer !== undefined) visited.add(outer);
  }
  return visited;
}
