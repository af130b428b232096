/** Whatever the disk does and whenever the process dies: acknowledged claims are there, and nothing else is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataDirectory } from '../../../storage/data-directory.ts';
import { FileClaimStore } from '../../../storage/file-claim-store.ts';
import { textOf } from '../../support/frames.ts';
import { SimulatedDisk, type CallPlan, type Choose, type SimulatedProcess } from '../../support/simulated-disk.ts';

type Step =
  | { readonly kind: 'append'; readonly text: string }
  | { readonly kind: 'replace'; readonly texts: readonly string[] }
  | { readonly kind: 'load' };

interface Fate {
  /** Counted from the beginning of the step. */
  readonly atCall: number;
  readonly plan: CallPlan;
}

type Power = 'stays' | 'fails';

const TENANT = 'local';
const DIED = Symbol('the process died');

/** One tenant's claims on a simulated disk, and all that may be true of them. */
class ClaimsModel {
  readonly #disk: SimulatedDisk;
  readonly #choose: Choose;
  /** What a load may show: one list where the last call's outcome is known. */
  #possible: (readonly string[])[] = [[]];
  #process: SimulatedProcess | null = null;
  #claims: FileClaimStore | null = null;
  #written = 0;

  constructor(disk: SimulatedDisk, choose: Choose) {
    this.#disk = disk;
    this.#choose = choose;
  }

  async take(step: Step, fate: Fate | null, power: Power): Promise<void> {
    const first = this.#disk.callCount;
    let hasFailed = false;
    this.#disk.plan = ({ number }) => {
      if (fate === null || number !== first + fate.atCall) return undefined;
      hasFailed = fate.plan.fails !== undefined;
      return fate.plan;
    };
    const death = (async () => {
      await this.#boot().died;
      return DIED;
    })();
    const outcome = await Promise.race([this.#perform(step, () => hasFailed), death]);
    this.#disk.plan = () => undefined;
    if (outcome === DIED) this.#die(power);
  }

  async crash(power: Power): Promise<void> {
    this.#die(power);
    await this.look();
  }

  /** Without faults everything loads, and shows what it must; what is shown stays. */
  async look(): Promise<void> {
    const shown = (await (await this.#open()).load(TENANT)).map(textOf);
    expect(this.#possible).toContainEqual(shown);
    this.#possible = [shown];
  }

  #die(power: Power): void {
    if (power === 'fails') this.#disk.cutPower(this.#choose);
    else if (this.#process !== null) this.#disk.kill(this.#process);
    this.#process = null;
    this.#claims = null;
  }

  async #perform(step: Step, hasFailed: () => boolean): Promise<void> {
    try {
      const claims = await this.#open();
      if (step.kind === 'load') {
        const shown = (await claims.load(TENANT)).map(textOf);
        expect(this.#possible).toContainEqual(shown);
        this.#possible = [shown];
        return;
      }
      // What was in doubt before this call is settled by it; the model learns which by looking.
      await this.look();
      const [known = []] = this.#possible;
      const texts = (step.kind === 'append' ? [step.text] : step.texts).map((text) => `${(this.#written += 1)}:${text}`);
      const next = step.kind === 'append' ? [...known, ...texts] : texts;
      this.#possible = [known, next];
      if (step.kind === 'append') await claims.append(TENANT, Buffer.from(texts[0] ?? ''));
      else await claims.replace(TENANT, texts.map((text) => Buffer.from(text)));
      this.#possible = [next];
    } catch (error) {
      if (!hasFailed()) throw error;
      expect(['journal_unavailable', 'disk_full', 'data_directory_unusable']).toContain(error instanceof Error && 'code' in error ? error.code : error);
    }
  }

  #boot(): SimulatedProcess {
    this.#process ??= this.#disk.boot();
    return this.#process;
  }

  async #open(): Promise<FileClaimStore> {
    this.#claims ??= new FileClaimStore(
      await DataDirectory.open({ disk: this.#boot(), path: '/srv/data', log: { warn: () => undefined } }),
    );
    return this.#claims;
  }
}

const SCRIPT: readonly Step[] = [
  { kind: 'append', text: 'the first' },
  { kind: 'append', text: 'x'.repeat(1_300) },
  { kind: 'replace', texts: ['kept', 'y'.repeat(700)] },
  { kind: 'append', text: 'z' },
  { kind: 'replace', texts: [] },
  { kind: 'append', text: 'anew' },
];

// Behind a header of 40 bytes and a first claim of 39 it ends with byte 513.
const LAST_BYTE_IN_A_SECTOR_OF_ITS_OWN = 'x'.repeat(404);

const DEVICES: readonly (() => Choose)[] = [
  () => () => 0,
  () => (count) => count - 1,
  () => everyOther(0),
  () => everyOther(1),
];

function everyOther(first: number): Choose {
  let turn = first;
  return (count) => {
    turn += 1;
    return turn % 2 === 0 ? 0 : count - 1;
  };
}

/** The first of what is possible or the last, by four bits that come again and again. */
function keeping(bits: number): Choose {
  let turn = 0;
  return (count) => {
    turn += 1;
    return ((bits >> (turn % 4)) & 1) === 0 ? 0 : count - 1;
  };
}

function choosingFrom(choices: readonly number[]): Choose {
  let at = 0;
  return (count) => {
    const choice = choices[(at + Math.floor(at / choices.length)) % choices.length] ?? 0;
    at += 1;
    return choice % count;
  };
}

const text = fc.integer({ min: 0, max: 2_500 }).map((length) => 'x'.repeat(length));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: text.map((drawn): Step => ({ kind: 'append', text: drawn })) },
  { weight: 2, arbitrary: fc.array(text, { maxLength: 3 }).map((texts): Step => ({ kind: 'replace', texts })) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'load' }) },
);
const plan: fc.Arbitrary<CallPlan> = fc.oneof(
  fc.constantFrom<CallPlan>({ fails: 'EIO' }, { fails: 'ENOSPC' }, { dies: 'before' }, { dies: 'after' }),
  fc.integer({ min: 1, max: 2_000 }).map((takes): CallPlan => ({ takes })),
  fc.integer({ min: 1, max: 2_000 }).map((takes): CallPlan => ({ takes, fails: 'ENOSPC' })),
  fc.integer({ min: 1, max: 2_000 }).map((takes): CallPlan => ({ takes, dies: 'after' })),
);
const fate: fc.Arbitrary<Fate> = fc.record({ atCall: fc.integer({ min: 1, max: 25 }), plan });

