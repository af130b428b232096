import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './mutations.ts';
import { inWords } from './simulate.ts';
import { variant } from './variants.ts';

// Budgets are counted in runs, and seeds are fixed: what a mutation needs to be found is then the same every time.
const SEED = 20_260_101;
const RUNS_MAX = 3_000;
const MS_MAX = 60_000;

describe('the simulation finds', () => {
  for (const { name, breaks } of MUTATIONS) {
    it(`${name}, a fault that breaks ${breaks.join(' or ')}`, async () => {
      const { simulate } = await variant(name);
      const start = Date.now();
      const { failure, coverage } = await simulate({ seed: SEED, runs: RUNS_MAX, ms: MS_MAX });
      console.log(name, failure?.invariant, coverage.runs, 'runs', Date.now() - start, 'ms', failure && (failure.message + '\n' + failure.script.join('\n')));
      expect(failure, `${name} was not found`).not.toBeNull();
      if (failure === null) return;
      expect(breaks, inWords(failure)).toContain(failure.invariant);
      expect(failure.script.length, inWords(failure)).toBeLessThanOrEqual(16);
    });
  }
});
