/** What the auditor found broken: the number of the invariant, as `README.md` beside the simulation lists them. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly invariant: number;

  constructor(invariant: number, reason: string) {
    super(`invariant ${invariant}: ${reason}`);
    this.invariant = invariant;
  }
}

export function expectThat(holds: boolean, invariant: number, reason: () => string): void {
  if (!holds) throw new Violation(invariant, reason());
}

/** By value, however its keys are ordered. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = new Map(Object.entries(b).filter(([, value]) => value !== undefined));
  return left.length === right.size && left.every(([key, value]) => right.has(key) && same(value, right.get(key)));
}
