/** What a look at journals comes to: the worst of what was found, as an exit code and in words. */
import type { Judgement } from '../../storage/judged-segments.ts';
import type { ReadSegment } from '../../services/read-segments.ts';

/** 0: everything reads back. 1: an incomplete final write, which the next opening cuts off. 2: damage. */
const EXIT_CODE_OF: Readonly<Record<Judgement['kind'], 0 | 1 | 2>> = { clean: 0, torn: 1, damaged: 2 };

export class Verdict {
  #exitCode: 0 | 1 | 2 = 0;
  readonly #counts = { clean: 0, torn: 0, damaged: 0 };

  get exitCode(): 0 | 1 | 2 {
    return this.#exitCode;
  }

  note({ judgement }: ReadSegment): void {
    const code = EXIT_CODE_OF[judgement.kind];
    if (code > this.#exitCode) this.#exitCode = code;
    this.#counts[judgement.kind] += 1;
  }

  toString(): string {
    const { clean, torn, damaged } = this.#counts;
    return `segments: ${clean} clean, ${torn} torn, ${damaged} damaged`;
  }
}

/** What is wrong with a segment; null where nothing is. */
export function troubleOf({ judgement, bytes }: ReadSegment): string | null {
  switch (judgement.kind) {
    case 'clean':
      return null;
    case 'torn':
      return `torn at byte ${judgement.offset}: the last ${bytes - judgement.offset} bytes are an incomplete write`;
    case 'damaged':
      return `damaged at byte ${judgement.offset}: ${judgement.what}`;
  }
}
