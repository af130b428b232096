/**
 * Text from outside made fit for the journal and the wire: well-formed, and without NUL. A piece of a stream is never
 * cleaned alone, for a character may stand in two pieces.
 */
import type { JsonValue } from '../../machines/messages.ts';

/** U+FFFD in the place of each lone surrogate, and no NUL. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** The value with every text in it clean, keys too. */
export function cleanJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(cleanJson);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item)]));
}

/** Streamed text: what was pushed so far, and what of it can be shown already. */
export class StreamedText {
  #shown = '';
  /** The first half of a character whose second half may be the next piece. */
  #half = '';

  /** Takes the next piece; answers what can be shown of it. */
  push(piece: string): string {
    const text = this.#half + piece.replaceAll('\0', '');
    const isCut = /[\uD800-\uDBFF]$/.test(text);
    this.#half = isCut ? text.slice(-1) : '';
    const whole = cleanText(isCut ? text.slice(0, -1) : text);
    this.#shown += whole;
    return whole;
  }

  get text(): string {
    return this.#shown + cleanText(this.#half);
  }
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
