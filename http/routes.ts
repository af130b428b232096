/** What every route is made of: the services, and the parsing of what a request says. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { Clock, Log } from '../services/ports.ts';
import type { CredentialService } from '../services/credentials.ts';
import type { SessionService } from '../services/session-service.ts';
import type { BodyReader } from './body.ts';
import type { Caller } from './caller.ts';
import { HttpError } from './errors.ts';
import { isSessionId } from './wire/names.ts';
import { pointerOf } from './wire/pointer.ts';
import { problemIn } from './wire/problems.ts';

export interface RouteDependencies {
  readonly sessions: SessionService;
  readonly credentials: CredentialService;
  readonly clock: Clock;
  readonly log: Log;
  readonly readBody: BodyReader;
}

export function callerOf(context: Context): Caller {
  const caller: unknown = context.state['caller'];
  if (!isCaller(caller)) throw new TypeError('a route was reached without authentication');
  return caller;
}

function isCaller(value: unknown): value is Caller {
  return typeof value === 'object' && value !== null && 'tenant' in value && 'scope' in value;
}

/** The session that the path names. What cannot be an id is no session's, and goes no further. */
export function sessionIdOf(context: Context): string {
  const params: unknown = context['params'];
  const id = typeof params === 'object' && params !== null && 'session_id' in params ? params.session_id : undefined;
  if (typeof id === 'string' && isSessionId(id)) return id;
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
export function parseQuery<T>(schema: z.ZodType<T>, context: Context, given: ParsedUrlQuery = context.query): T {
  const query = { ...given };
  const repeated = Object.keys(query).find((name) => Array.isArray(query[name]));
  const problem = repeated === undefined ? problemOfQuery(schema, query) : { predicate: 'must be given once', field: pointerOf([repeated]) };
  if ('data' in problem) return problem.data;
  const code = problem.field === '/after' ? 'invalid_cursor' : 'invalid_request';
  throw new HttpError(code, `the query's ${problem.field.slice(1)} ${problem.predicate}`, { field: problem.field });
}

function problemOfQuery<T>(schema: z.ZodType<T>, query: unknown): { readonly data: T } | { readonly predicate: string; readonly field: string } {
  const parsed = schema.safeParse(query);
  return parsed.success ? { data: parsed.data } : problemIn(query, parsed.error);
}
