/** The short form of `npm run torture`: the built server killed at random instants under clients that do everything at once. */
import { describe, expect, it } from 'vitest';
import { torture, USUAL } from '../torture/torture.ts';

describe('the server under clients of every kind, killed again and again', () => {
  it('keeps what it acknowledged, sends nothing twice, and shows every follower all of it once', async () => {
    const seed = Number(process.env['BRAIN_TORTURE_SEED'] ?? Date.now() % 1_000_000_000);

    const { faults, summary, turns, operations, taken } = await torture({ ...USUAL, seed, kills: 8, msMax: 20_000 });

    console.log(summary);
    expect(faults, `seed ${seed}`).toEqual([]);
    expect(turns).toBeGreaterThan(10);
    expect(operations).toBeGreaterThan(10);
    expect(taken).toBeGreaterThan(0);
  });
});
