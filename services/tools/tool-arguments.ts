/**
 * A tool call's arguments, from the text that a model wrote to a value. Strict: what is no JSON is never repaired, since a
 * call with arguments that nobody meant must not run.
 */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import { cleanJson } from '../models/clean-text.ts';

export type ToolArguments =
  | { readonly kind: 'parsed'; readonly value: JsonValue }
  | { readonly kind: 'invalid'; readonly reason: string };

// What walks a value calls itself at each level: a deeper one than any client may send could take the stack.
const ARGUMENTS_LEVELS_MAX = 64;

/** The value of `text`. The empty text is how some models write no arguments: `{}`. */
export function parseToolArguments(text: string): ToolArguments {
  if (text === '') return { kind: 'parsed', value: {} };
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return { kind: 'invalid', reason: 'the arguments are not valid JSON' };
  }
  if (isDeeperThan(value, ARGUMENTS_LEVELS_MAX)) {
    return { kind: 'invalid', reason: `the arguments are nested deeper than ${ARGUMENTS_LEVELS_MAX} levels` };
  }
  return { kind: 'parsed', value: mayHoldBrokenText(text) ? cleanJson(value) : value };
}

function parseJson(text: string): JsonValue {
  return JSON.parse(text) as JsonValue;
}

/** Well-formed text becomes broken by parsing only where an escape stands for a surrogate or for NUL. */
function mayHoldBrokenText(text: string): boolean {
  return /\\u(?:[dD][89a-fA-F]|0000)/.test(text);
}

function isDeeperThan(value: JsonValue, levels: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; depth < levels; depth += 1) {
    level = level.flatMap((container) => Object.values<JsonValue>(container).filter(isContainer));
  }
  return level.length > 0;
}

function isContainer(value: JsonValue): value is JsonObject | readonly JsonValue[] {
  return typeof value === 'object' && value !== null;
}
