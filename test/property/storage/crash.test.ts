/** Whatever the disk does and whenever the process dies: what was acknowledged or shown is there, and nothing else is. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { SimulatedDisk, type CallPlan, type Choose } from '../../support/simulated-disk.ts';
import { CrashModel, type Fate, type Step } from './crash-model.ts';

const SCRIPT: readonly Step[] = [
  { kind: 'append', text: 'the first' },
  { kind: 'append', text: 'x'.repeat(1_300) },
  { kind: 'checkpoint' },
  { kind: 'reopen' },
  { kind: 'append', text: 'y'.repeat(400) },
  { kind: 'append', text: 'z' },
  { kind: 'checkpoint' },
  { kind: 'remove' },
  { kind: 'append', text: 'the first of another' },
];

/** How a device may have fared, apart from chance: nothing of what was not flushed, all of it, every other piece. */
const DEVICES: readonly (() => Choose)[] = [
  () => () => 0,
  () => (count) => count - 1,
  () => alternating(0),
  () => alternating(1),
];

function alternating(first: number): Choose {
  let turn = first;
  return (count) => {
    turn += 1;
    return turn % 2 === 0 ? 0 : count - 1;
  };
}

/** From a list that fast-check draws, over and over: each round begins a place later, so that it is another one. */
function choosingFrom(choices: readonly number[]): Choose {
  let at = 0;
  return (count) => {
    const choice = choices[(at + Math.floor(at / choices.length)) % choices.length] ?? 0;
    at += 1;
    return choice % count;
  };
}

const text = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: 2_500 }).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.constant('L'.repeat(2_200_000)) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: text.map((drawn): Step => ({ kind: 'append', text: drawn })) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'reopen' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'remove' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'checkpoint' }) },
);
const plan: fc.Arbitrary<CallPlan> = fc.oneof(
  fc.constantFrom<CallPlan>({ fails: 'EIO' }, { fails: 'ENOSPC' }, { dies: 'before' }, { dies: 'after' }),
  fc.integer({ min: 1, max: 2_000 }).map((takes): CallPlan => ({ takes })),
  fc.integer({ min: 1, max: 2_000 }).map((takes): CallPlan => ({ takes, fails: 'ENOSPC' })),
  fc.integer({ min: 1, max: 2_000 }).map((takes): CallPlan => ({ takes, dies: 'after' })),
);
const fate: fc.Arbitrary<Fate> = fc.record({ atCall: fc.integer({ min: 1, max: 25 }), plan });
const look = fc.constantFrom('now' as const, 'later' as const);
const power = fc.constantFrom('stays' as const, 'fails' as const);

describe('a session on a disk that fails', () => {
  it('S-168: keeps what was acknowledged when the process dies at any call, and may be killed again afterwards', async () => {
    await atEveryCall('stays');
  });

  it('S-169: keeps what was acknowledged when the power fails at any call, whatever the device had of the rest', async () => {
    await atEveryCall('fails');
  });

  it('S-169: takes an end that is cut off for incomplete, wherever the process dies while it cuts, whatever the device had', async () => {
    for (const takes of [1, 27, 28, 29]) {
      for (let settledAt = 1, hasDied = true; hasDied; settledAt += 1) {
        for (let device = 0; device < 4 ** 3; device += 1) {
          const disk = new SimulatedDisk();
          const model = new CrashModel(disk, choosingFrom([device % 4, Math.floor(device / 4) % 4, Math.floor(device / 16)]));
          await model.take({ kind: 'append', text: 'whole' }, null, { power: 'stays', look: 'now' });
          await model.take({ kind: 'append', text: 'torn' }, { atCall: 1, plan: { takes, dies: 'after' } }, { power: 'stays', look: 'later' });
          const deaths = disk.deathCount;
          await model.take({ kind: 'reopen' }, { atCall: settledAt, plan: { dies: 'after' } }, { power: 'fails', look: 'now' });
          hasDied = disk.deathCount > deaths;
        }
      }
    }
  });

  it('keeps what was acknowledged or shown through any failures, deaths and power cuts, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step, fate: fc.option(fate), power, look }), { minLength: 1, maxLength: 14 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 50 }),
        async (steps, choices) => {
          const model = new CrashModel(new SimulatedDisk(), choosingFrom(choices));
          for (const taken of steps) await model.take(taken.step, taken.fate, taken);
          await model.crash('stays');
          await model.crash('fails');
        },
      ),
      { numRuns: 400 },
    );
  });
});

/** Runs the script once for each call that it makes, each side of it, and each device; at the end the power fails. */
async function atEveryCall(power: 'stays' | 'fails'): Promise<void> {
  for (const device of DEVICES) {
    for (const dies of ['before', 'after'] as const) {
      for (let fatal = 0; fatal < SCRIPT.length; fatal += 1) {
        for (let atCall = 1, hasDied = true; hasDied; atCall += 1) {
          const disk = new SimulatedDisk();
          const model = new CrashModel(disk, device());
          for (const [index, taken] of SCRIPT.entries()) {
            await model.take(taken, index === fatal ? { atCall, plan: { dies } } : null, { power, look: 'now' });
          }
          hasDied = disk.deathCount > 0;
          await model.crash('fails');
        }
      }
    }
  }
}
