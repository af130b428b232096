/** `/v1/sessions`: create, label and delete. */
import type { CreateSession } from '../../services/session-service.ts';
import { answerJson } from '../failures.ts';
import { answerOnce } from '../keyed.ts';
import type { RouteTable } from '../route-table.ts';
import { parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { changeMetadataOf } from '../session-requests.ts';
import { sessionAnswer } from '../wire/answers.ts';
import type { CreateSessionBody } from '../wire/requests.ts';
import { changeMetadata, createSession, deleteSession } from './session-contracts.ts';

export function addSessionRoutes(table: RouteTable, dependencies: RouteDependencies): void {
  const { sessions, readBody } = dependencies;

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
    const session = await changeMetadataOf(context, dependencies, { tenant, contract: changeMetadata });
    answerJson(context, sessionAnswer(session));
  });
}

function createRequest(body: CreateSessionBody): CreateSession {
  const { system, ...rest } = body;
  return {
    ...rest,
    surface: 'v1',
    // An empty system prompt is none, and providers refuse it.
    ...(system === undefined || system === '' ? {} : { system }),
  };
}
