/** What a run has reached: transitions of the charts, kinds of failure, and where deaths fell. */

export class Coverage {
  readonly transitions = new Map<string, number>();
  readonly failures = new Map<string, number>();
  /** A death in a state with an effect of a kind open. */
  readonly deaths = new Map<string, number>();
  readonly states = new Set<string>();
  runs = 0;
  steps = 0;
  deathCount = 0;

  transition(before: string, type: string, after: string): void {
    count(this.transitions, transitionName(before, type, after));
  }

  failure(kind: string): void {
    count(this.failures, kind);
  }

  death(how: string, state: string, open: ReadonlySet<string>): void {
    count(this.failures, `death: ${how}`);
    for (const kind of open.size === 0 ? ['nothing'] : open) count(this.deaths, pairName(state, kind));
  }
}

export function transitionName(before: string, type: string, after: string): string {
  return before === after ? `${before}: ${type}` : `${before}: ${type} -> ${after}`;
}

export function pairName(state: string, kind: string): string {
  return `${state} with ${kind} open`;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
