import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseUtcTime, utcTime } from '../../../machines/utc-time.ts';

it('says a time as the calendar does, without its fraction', () => {
  const first = Date.UTC(0, 0, 1) - 1900 * 366 * 86_400_000;
  fc.assert(
    fc.property(fc.integer({ min: Math.max(first, -62_135_596_800_000), max: 253_402_300_799_999 }), (epochMs) => {
      expect(utcTime(epochMs)).toBe(new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z'));
    }),
    { examples: [[0], [-1], [951_782_400_000], [4_107_542_399_999], [1_767_268_800_123]] },
  );
});

it('reads a time that it said, and takes none that no calendar has', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (seconds) => {
      expect(parseUtcTime(utcTime(seconds * 1000))).toBe(seconds * 1000);
    }),
    { examples: [[0], [951_782_400], [-62_135_596_800], [253_402_300_799]] },
  );
  const wrong = ['', '2026-02-29T00:00:00Z', '2026-00-01T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01', '2026-01-01T00:00:00', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00+01:00', ' 2026-01-01T00:00:00Z'];
  for (const text of wrong) expect([text, parseUtcTime(text)]).toEqual([text, null]);
});
