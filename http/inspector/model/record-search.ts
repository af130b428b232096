/** Finds records by what is in them, letter case aside. */
import type { Sequence, SessionRecord } from '../../../machines/records.ts';

export function sequencesWith(records: readonly SessionRecord[], text: string): readonly Sequence[] {
  const wanted = text.toLowerCase();
  return records.filter((record) => `${record.type} ${JSON.stringify(record.data)}`.toLowerCase().includes(wanted)).map(({ sequence }) => sequence);
}
