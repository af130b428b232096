/** `npm run torture`: many power cuts. */
import { expect, it } from 'vitest';
import { canMakeLoopDisks } from './loop-disk.ts';
import { cutPower } from './power-cuts.ts';

const seed = Number(process.env['BRAIN_TORTURE_SEED']);
const mayMakeLoopDisks = await canMakeLoopDisks();

it.skipIf(!mayMakeLoopDisks)(
  'loses nothing acknowledged in any of many power cuts',
  async () => {
    const { faults, summary } = await cutPower({ seed, cuts: 30, betweenMsMax: 1500 });

    console.log(summary);
    expect(faults, `seed ${seed}`).toEqual([]);
  },
  0,
);
