/** The queries of `/v1`. A query is text; here it becomes numbers and lists. */
import { z } from 'zod';
import { SESSION_STATUSES } from '../../machines/projections/status.ts';
import { isRecordType, RECORD_VISIBILITY } from '../../machines/records.ts';
import { isSessionId } from './names.ts';

// One page is one answer in memory; the service bounds its bytes, this bounds its entries.
const PAGE_LIMIT_MAX = 1000;
const PAGE_LIMIT_DEFAULT = 100;

const wholeNumber = /^(0|[1-9][0-9]{0,15})$/;

/** A position in a journal, as text; null where it is none. */
export function parseSequence(text: string): number | null {
  const value = wholeNumber.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}

const sequenceSchema = z.string().transform((text, context) => {
  const sequence = parseSequence(text);
  if (sequence !== null) return sequence;
  context.addIssue({ code: 'custom', message: 'must be a sequence: a whole number from 0' });
  return z.NEVER;
});

const limitSchema = z.string().transform((text, context) => {
  const limit = wholeNumber.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
  context.addIssue({ code: 'custom', message: `must be a whole number from 1 to ${PAGE_LIMIT_MAX}` });
  return z.NEVER;
});

/** Brain's own types are known; a name with a dot is an extension's. Anything else is a slip that would match nothing. */
const typesSchema = z.string().transform((text, context) => {
  const types = text.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !isEventType(type));
  if (unknown === undefined) return types;
  context.addIssue({ code: 'custom', message: 'must be types of events, separated by commas' });
  return z.NEVER;
});

function isEventType(type: string): boolean {
  // An extension's record is shown under the extension's own type, a delta of the transcript under another name.
  if (type === 'extension_emitted') return false;
  if (isRecordType(type)) return RECORD_VISIBILITY[type] === 'public';
  return type === 'transcript_replaced' || type === 'model_delta' || type === 'tool_progress' || /^[^\s.]+\.\S+$/.test(type);
}

const after = sequenceSchema.default(0);
const limit = limitSchema.default(PAGE_LIMIT_DEFAULT);

export const listQuery = z.strictObject({
  // The empty text is before every id, and no client writes it: an empty `after=` is a variable that was not set.
  after: z.string().refine(isSessionId, { error: 'must be the id of a session, as next_cursor gives it' }).exactOptional(),
  limit,
  status: z.enum(SESSION_STATUSES).exactOptional(),
});
export const eventsQuery = z.strictObject({ after, limit, types: typesSchema.exactOptional() });
/** A browser's EventSource can set no header, so that its token comes here; it has been looked at by then. */
export const eventStreamQuery = z.strictObject({
  after,
  types: typesSchema.exactOptional(),
  access_token: z.string().exactOptional(),
});
export const journalQuery = z.strictObject({ after, limit });
export const journalStreamQuery = z.strictObject({ after });
export const noQuery = z.strictObject({});
