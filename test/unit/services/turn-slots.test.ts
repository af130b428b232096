import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TurnSlots, type TurnSlot } from '../../../services/turn-slots.ts';
import { quiescence } from '../../support/simulated-clock.ts';

/** A turn asks for a slot; or one of those that asked, waiting or running, gives it back, perhaps again. */
type Step = { readonly asks: string } | { readonly givesBack: number };

interface Turn {
  readonly id: number;
  readonly tenant: string;
}

/** The rule as it reads: no structure but lists that are searched from their beginning. */
class NaiveSlots {
  readonly started: number[] = [];
  readonly #count: number;
  #turns: Turn[] = [];
  #running: Turn[] = [];
  /** From the tenant that was served longest ago. */
  #served: string[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  ask(turn: Turn): void {
    this.#turns.push(turn);
    this.#startAll();
  }

  giveBack(id: number): void {
    this.#turns = this.#turns.filter((turn) => turn.id !== id);
    this.#running = this.#running.filter((turn) => turn.id !== id);
    this.#startAll();
  }

  #startAll(): void {
    while (this.#running.length < this.#count) {
      const first =
        this.#turns.find(({ tenant }) => !this.#served.includes(tenant)) ??
        this.#served.flatMap((tenant) => this.#turns.filter((turn) => turn.tenant === tenant))[0];
      if (first === undefined) return;
      this.#turns = this.#turns.filter((turn) => turn !== first);
      this.#running.push(first);
      this.#served = [...this.#served.filter((tenant) => tenant !== first.tenant), first.tenant];
      this.started.push(first.id);
    }
  }
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ asks: fc.constantFrom('a', 'b', 'c', 'd') }) },
  { weight: 2, arbitrary: fc.record({ givesBack: fc.nat(60) }) },
);

/** Takes slots and says in which order they were granted. */
class Asking {
  readonly started: number[] = [];
  readonly slots: TurnSlot[] = [];
  readonly #of: TurnSlots;

  constructor(of: TurnSlots) {
    this.#of = of;
  }

  ask(tenant: string): number {
    const id = this.slots.length;
    const slot = this.#of.ask(tenant);
    void slot.granted.then(() => this.started.push(id));
    this.slots.push(slot);
    return id;
  }
}

describe('turn slots', () => {
  it('are granted as the rule says, whoever asks and however often slots are given back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (count, steps) => {
        const real = new Asking(new TurnSlots(count));
        const naive = new NaiveSlots(count);
        for (const next of steps) {
          if ('asks' in next) {
            naive.ask({ id: real.ask(next.asks), tenant: next.asks });
          } else if (real.slots.length > 0) {
            const id = next.givesBack % real.slots.length;
            naive.giveBack(id);
            real.slots[id]?.giveBack();
          }
          await quiescence();
          expect(real.started).toEqual(naive.started);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('go to a tenant’s one turn before 1,000 that another one has asked for earlier', async () => {
    const asking = new Asking(new TurnSlots(1));
    const running = asking.ask('many');
    for (let count = 0; count < 1_000; count += 1) asking.ask('many');
    asking.ask('few');
    asking.slots[running]?.giveBack();
    await quiescence();

    expect(asking.started).toEqual([0, 1001]);
  });

  it('let nobody starve who waits while others come and go', async () => {
    const asking = new Asking(new TurnSlots(1));
    let running = asking.ask('first');
    const waits = asking.ask('waits');
    const alsoWaits = asking.ask('waits');
    for (const tenant of ['x', 'y', 'x', 'y', 'x', 'y']) {
      asking.ask(tenant);
      asking.slots[running]?.giveBack();
      await quiescence();
      running = asking.started.at(-1) ?? 0;
    }

    expect(asking.started.slice(0, 2)).toEqual([0, waits]);
    expect(asking.started.indexOf(alsoWaits)).toBeLessThanOrEqual(4);
  });
});
