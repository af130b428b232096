/** The events of a stream, as they came, before the library made parts of them. */
import type { z } from 'zod';
import { MalformedStream } from './stream-errors.ts';

/** Null where the event is of none of the `types`. Throws where it is, and is not what the schema says. */
export function parseEvent<T>(
  raw: unknown,
  { types, schema }: { readonly types: readonly string[]; readonly schema: z.ZodType<T> },
): T | null {
  if (typeof raw !== 'object' || raw === null) throw new MalformedStream('an event that cannot be read');
  const { type } = raw as { readonly type?: unknown };
  if (!types.some((known) => known === type)) return null;
  const parsed = schema.safeParse(raw);
  if (!parsed.success) throw new MalformedStream('an event that cannot be read', { cause: parsed.error });
  return parsed.data;
}
