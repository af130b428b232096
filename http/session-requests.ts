/** What is asked of a session in the same way on both surfaces: its verbs, its metadata, and which sessions a list is of. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { Surface } from '../machines/records.ts';
import type { KeyedCall, KeyedRoute, RouteAnswers } from '../services/keyed-call.ts';
import type { ListQuery, MetadataChanges, SessionView } from '../services/session-service.ts';
import type { GuardedContract } from './contract.ts';
import { answerOnce } from './keyed.ts';
import { callerOf, parseBody, parseFilters, parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from './routes.ts';
import { emptyBody, type metadataFilters } from './wire/requests.ts';

type Dependencies = Pick<RouteDependencies, 'sessions' | 'readBody'>;

interface Asked {
  readonly tenant: string;
  /** Default: `v1`. */
  readonly surface?: Surface;
}

/** A verb says everything by its path: its body and its query are empty. */
export async function answerVerb<R extends KeyedRoute>(
  context: Context,
  { sessions, readBody }: Dependencies,
  { contract, ...scope }: Asked & { readonly route: R; readonly contract: GuardedContract },
  work: (sessionId: string, keyed: KeyedCall<R> | undefined) => Promise<RouteAnswers[R]>,
): Promise<RouteAnswers[R]> {
  const sessionId = sessionIdOf(context);
  const body = await readBody(context);
  return answerOnce(context, sessions, { ...scope, sessionId, body }, (keyed) => {
    parseQuery(contract.query, context);
    parseOptionalBody(emptyBody, body);
    return work(sessionId, keyed);
  });
}

/** The session with its metadata as a request changed it. */
export async function changeMetadataOf(
  context: Context,
  { sessions, readBody }: Dependencies,
  {
    contract,
    ...scope
  }: Asked & {
    readonly contract: GuardedContract & { readonly body: { readonly schema: z.ZodType<{ readonly metadata: MetadataChanges }> } };
  },
): Promise<SessionView> {
  const sessionId = sessionIdOf(context);
  const body = await readBody(context);
  return answerOnce(context, sessions, { ...scope, sessionId, route: 'change_metadata', body }, (keyed) => {
    parseQuery(contract.query, context);
    return sessions.changeMetadata(scope.tenant, sessionId, parseBody(contract.body.schema, body).metadata, keyed);
  });
}

/**
 * What a list is asked for. `metadata.KEY=VALUE` names a key of the client's own, so that it stands beside the query's
 * fixed names. A caller of one session asks for that one, whatever else.
 */
export function parseListQuery<T>(
  context: Context,
  {
    query,
    filters,
  }: {
    readonly query: z.ZodType<T> & { readonly shape: object };
    readonly filters: typeof metadataFilters;
  },
): T & Pick<ListQuery, 'metadata' | 'session_id'> {
  const isFilter = ([name]: readonly [string, unknown]): boolean => name.startsWith(filters.prefix);
  const entries = Object.entries(context.query);
  const given: ParsedUrlQuery = Object.fromEntries(
    entries.filter(isFilter).map(([name, value]) => [name.slice(filters.prefix.length), value]),
  );
  const rest: ParsedUrlQuery = Object.fromEntries(entries.filter((entry) => !isFilter(entry)));
  const asked = parseQuery(query, context, rest);
  const metadata = parseFilters(filters, given);
  const { sessionId } = callerOf(context);
  return {
    ...asked,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(sessionId === null ? {} : { session_id: sessionId }),
  };
}
