/** Which records the list shows. */
import type { Sequence } from '../../../machines/records.ts';
import type { RecordKind, RecordRow } from './record-row.ts';

export interface RecordFilter {
  readonly kind: RecordKind | null;
  readonly visibility: 'public' | 'private' | null;
  /** The records that hold what was searched for, ascending; null where nothing is. */
  readonly found: readonly Sequence[] | null;
}

/** The sequences that pass, ascending. Null: all pass, those too that are not here yet. */
export function passing(rows: readonly (RecordRow | undefined)[], { kind, visibility, found }: RecordFilter): readonly Sequence[] | null {
  if (kind === null && visibility === null && found === null) return null;
  const candidates = found === null ? rows : found.map((sequence) => rows[sequence - 1]);
  return candidates.flatMap((row) => {
    if (row === undefined || (kind !== null && row.kind !== kind)) return [];
    return visibility === null || row.isPublic === (visibility === 'public') ? [row.sequence] : [];
  });
}

/** Where a sequence is among ascending ones, or would be. */
export function placeOf(sequences: readonly Sequence[], sequence: Sequence): number {
  let low = 0;
  let high = sequences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sequences[middle] ?? 0) < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
