/** `npm run simulate`: the simulation for as long as it is told to, in both variants of the bounds, with what it reached. */
import { expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { coverageInWords, missedIn } from './reachable.ts';
import { inWords, simulate } from './simulate.ts';
import { variant } from './variants.ts';

const seed = Number(process.env['BRAIN_SIMULATE_SEED']);
const minutes = Number(process.env['BRAIN_SIMULATE_MINUTES']);
const runsLeft = Number(process.env['BRAIN_SIMULATE_RUNS']);
// A part of a run's time each: a failure is told of soon, and both variants of the bounds take turns.
const RUNS_PER_PART = 500;
// The rarest pair of a state and an open effect comes once in some 900 runs: fewer than these say nothing of what can be reached.
const RUNS_FOR_COVERAGE_MIN = 8_000;

it(
  'holds for as long as it was told to run',
  async () => {
    const small = await variant('small');
    const coverage = new Coverage();
    const startMs = performance.now();
    const endMs = startMs + minutes * 60_000;
    for (let part = 0; performance.now() < endMs && coverage.runs < runsLeft; part += 1) {
      const runs = Math.min(RUNS_PER_PART, runsLeft - coverage.runs);
      const options = { seed: seed + part, runs, ms: endMs - performance.now() };
      const { failure } = await (part % 2 === 0 ? simulate(options, coverage) : small.simulate(options, coverage));
      if (failure !== null) throw new Error(`${part % 2 === 0 ? '' : '(small bounds) '}${inWords(failure)}`);
    }
    const seconds = Math.round((performance.now() - startMs) / 1000);
    console.log(`seed ${seed}: ${coverage.runs} runs, ${coverage.steps} steps, ${coverage.deathCount} deaths, ${coverage.states.size} distinct states in ${seconds} s`);
    console.log(coverageInWords(coverage));
    const missed = missedIn(coverage);
    console.log(`deaths that never fell: ${missed.join('; ') || 'none'}`);
    if (coverage.runs >= RUNS_FOR_COVERAGE_MIN) expect(missed).toEqual([]);
  },
  0,
);
