/** The counts that a provider gave. What it did not give is absent, and a zero of its own is a zero. */
import type { Usage } from '../../machines/records.ts';

type Counts = Readonly<Record<string, unknown>>;

const NO_COUNTS: Counts = {};

/** An object of counts in a provider's JSON; none where it is no object. What is wrong there must not cost the answer. */
export function countsIn(value: unknown): Counts {
  return typeof value === 'object' && value !== null ? (value as Counts) : NO_COUNTS;
}

/** A count; undefined where it is none. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function usageFrom(counts: { readonly [Name in keyof Usage]: number | undefined }): { readonly usage?: Usage } {
  const told = Object.entries(counts).filter(([, count]) => count !== undefined);
  return told.length === 0 ? {} : { usage: Object.fromEntries(told) };
}
