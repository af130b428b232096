/**
 * The one way in which JSON text from outside becomes a value. What it lets through can be written down and read back
 * by every later part as it is.
 *
 *   W1. Nesting is counted on the text, before anything is built: a hostile depth costs one pass over it.
 *   W2. No string or key holds a lone surrogate or NUL: neither survives UTF-8, a provider or a terminal.
 *   W3. No number is infinite: `1e999` parses, and would be written down as null.
 *   W4. No key is `__proto__`: copied by assignment, anywhere, it would change the copy's prototype.
 *   W5. What environments and hosts report is mended rather than refused for W2: a result that came about is not lost for
 *       the sake of half a character.
 *
 * Of a key that is given twice the last value counts, as in every JavaScript client.
 */
import type { JsonValue } from '../../machines/messages.ts';
import { plainData } from '../../machines/plain-data.ts';
import { isDeeperThan } from '../../services/json-depth.ts';
import { pointerOf } from './pointer.ts';

// Deeper than any honest body, and shallow enough for every recursive reader.
export const JSON_DEPTH_MAX = 64;

export type ParsedJson =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'refused'; readonly problem: string; readonly field?: string };

export function parseJsonText(text: string, { mends }: { readonly mends: boolean } = { mends: false }): ParsedJson {
  if (isDeeperThan(text, JSON_DEPTH_MAX)) {
    return { kind: 'refused', problem: `is nested deeper than ${JSON_DEPTH_MAX} levels` };
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return { kind: 'refused', problem: `is not valid JSON${positionIn(error)}` };
  }
  const mended = mends ? plainData(value) : null;
  if (mended?.ok === true) value = mended.value;
  const flaw = flawOf(value, []);
  return flaw === null ? { kind: 'value', value } : { kind: 'refused', ...flaw };
}

/** The parser's message quotes the text itself; only the position is taken from it. */
function positionIn(error: unknown): string {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : `: it breaks at character ${position}`;
}

interface Flaw {
  readonly problem: string;
  readonly field: string;
}

function flawOf(value: JsonValue, path: readonly (string | number)[]): Flaw | null {
  if (typeof value === 'string') {
    return isWellFormed(value) ? null : { problem: 'holds NUL or a lone surrogate, which is not text', field: pointerOf(path) };
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : { problem: 'is a number out of range', field: pointerOf(path) };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (isList(value)) {
    for (const [index, item] of value.entries()) {
      const flaw = flawOf(item, [...path, index]);
      if (flaw !== null) return flaw;
    }
    return null;
  }
  for (const [key, item] of Object.entries(value)) {
    if (!isWellFormed(key)) return { problem: 'has a key with NUL or a lone surrogate, which is not text', field: pointerOf(path) };
    if (key === '__proto__') return { problem: 'has a key __proto__, which is not accepted', field: pointerOf(path) };
    const flaw = flawOf(item, [...path, key]);
    if (flaw !== null) return flaw;
  }
  return null;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Text as UTF-8 can carry it: no NUL, no half of a surrogate pair. */
export function isWellFormed(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}
