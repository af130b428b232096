/**
 * What decides a run: a list of choices, each two numbers. The first says what kind of thing happens next, the second which
 * one of its kind. Zero is always the most harmless, so that a list shrinks towards a run in which nothing goes wrong.
 */
import fc from 'fast-check';

export type Choice = readonly [kind: number, detail: number];

export const KIND_MAX = 999;
const DETAIL_MAX = 0x3fff_ffff;

/**
 * Lists of choices that shrink by losing whole stretches, the longest first, and then by what is left becoming harmless.
 * The library's own lists lose items from one end, which takes ever so long where what matters stands in the middle.
 */
export class Choices extends fc.Arbitrary<readonly Choice[]> {
  readonly #lengthMax: number;

  constructor(lengthMax: number) {
    super();
    this.#lengthMax = lengthMax;
  }

  override generate(random: fc.Random): fc.Value<readonly Choice[]> {
    const length = random.nextInt(Math.ceil(this.#lengthMax / 3), this.#lengthMax);
    const choices = Array.from({ length }, (): Choice => [random.nextInt(0, KIND_MAX), random.nextInt(0, DETAIL_MAX)]);
    return new fc.Value(choices, undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is readonly Choice[] {
    return Array.isArray(value);
  }

  /** `context`: how long the stretches were that the last success took away. Longer ones have failed already. */
  override shrink(value: readonly Choice[], context: unknown): fc.Stream<fc.Value<readonly Choice[]>> {
    return fc.stream(smaller(value, typeof context === 'number' ? context : Math.ceil(value.length / 2)));
  }
}

function* smaller(value: readonly Choice[], lengthMax: number): IterableIterator<fc.Value<readonly Choice[]>> {
  for (let length = Math.min(lengthMax, value.length); length >= 1; length = Math.floor(length / 2)) {
    for (let end = value.length; end > 0; end -= length) {
      yield new fc.Value(value.toSpliced(Math.max(0, end - length), length), length);
    }
  }
  for (const [index, [kind, detail]] of value.entries()) {
    const tamer: Choice[] = [[0, 0], [kind, 0], [kind, Math.floor(detail / 2)], [kind, detail - 1]];
    for (const choice of tamer) {
      const isTamer = choice[0] + choice[1] < kind + detail && choice[1] >= 0;
      if (isTamer) yield new fc.Value(value.with(index, choice), 0);
    }
  }
}

/** Takes one number apart into as many small ones as a step needs. */
export class Detail {
  #left: number;
  readonly #random: () => number;

  constructor(detail: number) {
    this.#left = detail;
    this.#random = randomNumbers(detail);
  }

  /** A number from 0 to `count - 1`. */
  below(count: number): number {
    if (count <= 1) return 0;
    const digit = this.#left % count;
    this.#left = Math.floor(this.#left / count);
    return digit;
  }

  of<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  /** For more draws than a number holds, such as one for each sector of a disk. */
  readonly many = (count: number): number => Math.floor(this.#random() * count);
}

/** Numbers from 0 to below 1, the same ones for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
