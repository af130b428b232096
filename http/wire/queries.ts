/** The queries of `/v1`. A query is text; here it becomes numbers and lists. */
import { z } from 'zod';
import { SESSION_STATUSES } from '../../machines/projections/status.ts';
import { isRecordType, RECORD_VISIBILITY } from '../../machines/records.ts';
import { sessionIdSchema } from './names.ts';
import { LIVE_TYPES, TRANSCRIPT_EVENT } from './records.ts';

// One page is one answer in memory; the service bounds its bytes, this bounds its entries.
const PAGE_LIMIT_MAX = 1000;
const PAGE_LIMIT_DEFAULT = 100;

/** The text of a sequence or a count. */
export const wholeNumber = /^(0|[1-9][0-9]{0,15})$/;

/** A position in a journal, as text; null where it is none. */
export function parseSequence(text: string): number | null {
  const value = wholeNumber.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}

const sequenceSchema = z
  .string()
  .transform((text, context) => {
    const sequence = parseSequence(text);
    if (sequence !== null) return sequence;
    context.addIssue({ code: 'custom', message: 'must be a sequence: a whole number from 0' });
    return z.NEVER;
  })
  .meta({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const limitSchema = z
  .string()
  .transform((text, context) => {
    const limit = wholeNumber.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
    context.addIssue({ code: 'custom', message: `must be a whole number from 1 to ${PAGE_LIMIT_MAX}` });
    return z.NEVER;
  })
  .meta({ type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX });

/** Brain's own types are known; a name with a dot is an extension's. Anything else is a slip that would match nothing. */
const typesSchema = z
  .string()
  .transform((text, context) => {
    const types = text.split(',').map((type) => type.trim());
    const unknown = types.find((type) => !isEventType(type));
    if (unknown === undefined) return types;
    context.addIssue({ code: 'custom', message: 'must be types of events, separated by commas' });
    return z.NEVER;
  })
  .meta({
    description: 'Only events of these types, separated by commas: types of Brain, or of extensions, which have a dot in them.',
    examples: ['turn_started,turn_ended', 'shop.order_placed'],
  });

const SHOWN_BESIDE_RECORDS: readonly string[] = [TRANSCRIPT_EVENT, ...LIVE_TYPES];

function isEventType(type: string): boolean {
  // An extension's record is shown under the extension's own type, a delta of the transcript under another name.
  if (type === 'extension_emitted') return false;
  if (isRecordType(type)) return RECORD_VISIBILITY[type] === 'public';
  return SHOWN_BESIDE_RECORDS.includes(type) || /^[^\s.]+\.\S+$/.test(type);
}

const after = sequenceSchema.default(0).meta({ description: 'The cursor after which to begin, a sequence. 0 is the start.' });
export const limit = limitSchema.default(PAGE_LIMIT_DEFAULT).meta({ description: 'How many entries the page has at most. It may have fewer, and more may follow all the same.' });

export const listQuery = z.strictObject({
  // The empty text is before every id, and no client writes it: an empty `after=` is a variable that was not set.
  after: sessionIdSchema
    .meta({ description: 'The id after which the page begins, as `next_cursor` gave it. Left out: the start.' })
    .exactOptional(),
  limit,
  status: z.enum(SESSION_STATUSES).meta({ description: 'Only sessions with this status.' }).exactOptional(),
});
export const eventsQuery = z.strictObject({ after, limit, types: typesSchema.exactOptional() });
/** A browser's EventSource can set no header, so that its token comes here; it has been looked at by then. */
export const accessToken = z
  .string()
  .meta({ description: 'The token, for an `EventSource`, which can set no header. Looked at only where no `Authorization` is sent.' });
export const eventStreamQuery = z.strictObject({ after, types: typesSchema.exactOptional(), access_token: accessToken.exactOptional() });
export const journalQuery = z.strictObject({ after, limit });
export const journalStreamQuery = z.strictObject({ after });
export const noQuery = z.strictObject({});
