/**
 * The simulation as a test of every day: histories that once found a fault, and fresh ones from a seed of their own, which
 * is printed. `npm run simulate` goes on for longer.
 */
import { describe, expect, it } from 'vitest';
import { runsSlowTests } from '../support/slow-tests.ts';
import { Coverage } from './coverage.ts';
import { KEPT } from './kept-histories.ts';
import { inWords, replayed, simulate, type SimulationFailure } from './simulate.ts';
import { variant } from './variants.ts';

const FRESH = { runs: Infinity, ms: runsSlowTests ? 15_000 : 3_000 };
/** `BRAIN_TEST_SEED`: the same histories every time, as many of them on any machine. */
const GIVEN_SEED = process.env['BRAIN_TEST_SEED'];
const BOUNDS = GIVEN_SEED === undefined ? FRESH : { runs: runsSlowTests ? 120 : 20, ms: Infinity };

describe('the simulated world', () => {
  for (const { found, fault, choices } of KEPT) {
    it(`holds in the history that found this, and not where it is so again: ${found}`, async () => {
      expectNone(await replayed(choices));
      expect(await (await variant(fault)).replayed(choices)).not.toBeNull();
    });
  }

  it('holds in fresh histories', async () => {
    const seed = freshSeed();

    const { failure, coverage } = await simulate({ seed, ...BOUNDS });

    expectNone(failure);
    tell(seed, coverage);
  });

  it('holds in fresh histories where segments, tails and checkpoints are small', async () => {
    const seed = freshSeed();

    const { failure, coverage } = await (await variant('small')).simulate({ seed, ...BOUNDS });

    expectNone(failure);
    tell(seed, coverage);
  });

  it('goes the same way from the same seed', async () => {
    const [first, second] = [new Coverage(), new Coverage()];

    await simulate({ seed: 1, runs: 10, ms: Infinity }, first);
    await simulate({ seed: 1, runs: 10, ms: Infinity }, second);

    expect([...second.states]).toEqual([...first.states]);
    expect(second.deaths).toEqual(first.deaths);
  });
});

function expectNone(failure: SimulationFailure | null): void {
  expect(failure === null ? '' : inWords(failure)).toBe('');
}

function freshSeed(): number {
  return GIVEN_SEED === undefined ? Date.now() % 1_000_000_000 : Number(GIVEN_SEED);
}

function tell(seed: number, { runs, steps, deathCount, states }: Coverage): void {
  console.log(`seed ${seed}: ${runs} runs, ${steps} steps, ${deathCount} deaths, ${states.size} distinct states`);
}
