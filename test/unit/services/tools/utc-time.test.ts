import fc from 'fast-check';
import { expect, it } from 'vitest';
import { utcTime } from '../../../../services/tools/utc-time.ts';

it('says a time as the calendar does, without its fraction', () => {
  const first = Date.UTC(0, 0, 1) - 1900 * 366 * 86_400_000;
  fc.assert(
    fc.property(fc.integer({ min: Math.max(first, -62_135_596_800_000), max: 253_402_300_799_999 }), (epochMs) => {
      expect(utcTime(epochMs)).toBe(new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z'));
    }),
    { examples: [[0], [-1], [951_782_400_000], [4_107_542_399_999], [1_767_268_800_123]] },
  );
});
