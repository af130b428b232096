/**
 * Session ids: 32 lower-case hex digits that sort by creation. The first twelve are the time in milliseconds, the rest is
 * random; whatever the clock does, no id is below the last one issued.
 */
import type { Clock, Random } from './ports.ts';

const TIME_DIGITS = 12;
const RANDOM_BYTES = 10;
const ID_MAX = (1n << 128n) - 1n;

export class SessionIds {
  readonly #clock: Clock;
  readonly #random: Random;
  #last: string;

  /** `last`: the highest id on the disk, or the empty text. */
  constructor(clock: Clock, random: Random, last: string) {
    this.#clock = clock;
    this.#random = random;
    this.#last = last;
  }

  next(): string {
    const time = this.#clock.now().toString(16).padStart(TIME_DIGITS, '0');
    const drawn = time + Buffer.from(this.#random.bytes(RANDOM_BYTES)).toString('hex');
    this.#last = drawn > this.#last ? drawn : follower(this.#last);
    return this.#last;
  }
}

/** The id right after one: for a clock that stands still or goes back. */
function follower(id: string): string {
  const next = BigInt(`0x${id}`) + 1n;
  if (next > ID_MAX) throw new Error('there is no session id after the last one');
  return next.toString(16).padStart(32, '0');
}
