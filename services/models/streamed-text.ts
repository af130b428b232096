/**
 * Text that comes in pieces. A piece is never cleaned alone, for a character may stand in two of them.
 */
import { plainText } from '../../machines/plain-data.ts';

// The characters that are the first half of one that takes two.
const FIRST_HALF_MIN = 0xd800;
const FIRST_HALF_MAX = 0xdbff;

export class StreamedText {
  #shown = '';
  /** The first half of a character whose second half may be in the next piece. */
  #half = '';
  #isExact = true;

  /** Takes the next piece; answers what can be shown by now. */
  push(piece: string): string {
    const text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= FIRST_HALF_MIN && last <= FIRST_HALF_MAX;
    this.#half = isCut ? text.slice(-1) : '';
    const came = isCut ? text.slice(0, -1) : text;
    const whole = plainText(came);
    if (whole !== came) this.#isExact = false;
    this.#shown += whole;
    return whole;
  }

  /** All pieces put together: well-formed, without NUL. */
  get text(): string {
    return this.#shown + plainText(this.#half);
  }

  /** Whether the text is what came, character by character: nothing had to be replaced or left out. */
  get isExact(): boolean {
    return this.#isExact && this.#half === '';
  }
}
