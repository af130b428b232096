/** What a client says, in headers, about the form of its answer. */
import type { Context } from 'koa';

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
