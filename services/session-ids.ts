/**
 * Session ids: 32 lower-case hex digits that sort by creation. The first twelve are the time in milliseconds, the rest is
 * random; whatever the clock does, no id is below the last one issued.
 */
import type { Clock, Random } from './ports.ts';

const TIME_DIGITS = 12;
const RANDOM_BYTES = 10;

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
    const drawn = this.#idOf(this.#clock.now());
    // The clock stands still or went back: the next time after the last id's. The rest is drawn all the same, for an id
    // that a dead process issued, and that nobody saw, is not known here.
    this.#last = drawn > this.#last ? drawn : this.#idOf(Number.parseInt(this.#last.slice(0, TIME_DIGITS), 16) + 1);
    return this.#last;
  }

  #idOf(time: number): string {
    return time.toString(16).padStart(TIME_DIGITS, '0') + Buffer.from(this.#random.bytes(RANDOM_BYTES)).toString('hex');
  }
}
