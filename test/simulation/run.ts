/** One run of the simulation: a list of choices from an empty disk to the end, and what the auditor says to it. */
import type { Violation } from './auditor/violation.ts';
import { Detail, type Choice } from './choices.ts';
import type { Coverage } from './coverage.ts';
import { bringToRest, lookAtEverything } from './ending.ts';
import { takeStep } from './steps.ts';
import { World } from './world.ts';

export interface RunResult {
  readonly violation: Violation | null;
  /** One line for each step. */
  readonly script: readonly string[];
  readonly log: readonly string[];
}

export async function run(choices: readonly Choice[], coverage: Coverage): Promise<RunResult> {
  const world = new World(coverage);
  coverage.runs += 1;
  await world.rest();
  await world.settle();
  for (const choice of choices) {
    if (world.auditor.violation !== null) break;
    coverage.steps += 1;
    await takeStep(world, choice);
  }
  const [, detail = 0] = choices.at(-1) ?? [];
  if (world.auditor.violation === null) await bringToRest(world);
  if (world.auditor.violation === null) await lookAtEverything(world, new Detail(detail));
  return { violation: world.auditor.violation, script: world.script, log: world.log };
}
