/** `/v1/sessions`: create, look at, list, label and delete. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { Context } from 'koa';
import type { CreateSession } from '../../services/session-service.ts';
import { HttpError } from '../errors.ts';
import { answerJson } from '../failures.ts';
import { answerOnce } from '../keyed.ts';
import type { RouteTable } from '../route-table.ts';
import { parseBody, parseFilters, parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { listedSessionAnswer, sessionAnswer, type SessionListAnswer } from '../wire/answers.ts';
import type { CreateSessionBody } from '../wire/requests.ts';
import { changeMetadata, createSession, deleteSession, getSession, listSessions } from './session-contracts.ts';

export function addSessionRoutes(table: RouteTable, { sessions, readBody }: RouteDependencies): void {
  table.guarded(createSession, async (context, tenant) => {
    const body = await readBody(context);
    const session = await answerOnce(context, sessions, { tenant, sessionId: null, route: 'create', body }, (keyed) => {
      parseQuery(createSession.query, context);
      return sessions.create(tenant, createRequest(parseOptionalBody(createSession.body.schema, body)), keyed);
    });
    context.status = 201;
    context.set('Location', `/v1/sessions/${session.session_id}`);
    answerJson(context, sessionAnswer(session));
  });

  table.guarded(listSessions, async (context, tenant) => {
    const { filters, rest } = splitMetadataFilters(context);
    const { after = '', limit, status } = parseQuery(listSessions.query, context, rest);
    const metadata = parseFilters(listSessions.filters, filters);
    const filter = { ...(status === undefined ? {} : { status }), ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
    const page = await sessions.list(tenant, { after, limit, ...filter });
    const answer: SessionListAnswer = { sessions: page.sessions.map(listedSessionAnswer), next_cursor: page.next_cursor };
    answerJson(context, answer);
  });

  table.guarded(getSession, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    parseQuery(getSession.query, context);
    answerJson(context, sessionAnswer(await sessions.get(tenant, sessionId)));
  });

  table.guarded(deleteSession, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    await answerOnce(context, sessions, { tenant, sessionId, route: 'delete', body: undefined }, async (keyed) => {
      parseQuery(deleteSession.query, context);
      await sessions.delete(tenant, sessionId, keyed);
      return null;
    });
    context.status = 204;
  });

  table.guarded(changeMetadata, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    const body = await readBody(context);
    const session = await answerOnce(context, sessions, { tenant, sessionId, route: 'change_metadata', body }, (keyed) => {
      parseQuery(changeMetadata.query, context);
      return sessions.changeMetadata(tenant, sessionId, parseBody(changeMetadata.body.schema, body).metadata, keyed);
    });
    answerJson(context, sessionAnswer(session));
  });
}

const METADATA_FILTER = 'metadata.';

/** `metadata.KEY=VALUE` names a key of the client's own, so that it stands beside the query's fixed names. */
function splitMetadataFilters({ query }: Context): { readonly filters: ParsedUrlQuery; readonly rest: ParsedUrlQuery } {
  const isFilter = ([name]: readonly [string, unknown]): boolean => name.startsWith(METADATA_FILTER);
  const entries = Object.entries(query);
  return {
    filters: Object.fromEntries(entries.filter(isFilter).map(([name, value]) => [name.slice(METADATA_FILTER.length), value])),
    rest: Object.fromEntries(entries.filter((entry) => !isFilter(entry))),
  };
}

function createRequest(body: CreateSessionBody): CreateSession {
  const { environments, system, ...rest } = body;
  const [environment] = environments ?? [];
  if (environment !== undefined) {
    throw new HttpError('unknown_environment', `there is no environment named ${environment}`, { field: '/environments/0' });
  }
  return {
    ...rest,
    surface: 'v1',
    // An empty system prompt is none, and providers refuse it.
    ...(system === undefined || system === '' ? {} : { system }),
  };
}
