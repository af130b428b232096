/** The queries of `/sessions`, and the cursors of its events. */
import { z } from 'zod';
import type { LifecycleCursor } from '../../machines/projections/lifecycle-events.ts';
import { LIFECYCLE_STATUSES } from '../../machines/projections/status.ts';
import type { Sequence } from '../../machines/records.ts';
import { sessionIdSchema } from './names.ts';
import { accessToken, limit, parseSequence } from './queries.ts';

/** The text of a cursor: `SEQUENCE.INDEX` after one event, a bare sequence after all that a record shows. */
export const LIFECYCLE_CURSOR = /^(0|[1-9][0-9]{0,15})(\.(0|[1-9][0-9]{0,15}))?$/;

/** A position among a session's events, as text; null where it is none. */
export function parseLifecycleCursor(text: string): LifecycleCursor | null {
  if (!LIFECYCLE_CURSOR.test(text)) return null;
  const [ofRecord = '', ofEvent] = text.split('.');
  const sequence = parseSequence(ofRecord);
  const index = ofEvent === undefined ? null : parseSequence(ofEvent);
  return sequence === null || (ofEvent !== undefined && index === null) ? null : { sequence, index };
}

export function lifecycleCursorText({ sequence, index }: LifecycleCursor): string {
  return index === null ? String(sequence) : `${sequence}.${index}`;
}

export const inputIdSchema = z.string().meta({ description: 'A message, by the `id` of its own event.', examples: ['3.0'] });

/** The id of a message: of the only event that its record shows. */
export function inputIdOf(message: Sequence): string {
  return lifecycleCursorText({ sequence: message, index: 0 });
}

/** The message that an id names; null where it can name none. */
export function parseInputId(text: string): Sequence | null {
  const cursor = parseLifecycleCursor(text);
  return cursor?.index === 0 ? cursor.sequence : null;
}

const after = z
  .string()
  .transform((text, context) => {
    const cursor = parseLifecycleCursor(text);
    if (cursor !== null) return cursor;
    context.addIssue({ code: 'custom', message: 'must be the id of an event, a next_cursor, or a sequence' });
    return z.NEVER;
  })
  .meta({ type: 'string', pattern: LIFECYCLE_CURSOR.source, examples: ['3.0'] })
  .prefault('0')
  .meta({
    description: "The cursor after which to begin: an event's `id`, a `next_cursor`, or a sequence, which is past all of that record. 0 is the start.",
  });

export const lifecycleListQuery = z.strictObject({
  after: sessionIdSchema
    .meta({ description: 'The id after which the page begins: the last one of the page before. Left out: the start.' })
    .exactOptional(),
  limit,
  status: z.enum(LIFECYCLE_STATUSES).meta({ description: 'Only sessions with this status.' }).exactOptional(),
});
export const lifecycleEventsQuery = z.strictObject({ after, limit });
export const lifecycleStreamQuery = z.strictObject({ after, access_token: accessToken.exactOptional() });
