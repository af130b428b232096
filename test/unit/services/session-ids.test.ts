import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionIds } from '../../../services/session-ids.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('session ids', () => {
  it('L-019, L-119: are 32 lower-case hex digits that ascend, whatever the clock and the random bytes do', () => {
    const anyTime = fc.integer({ min: 0, max: 2 ** 47 });
    const anyBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(fc.array(fc.tuple(anyTime, anyBytes), { minLength: 2 }), (draws) => {
        const clock = new SimulatedClock();
        let drawn = new Uint8Array(10);
        const ids = new SessionIds(clock, { bytes: () => drawn }, '');
        const issued = draws.map(([time, bytes]) => {
          clock.setWall(time);
          drawn = bytes;
          return ids.next();
        });

        expect(issued.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
        expect(new Set(issued).size).toBe(issued.length);
        expect(issued).toEqual(issued.toSorted());
      }),
    );
  });

  it('go on after the highest on the disk, where the clock says an earlier time', () => {
    const last = `ffff${'0'.repeat(27)}f`;
    const ids = new SessionIds(new SimulatedClock(), { bytes: (count) => new Uint8Array(count) }, last);

    expect(ids.next()).toBe(`ffff${'0'.repeat(7)}1${'0'.repeat(20)}`);
  });

  it('are another one each time, also where a process that is dead went on after the same id', () => {
    const last = `ffff${'0'.repeat(28)}`;
    let drawn = 0;
    const random = { bytes: (count: number) => new Uint8Array(count).fill((drawn += 1)) };
    const issued = [1, 2].map(() => new SessionIds(new SimulatedClock(), random, last).next());

    expect(issued[0]).not.toBe(issued[1]);
    for (const id of issued) expect(id > last).toBe(true);
  });
});
