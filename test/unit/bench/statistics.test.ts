import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { p50, percentile, restlessness, spreadOf } from '../../../bench/statistics.ts';

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('percentile', () => {
  it.each([
    [0.5, 20],
    [0.9, 100],
    [0.99, 1_000],
    [0.999, 10_000],
  ])('needs ten samples beyond it: for %d there is none of one fewer than %d', (fraction, needed) => {
    expect(percentile(upTo(needed - 1), fraction)).toBeNull();
    expect(percentile(upTo(needed), fraction)).toBe(needed * fraction);
  });

  it('is a sample that so many are not above, in whatever order they come', () => {
    const samples = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 100, maxLength: 300 });
    fc.assert(
      fc.property(samples, fc.constantFrom(0.5, 0.75, 0.9), (values, fraction) => {
        const found = percentile(values, fraction) ?? Number.NaN;

        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(values.length * fraction);
        expect(values.filter((value) => value < found).length).toBeLessThan(values.length * fraction);
      }),
    );
  });

  it('says as p50 how many samples are missing, in the place of a number', () => {
    expect(() => p50(upTo(19))).toThrow('a p50 needs 20 samples, and there are 19');
    expect(p50(upTo(21))).toBe(11);
  });
});

describe('the spread', () => {
  it('is none of nothing, and one value of one', () => {
    expect(spreadOf([])).toBeNull();
    expect(spreadOf([7])).toEqual({ least: 7, middle: 7, most: 7, count: 1 });
  });

  it('has in its middle the value in the middle, or what is halfway between the two', () => {
    expect(spreadOf([9, 1, 2])).toEqual({ least: 1, middle: 2, most: 9, count: 3 });
    expect(spreadOf([9, 1, 2, 4])).toEqual({ least: 1, middle: 3, most: 9, count: 4 });
  });
});

describe('restlessness', () => {
  it('is nothing where nothing moves, and the same whatever the unit is', () => {
    expect(restlessness([])).toBe(0);
    expect(restlessness([5, 5, 5, 5])).toBe(0);
    expect(restlessness([80, 90, 100, 110, 120])).toBeCloseTo(restlessness([0.8, 0.9, 1, 1.1, 1.2]), 10);
  });

  it('does not heed the one value that is far from all others', () => {
    expect(restlessness([100, 100, 100, 100, 100, 100, 100, 9_000])).toBe(0);
    expect(restlessness([50, 60, 100, 150, 200])).toBeGreaterThan(0.25);
  });
});
