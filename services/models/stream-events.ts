/**
 * The events of a stream, looked at by hand: there is one for each piece of an answer. A schema takes five times as long for
 * one, and a start some milliseconds to be made. What an answer needs is read strictly; what it does not need is not looked
 * at.
 */
import { MalformedStream } from './stream-errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function unreadable(): MalformedStream {
  return new MalformedStream('an event that cannot be read');
}

/** An object's fields. Throws where it is none. */
export function fieldsIn(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable();
  return value as Fields;
}

/** The fields of what may be left out: null where it is. */
export function fieldsOrNull(value: unknown): Fields | null {
  return value === undefined || value === null ? null : fieldsIn(value);
}

export function textIn(value: unknown): string {
  if (typeof value !== 'string') throw unreadable();
  return value;
}

export function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : textIn(value);
}

export function listIn(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable();
  return value;
}

export function listOrNull(value: unknown): readonly unknown[] | null {
  return value === undefined || value === null ? null : listIn(value);
}

/** A place in a list. */
export function indexIn(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw unreadable();
  return value;
}

export function indexOrNull(value: unknown): number | null {
  return value === undefined || value === null ? null : indexIn(value);
}
