/** Many runs from one seed. A failure is shrunk to a short script, and says how to repeat it. */
import fc from 'fast-check';
import { Choices, type Choice } from './choices.ts';
import { Coverage } from './coverage.ts';
import { run } from './run.ts';
import { DRAWS } from './steps.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly runs: number;
  /** No run begins after that. */
  readonly ms: number;
  readonly choicesMax?: number;
}

export interface SimulationFailure {
  readonly seed: number;
  readonly invariant: number;
  readonly message: string;
  readonly script: readonly string[];
  readonly choices: readonly Choice[];
}

class Found extends Error {}

const CHOICES_MAX = 80;
// A longer timer would go off at once.
const TIMER_MS_MAX = 2 ** 31 - 1;

export async function simulate(
  { seed, runs, ms, choicesMax = CHOICES_MAX }: SimulationOptions,
  coverage = new Coverage(),
): Promise<{ readonly failure: SimulationFailure | null; readonly coverage: Coverage }> {
  // Each is smaller than the one before it: the library goes on from the first smaller list that fails.
  const failing: SimulationFailure[] = [];
  const property = fc.asyncProperty(new Choices(DRAWS, choicesMax), async (choices) => {
    const { violation, script } = await run(choices, coverage);
    if (violation === null) return;
    failing.push({ seed, choices, invariant: violation.invariant, message: violation.message, script });
    throw new Found(violation.message);
  });
  const plugins = ms > TIMER_MS_MAX ? [] : [fc.interruptAfterTimeLimit(ms)];
  await fc.check(property, { seed, numRuns: runs, plugins });
  return { failure: failing.at(-1) ?? null, coverage };
}

/** A list of choices run once more, for its script. */
export async function replayed(choices: readonly Choice[], seed = 0): Promise<SimulationFailure | null> {
  const { violation, script } = await run(choices, new Coverage());
  return violation === null ? null : { seed, choices, invariant: violation.invariant, message: violation.message, script };
}

export function inWords({ seed, message, script, choices }: SimulationFailure): string {
  const steps = script.map((line, index) => `${String(index + 1).padStart(4)}  ${line}`);
  return [message, ...steps, `found with seed ${seed}; these choices repeat it:`, JSON.stringify(choices)].join('\n');
}