describe('claims on a disk that fails', () => {
  it('S-152: are there when the process dies at any call, or the power fails, whatever the device had of the rest', async () => {
    for (const power of ['stays', 'fails'] as const) {
      for (const device of DEVICES) {
        for (const dies of ['before', 'after'] as const) await atEveryCall(power, device, { dies });
      }
    }
  });

  it('S-152: are there when any call fails, and the process goes on', async () => {
    for (const fails of ['EIO', 'ENOSPC']) await atEveryCall('stays', () => () => 0, { fails });
  });

  it('S-152: are there when the process that finds what a kill left dies too, and the power fails then', async () => {
    for (const kept of upTo(16)) {
      for (const killedAt of upTo(10)) {
        for (let settledAt = 1, hasStruck = true; hasStruck; settledAt += 1) {
          const disk = new SimulatedDisk();
          const model = new ClaimsModel(disk, keeping(kept));
          await model.take({ kind: 'append', text: 'the first' }, null, 'stays');
          await model.take({ kind: 'append', text: LAST_BYTE_IN_A_SECTOR_OF_ITS_OWN }, { atCall: killedAt, plan: { dies: 'after' } }, 'stays');
          const callsBefore = disk.callCount;
          await model.take({ kind: 'load' }, { atCall: settledAt, plan: { dies: 'after' } }, 'fails');
          hasStruck = disk.callCount >= callsBefore + settledAt;
          await model.look();
        }
      }
    }
  });

  it('are what was acknowledged or shown through any failures, deaths and power cuts, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step, fate: fc.option(fate), power: fc.constantFrom<Power>('stays', 'fails') }), { minLength: 1, maxLength: 14 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 50 }),
        async (steps, choices) => {
          const model = new ClaimsModel(new SimulatedDisk(), choosingFrom(choices));
          for (const taken of steps) await model.take(taken.step, taken.fate, taken.power);
          await model.look();
          await model.crash('stays');
          await model.crash('fails');
        },
      ),
      { numRuns: 600 },
    );
  });
});

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Runs the script once for each call that it makes; at the end the power fails. */
async function atEveryCall(power: Power, device: () => Choose, planned: CallPlan): Promise<void> {
  for (let fatal = 0; fatal < SCRIPT.length; fatal += 1) {
    for (let atCall = 1, hasStruck = true; hasStruck; atCall += 1) {
      const disk = new SimulatedDisk();
      const model = new ClaimsModel(disk, device());
      hasStruck = false;
      for (const [index, taken] of SCRIPT.entries()) {
        const callsBefore = disk.callCount;
        await model.take(taken, index === fatal ? { atCall, plan: planned } : null, power);
        if (index === fatal) hasStruck = disk.callCount >= callsBefore + atCall;
        await model.look();
      }
      await model.crash('fails');
    }
  }
}
