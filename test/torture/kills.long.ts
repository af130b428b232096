/** `npm run torture`: as many deaths as it is told, 200 where it is told nothing. */
import { expect, it } from 'vitest';
import { torture, USUAL } from './torture.ts';

const seed = Number(process.env['BRAIN_TORTURE_SEED']);
const kills = Number(process.env['BRAIN_TORTURE_KILLS']);
const minutes = Number(process.env['BRAIN_TORTURE_MINUTES']);

it(
  'is killed as often as it was told to be, and breaks no promise',
  async () => {
    const { faults, summary } = await torture({ ...USUAL, seed, kills, msMax: minutes * 60_000 });

    console.log(summary);
    expect(faults, `seed ${seed}`).toEqual([]);
  },
  0,
);
