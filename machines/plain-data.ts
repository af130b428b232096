/**
 * Plain data: what JSON can say, in well-formed text. Values from models, tools and loops pass here before they are
 * recorded, so that what is in memory and what is read back from the journal are the same value.
 */
import type { JsonValue } from './messages.ts';

/** Deeper values are refused: every later reader would have to walk them. */
export const PLAIN_DATA_DEPTH_MAX = 64;

/** What a message and its request add around the values in it. */
export const MESSAGE_DEPTH_MAX = PLAIN_DATA_DEPTH_MAX + 8;

export type PlainData = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly reason: string };

/**
 * A value as plain data: a lone surrogate becomes U+FFFD and NUL is left out, undefined becomes null (or an absent
 * property), and what JSON cannot say is refused with a reason.
 */
export function plainData(value: unknown, depthMax = PLAIN_DATA_DEPTH_MAX): PlainData {
  try {
    return { ok: true, value: plain(value, depthMax) };
  } catch (error) {
    if (error instanceof NotPlain) return { ok: false, reason: error.message };
    throw error;
  }
}

/** Text as Brain keeps it: well-formed, without NUL. */
export function plainText(text: string): string {
  // Nearly all text is so already: to look is cheaper than to write it anew.
  return text.isWellFormed() && !text.includes('\u0000') ? text : text.toWellFormed().replaceAll('\u0000', '');
}

class NotPlain extends Error {}

function plain(value: unknown, depthLeft: number): JsonValue {
  if (depthLeft < 0) throw new NotPlain('it is nested too deeply');
  switch (typeof value) {
    case 'string':
      return plainText(value);
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotPlain(`${value} is no JSON number`);
      return value === 0 ? 0 : value;
    case 'undefined':
      return null;
    case 'object':
      if (value === null) return null;
      return Array.isArray(value) ? plainArray(value, depthLeft) : plainObject(value, depthLeft);
    default:
      throw new NotPlain(`a ${typeof value} is no JSON value`);
  }
}

function plainArray(value: readonly unknown[], depthLeft: number): JsonValue {
  // Not `map`, which keeps the holes of an array: they are read back as null.
  const copy: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) copy.push(plain(value[index], depthLeft - 1));
  return copy;
}

function plainObject(value: object, depthLeft: number): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const toJson: unknown = 'toJSON' in value ? value.toJSON : undefined;
    if (typeof toJson === 'function') return plain(Reflect.apply(toJson, value, []), depthLeft - 1);
    throw new NotPlain('only plain objects and arrays are JSON values');
  }
  const given = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(given)) {
    const item = given[name];
    if (item === undefined) continue;
    const key = plainText(name);
    const plainItem = plain(item, depthLeft - 1);
    // A null prototype would make `__proto__` an ordinary key, and equal values unequal to some readers. Assigned it would
    // be the copy's own prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: plainItem, configurable: true, enumerable: true, writable: true });
    else copy[key] = plainItem;
  }
  return copy;
}
