/**
 * Deliberate faults: each changes the text of one module as it is loaded, where a passage that stands there exactly once is
 * put another way. The shipped code has no switch for any of them.
 */

export interface Change {
  /** From the project's root on. */
  readonly file: string;
  readonly search: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  /** The invariants that may be the first to be found broken. */
  readonly breaks: readonly number[];
  readonly changes: readonly Change[];
}

/** No fault: bounds so small that short histories reach what only long ones reach otherwise. */
export const SMALL_BOUNDS: readonly Change[] = [
  { file: 'storage/segment.ts', search: 'SEGMENT_BYTES_MAX = 4 * 1024 * 1024', replace: 'SEGMENT_BYTES_MAX = 5 * 1024' },
  { file: 'services/session-loader.ts', search: 'CHECKPOINT_JOURNAL_BYTES_MIN = 64 * 1024', replace: 'CHECKPOINT_JOURNAL_BYTES_MIN = 1024' },
  { file: 'services/event-feed.ts', search: 'TAIL_BYTES_MAX = 256 * 1024', replace: 'TAIL_BYTES_MAX = 2 * 1024' },
  { file: 'services/history.ts', search: 'STEP_BYTES_MAX = 64 * 1024', replace: 'STEP_BYTES_MAX = 1024' },
  { file: 'services/loop-host.ts', search: 'EVENTS_PAGE_BYTES = 1024 * 1024', replace: 'EVENTS_PAGE_BYTES = 2 * 1024' },
];

export const MUTATIONS: readonly Mutation[] = [];

/** The changes of a variant: the small bounds, and the mutation of that name, if there is one. */
export function changesOf(variant: string): readonly Change[] {
  const mutation = MUTATIONS.find(({ name }) => name === variant);
  if (mutation === undefined && variant !== 'small') throw new Error(`there is no variant ${variant}`);
  return [...SMALL_BOUNDS, ...(mutation?.changes ?? [])];
}

/** The text of a module in a variant. */
export function changed(text: string, file: string, variant: string): string {
  let result = text;
  for (const { search, replace } of changesOf(variant).filter((change) => change.file === file)) {
    const count = result.split(search).length - 1;
    if (count !== 1) throw new Error(`${file} has this ${count} times, and not once: ${search}`);
    result = result.replace(search, () => replace);
  }
  return result;
}
