import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Choices } from './choices.ts';
import { Coverage } from './coverage.ts';
import { run } from './run.ts';

describe('the simulation', () => {
  it('works', async () => {
    const coverage = new Coverage();
    const start = Date.now();
    const result = await fc.check(
      fc.asyncProperty(new Choices(80), async (choices) => {
        const { violation, script } = await run(choices, coverage);
        if (violation !== null) throw new Error(`${violation.message}\n${script.join('\n')}`);
      }),
      { numRuns: 1000, endOnFailure: false, interruptAfterTimeLimit: 60_000 },
    );
    console.log(coverage.runs, coverage.steps, coverage.deathCount, coverage.states.size, Date.now() - start, 'ms');
    if (result.failed) console.log(result.seed, result.numShrinks, JSON.stringify(result.counterexample), String(result.errorInstance));
    expect(result.failed).toBe(false);
  }, 200_000);
});
