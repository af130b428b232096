/** The power fails under a server at work: what it had acknowledged is on the disk. `npm run torture` cuts more often. */
import { describe, expect, it } from 'vitest';
import { canMakeLoopDisks } from '../torture/loop-disk.ts';
import { cutPower } from '../torture/power-cuts.ts';

const mayMakeLoopDisks = await canMakeLoopDisks();

describe.skipIf(!mayMakeLoopDisks)('a power cut', () => {
  it('S-169: at any instant leaves every acknowledged record on the disk', async () => {
    const seed = Date.now() % 1_000_000_000;

    const { faults, summary } = await cutPower({ seed, cuts: 3, betweenMsMax: 500 });

    console.log(summary);
    expect(faults, `seed ${seed}`).toEqual([]);
  });
});
