/**
 * The slots in which agent loops run: so many at a time in one process, whichever sessions they belong to.
 *
 *   P1. A slot that is free goes to the tenant that was served longest ago, and there to the turn that has waited longest:
 *       however many turns of one tenant wait, at most one of them goes before another's.
 *   P2. A slot is free again once for each time that it was granted, however often it is given back.
 *   P3. A turn that gives its slot back before it was granted waits no longer, and was not served.
 */
export interface TurnSlot {
  /** Resolves when the turn's loop may run; never, where the slot was given back before. */
  readonly granted: Promise<void>;
  /** The turn needs it no longer, or does not wait for it any more. */
  giveBack(): void;
}

interface WaitingTurn {
  /** Counted in asks. */
  readonly since: number;
  grant(): void;
}

interface Candidate {
  readonly tenant: string;
  readonly turn: WaitingTurn;
  readonly lastServed: number;
}

export class TurnSlots {
  #free: number;
  /** Of each tenant that waits, its turns from the one that has waited longest. */
  readonly #waiting = new Map<string, Set<WaitingTurn>>();
  /** When each tenant was served last, counted in grants. One number for every tenant that ever ran a turn. */
  readonly #lastServed = new Map<string, number>();
  #grants = 0;
  #asks = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** A slot that is free at this moment: nobody waits then. Null where none is. */
  take(tenant: string): TurnSlot | null {
    return this.#free === 0 ? null : this.ask(tenant);
  }

  ask(tenant: string): TurnSlot {
    let state: 'waiting' | 'granted' | 'over' = 'waiting';
    let resolve: () => void = () => undefined;
    const granted = new Promise<void>((resolveGranted) => {
      resolve = resolveGranted;
    });
    this.#asks += 1;
    const turn: WaitingTurn = {
      since: this.#asks,
      grant: () => {
        state = 'granted';
        resolve();
      },
    };
    this.#waiting.set(tenant, (this.#waiting.get(tenant) ?? new Set()).add(turn));
    this.#serve();
    return {
      granted,
      giveBack: () => {
        if (state === 'waiting') this.#leave(tenant, turn);
        if (state === 'granted') this.#free += 1;
        state = 'over';
        this.#serve();
      },
    };
  }

  #leave(tenant: string, turn: WaitingTurn): void {
    const turns = this.#waiting.get(tenant);
    turns?.delete(turn);
    // Tenants that wait are looked through at every grant.
    if (turns?.size === 0) this.#waiting.delete(tenant);
  }

  #serve(): void {
    while (this.#free > 0) {
      const next = this.#next();
      if (next === null) return;
      this.#free -= 1;
      this.#grants += 1;
      this.#lastServed.set(next.tenant, this.#grants);
      this.#leave(next.tenant, next.turn);
      next.turn.grant();
    }
  }

  /** Among tenants that were never served it is the turn that has waited longest, too. */
  #next(): Candidate | null {
    let next: Candidate | null = null;
    for (const [tenant, [turn]] of this.#waiting) {
      if (turn === undefined) continue;
      const candidate = { tenant, turn, lastServed: this.#lastServed.get(tenant) ?? 0 };
      if (next === null || isBefore(candidate, next)) next = candidate;
    }
    return next;
  }
}

function isBefore(left: Candidate, right: Candidate): boolean {
  return left.lastServed === right.lastServed ? left.turn.since < right.turn.since : left.lastServed < right.lastServed;
}
