/** Many that fall silent, and one timer for them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Keepalives, KEEPALIVE_MS, type Silent } from '../../../http/keepalives.ts';
import { ManualClock } from '../../support/manual-clock.ts';

class Stream implements Silent {
  readonly said: number[] = [];
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  sayAlive(): void {
    this.said.push(this.#clock.monotonic());
  }
}

it('each says that it is alive so long after it last sent something, whatever the others do, and one timer is enough', () => {
  const anyStep = fc.record({ do: fc.constantFrom('send' as const, 'forget' as const), one: fc.nat({ max: 4 }), ms: fc.integer({ min: 0, max: 2 * KEEPALIVE_MS }) });
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const clock = new ManualClock();
      const keepalives = new Keepalives(clock);
      const streams = Array.from({ length: 5 }, () => ({ stream: new Stream(clock), expected: [] as number[], sentAt: null as number | null }));
      for (const step of steps) {
        const one = streams[step.one];
        if (one === undefined) throw new RangeError('there are five');
        one.sentAt = step.do === 'send' ? clock.monotonic() : null;
        if (step.do === 'send') keepalives.sent(one.stream);
        else keepalives.forget(one.stream);
        const until = clock.monotonic() + step.ms;
        for (const other of streams) {
          for (; other.sentAt !== null && other.sentAt + KEEPALIVE_MS <= until; other.sentAt += KEEPALIVE_MS) other.expected.push(other.sentAt + KEEPALIVE_MS);
        }
        clock.advance(step.ms);
        expect(clock.timerCount).toBe(streams.some(({ sentAt }) => sentAt !== null) ? 1 : 0);
      }
      for (const { stream, expected } of streams) expect(stream.said).toEqual(expected);
    }),
  );
});
