/**
 * A tool call's arguments, from the text that a model wrote to a value. Strict: what is no JSON is never repaired, since a
 * call with arguments that nobody meant must not run.
 */
import type { JsonValue } from '../../machines/messages.ts';
import { plainData } from '../../machines/plain-data.ts';

export type ToolArguments =
  | { readonly kind: 'parsed'; readonly value: JsonValue }
  | { readonly kind: 'invalid'; readonly reason: string };

/** The value of `text`. The empty text is how some models write no arguments: `{}`. */
export function parseToolArguments(text: string): ToolArguments {
  if (text === '') return { kind: 'parsed', value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'invalid', reason: 'the arguments are not valid JSON' };
  }
  const plain = plainData(value);
  if (!plain.ok) return { kind: 'invalid', reason: `the arguments cannot be used: ${plain.reason}` };
  return { kind: 'parsed', value: plain.value };
}
