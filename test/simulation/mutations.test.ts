import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runsLongForms } from '../support/slow-tests.ts';
import { KEPT } from './kept-histories.ts';
import { MUTATIONS } from './mutations.ts';
import { inWords } from './simulate.ts';
import { variant } from './variants.ts';

// Budgets are counted in runs, and seeds are fixed: what a mutation needs to be found is then the same every time.
const SEED = 20_260_101;
const RUNS_MAX = 2_000;
const CHOICES_MAX = 60;
/** In the tests of every day: those that are found within moments. `npm run mutations` looks for all of them. */
const QUICK = new Set(['dispatch-before-the-flush', 'swallow-a-record', 'leave-a-cancel-out']);

/** The faults of kept histories are found by these, beside the simulation. */
const KEPT_FAULTS = new Set(KEPT.map(({ fault }) => fault));
const WANTED = MUTATIONS.filter(({ name }) => !KEPT_FAULTS.has(name) && (runsLongForms || QUICK.has(name)));

describe('the simulation finds', () => {
  for (const { name, breaks } of WANTED) {
    it(`${name}, a fault that breaks ${breaks.join(' or ')}`, async () => {
      const { simulate } = await variant(name);
      const { failure } = await simulate({ seed: SEED, runs: RUNS_MAX, ms: Infinity, choicesMax: CHOICES_MAX });
      expect(failure, `${name} was not found`).not.toBeNull();
      if (failure === null) return;
      expect(breaks, inWords(failure)).toContain(failure.invariant);
      expect(failure.script.length, inWords(failure)).toBeLessThanOrEqual(16);
    }, 900_000);
  }
});

describe('each fault', () => {
  it('changes what is there, in one place, so that a change of the code cannot leave it without effect', async () => {
    for (const { name, changes } of MUTATIONS) {
      for (const { file, search } of changes) {
        const text = await readFile(path.resolve(import.meta.dirname, '../..', file), 'utf8');
        expect(text.split(search).length - 1, `${name} in ${file}`).toBe(1);
      }
    }
  });
});
