/** `/v1/sessions`: create, look at, list, label and delete. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { CreateSession } from '../../services/session-service.ts';
import { tenantWith } from '../caller.ts';
import { HttpError } from '../errors.ts';
import { answerJson } from '../failures.ts';
import { answerOnce } from '../keyed.ts';
import { callerOf, parseBody, parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { listedSessionAnswer, sessionAnswer, type SessionListAnswer } from '../wire/answers.ts';
import { listQuery, noQuery } from '../wire/queries.ts';
import { changeMetadataBody, createSessionBody, metadataFilters, type CreateSessionBody } from '../wire/requests.ts';

export function addSessionRoutes(router: Router, { sessions, readBody }: RouteDependencies): void {
  router.post('/v1/sessions', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    const body = await readBody(context);
    const session = await answerOnce(context, sessions, { tenant, sessionId: null, route: 'create', body }, (keyed) => {
      parseQuery(noQuery, context);
      return sessions.create(tenant, createRequest(parseOptionalBody(createSessionBody, body)), keyed);
    });
    context.status = 201;
    context.set('Location', `/v1/sessions/${session.session_id}`);
    answerJson(context, sessionAnswer(session));
  });

  router.get('/v1/sessions', async (context) => {
    const tenant = tenantWith(callerOf(context), 'read');
    const { filters, rest } = splitMetadataFilters(context);
    const { after = '', limit, status } = parseQuery(listQuery, context, rest);
    const metadata = parseBody(metadataFilters, filters);
    const filter = { ...(status === undefined ? {} : { status }), ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
    const page = await sessions.list(tenant, { after, limit, ...filter });
    const answer: SessionListAnswer = { sessions: page.sessions.map(listedSessionAnswer), next_cursor: page.next_cursor };
    answerJson(context, answer);
  });

  router.get('/v1/sessions/:session_id', async (context) => {
    const tenant = tenantWith(callerOf(context), 'read');
    const sessionId = sessionIdOf(context);
    parseQuery(noQuery, context);
    answerJson(context, sessionAnswer(await sessions.get(tenant, sessionId)));
  });

  router.delete('/v1/sessions/:session_id', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    const sessionId = sessionIdOf(context);
    await answerOnce(context, sessions, { tenant, sessionId, route: 'delete', body: undefined }, async (keyed) => {
      parseQuery(noQuery, context);
      await sessions.delete(tenant, sessionId, keyed);
      return null;
    });
    context.status = 204;
  });

  router.patch('/v1/sessions/:session_id', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    const sessionId = sessionIdOf(context);
    const body = await readBody(context);
    const session = await answerOnce(context, sessions, { tenant, sessionId, route: 'change_metadata', body }, (keyed) => {
      parseQuery(noQuery, context);
      return sessions.changeMetadata(tenant, sessionId, parseBody(changeMetadataBody, body).metadata, keyed);
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
