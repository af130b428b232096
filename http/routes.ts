/** What every route is made of: the services, and the parsing of what a request says. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { Clock } from '../services/ports.ts';
import type { CredentialService } from '../services/credentials.ts';
import type { EnvironmentService } from '../services/environments/declarations.ts';
import type { SessionService } from '../services/session-service.ts';
import type { BodyReader } from './body.ts';
import type { Caller } from './caller.ts';
import { HttpError } from './errors.ts';
import type { EventStreams } from './sse.ts';
import { isWellFormed } from './wire/json-text.ts';
import { isSessionId, nameSchema } from './wire/names.ts';
import { pointerOf } from './wire/pointer.ts';
import { problemIn } from './wire/problems.ts';

export interface RouteDependencies {
  readonly sessions: SessionService;
  readonly credentials: CredentialService;
  readonly environments: EnvironmentService;
  readonly clock: Clock;
  readonly streams: EventStreams;
  readonly readBody: BodyReader;
}

export function callerOf(context: Context): Caller {
  const caller: unknown = context.state['caller'];
  if (!isCaller(caller)) throw new TypeError('a route was reached without authentication');
  return caller;
}

function isCaller(value: unknown): value is Caller {
  return typeof value === 'object' && value !== null && 'tenant' in value && 'scope' in value && 'sessionId' in value;
}

/** What a request gives for a part of its route's path. */
export function parameterOf(context: Context, name: string): string {
  const params: unknown = context['params'];
  const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
  if (typeof value !== 'string') throw new TypeError(`the route has no {${name}} in its path`);
  return value;
}

/** The name that the path gives to what the request stores. */
export function nameGivenIn(context: Context): string {
  const name = nameSchema.safeParse(parameterOf(context, 'name'));
  if (name.success) return name.data;
  throw new HttpError('invalid_request', `the name ${name.error.issues[0]?.message ?? 'is not accepted'}`, { field: '/name' });
}

/** The name that the path gives of something that is stored. What cannot be a name is nothing's. */
export function storedNameIn(context: Context, kind: 'credential' | 'environment'): string {
  const name = nameSchema.safeParse(parameterOf(context, 'name'));
  if (!name.success) throw new HttpError('not_found', `there is no such ${kind}`);
  return name.data;
}

/** The session that the path names. What cannot be an id is no session's, nor is another one to a caller of one session. */
export function sessionIdOf(context: Context): string {
  const id = parameterOf(context, 'session_id');
  const { sessionId: only } = callerOf(context);
  if (isSessionId(id) && (only === null || id === only)) return id;
  throw new HttpError('not_found', 'there is no such session');
}

/** Of a body that may be left out: nothing at all stands for the empty object, and a null for nothing but itself. */
export function parseOptionalBody<T>(schema: z.ZodType<T>, body: unknown): T {
  return parseBody(schema, body === undefined ? {} : body);
}

export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { predicate, field } = problemIn(body, parsed.error);
  throw new HttpError('invalid_request', `${field === '' ? 'the body' : field} ${predicate}`, { field });
}

/** `given`: what of the query the schema is of, where that is not all of it. */
export function parseQuery<T>(
  schema: z.ZodType<T> & { readonly shape: object },
  context: Context,
  given: ParsedUrlQuery = context.query,
): T {
  const query = parseGiven(schema, given, (field) => {
    return { field, code: field === '/after' && 'after' in schema.shape ? 'invalid_cursor' : 'invalid_request' };
  });
  refuseBrokenText(context.querystring);
  return query;
}

/** What was asked for under names of the client's own, by those names. A query says `prefix` before each of them. */
export function parseFilters<T>(filters: { readonly prefix: string; readonly schema: z.ZodType<T> }, given: ParsedUrlQuery): T {
  return parseGiven(filters.schema, given, (field) => {
    return { field: field === '' ? '' : `/${filters.prefix}${field.slice(1)}`, code: 'invalid_request' };
  });
}

interface Place {
  readonly field: string;
  readonly code: 'invalid_request' | 'invalid_cursor';
}

/** `placeOf`: where in the query a place in what is given stands. */
function parseGiven<T>(schema: z.ZodType<T>, given: ParsedUrlQuery, placeOf: (field: string) => Place): T {
  const repeated = Object.keys(given).find((name) => Array.isArray(given[name]));
  if (repeated !== undefined) throw badQuery(placeOf(pointerOf([repeated])), 'must be given once');
  // As JSON refuses it, and since a schema of open names passes over it.
  if (Object.hasOwn(given, '__proto__')) throw badQuery(placeOf('/__proto__'), 'is not a name that is accepted');
  // The parser's own object has no prototype, which a schema does not take for an object.
  const parsed = schema.safeParse({ ...given });
  if (parsed.success) return parsed.data;
  const { predicate, field } = problemIn(given, parsed.error);
  throw badQuery(placeOf(field), predicate);
}

function badQuery({ field, code }: Place, predicate: string): HttpError {
  const what = field === '' ? 'the query' : `the query's ${field.slice(1)}`;
  return new HttpError(code, `${what} ${predicate}`, { field });
}

/** What is no UTF-8 would otherwise come out as U+FFFD, or as other characters, and be looked for as that. */
function refuseBrokenText(querystring: string): void {
  if (isText(querystring)) return;
  throw new HttpError('invalid_request', 'the query must be percent-encoded UTF-8 without NUL', { field: '' });
}

function isText(querystring: string): boolean {
  // Bytes that were sent as they are come here as Latin-1.
  if (!/^[\x21-\x7e]*$/.test(querystring)) return false;
  try {
    return isWellFormed(decodeURIComponent(querystring));
  } catch {
    return false;
  }
}
