/**
 * What decides a run: a list of choices. Each names a kind of step, and has a number that says which one of its kind. Zero
 * is always the most harmless, so that a list shrinks towards a run in which nothing goes wrong.
 */
import fc from 'fast-check';

export type Choice = readonly [kind: string, detail: number];

export interface Kind {
  readonly name: string;
  /** How often it is drawn, beside the others. */
  readonly share: number;
}

export interface Draws {
  /** The first is the most harmless. */
  readonly kinds: readonly [Kind, ...Kind[]];
  /** Kinds that seldom meet by chance in the order in which they bring about something rare. */
  readonly stories: readonly (readonly string[])[];
}

const DETAIL_MAX = 0x3fff_ffff;
/** How much more or less often than its share a kind is drawn in one list: never, seldom, as it is, or all the time. */
const MOODS = [0, 1, 3, 3, 9] as const;
/** In how many of a hundred places a story begins. */
const STORY_CHANCES = [0, 5, 15] as const;

/**
 * Lists of choices. Each list has moods of its own: a kind that one is full of is missing in another. Where everything
 * happened as often everywhere, most lists would be much the same, and hardly one would get far without a death.
 *
 * They shrink by losing whole stretches, the longest first, and then by what is left becoming harmless. The library's own
 * lists lose items from one end, which takes ever so long where what matters stands in the middle.
 */
export class Choices extends fc.Arbitrary<readonly Choice[]> {
  readonly #draws: Draws;
  readonly #lengthMax: number;

  constructor(draws: Draws, lengthMax: number) {
    super();
    this.#draws = draws;
    this.#lengthMax = lengthMax;
  }

  override generate(random: fc.Random): fc.Value<readonly Choice[]> {
    const { kinds, stories } = this.#draws;
    const of = <T>(items: readonly T[]): T => items[random.nextInt(0, items.length - 1)] as T;
    const moods = kinds.map(({ name, share }, index) => ({ name, share: index === 0 ? share * MOODS[2] : share * of(MOODS) }));
    const total = moods.reduce((sum, { share }) => sum + share, 0);
    const storyChance = of(STORY_CHANCES);
    const drawn = (): string => {
      let left = random.nextInt(0, total - 1);
      return moods.find(({ share }) => (left -= share) < 0)?.name ?? kinds[0].name;
    };
    const length = random.nextInt(Math.ceil(this.#lengthMax / 3), this.#lengthMax);
    const names: string[] = [];
    while (names.length < length) names.push(...(random.nextInt(0, 99) < storyChance ? of(stories) : [drawn()]));
    return new fc.Value(names.map((name): Choice => [name, random.nextInt(0, DETAIL_MAX)]), undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is readonly Choice[] {
    return Array.isArray(value);
  }

  /** `context`: how long the stretches were that the last success took away. Longer ones have failed already. */
  override shrink(value: readonly Choice[], context: unknown): fc.Stream<fc.Value<readonly Choice[]>> {
    const lengthMax = typeof context === 'number' ? context : Math.ceil(value.length / 2);
    return fc.stream(smaller(value, lengthMax, this.#draws.kinds[0].name));
  }
}

function* smaller(value: readonly Choice[], lengthMax: number, harmless: string): IterableIterator<fc.Value<readonly Choice[]>> {
  for (let length = Math.min(lengthMax, value.length); length >= 1; length = Math.floor(length / 2)) {
    for (let end = value.length; end > 0; end -= length) {
      yield new fc.Value(value.toSpliced(Math.max(0, end - length), length), length);
    }
  }
  for (const [index, [kind, detail]] of value.entries()) {
    if (kind !== harmless) yield new fc.Value(value.with(index, [harmless, 0]), 0);
    const details = new Set([0, Math.floor(detail / 2), detail - 1]);
    for (const less of details) if (less >= 0 && less < detail) yield new fc.Value(value.with(index, [kind, less]), 0);
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
