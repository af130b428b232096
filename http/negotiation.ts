/** What a client says, in headers, about the form of its answer. */
import type { Context } from 'koa';
import { HttpError } from './errors.ts';

/** JSON is what a client gets that does not ask for a stream by name. A HEAD asks what a GET of JSON would say. */
export function wantsEventStream(context: Context): boolean {
  return context.method !== 'HEAD' && context.accepts('application/json', 'text/event-stream') === 'text/event-stream';
}

/** Whether `Prefer` (RFC 7240) asks for an answer before the work is done. It is a list, and not case-sensitive. */
export function prefersAsync(prefer: string | undefined): boolean {
  // A comma inside a quoted value separates nothing.
  const preferences = prefer?.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [];
  return preferences.some((preference) => {
    const [name, ...value] = (preference.split(';')[0] ?? '').split('=').map((part) => part.trim());
    return name?.toLowerCase() === 'respond-async' && ['', '""'].includes(value.join('='));
  });
}

/** Where a reader of a stream left off; null for one that has read nothing. It comes with the address of the first connection. */
export function lastEventId<T>(context: Context, parse: (text: string) => T | null): T | null {
  const header = context.get('Last-Event-ID');
  if (header === '') return null;
  const cursor = parse(header);
  if (cursor !== null) return cursor;
  throw new HttpError('invalid_cursor', 'Last-Event-ID must be the id of an event of this stream', { field: '/Last-Event-ID' });
}
