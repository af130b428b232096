/** `/v1/sessions`: create, look at, list and delete. */
import type { Router } from '@koa/router';
import type { CreateSession } from '../../services/session-service.ts';
import { tenantWith } from '../caller.ts';
import { HttpError } from '../errors.ts';
import { answerJson } from '../failures.ts';
import { callerOf, parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { listedSessionAnswer, sessionAnswer, type SessionListAnswer } from '../wire/answers.ts';
import { listQuery, noQuery } from '../wire/queries.ts';
import { createSessionBody, type CreateSessionBody } from '../wire/requests.ts';

export function addSessionRoutes(router: Router, { sessions, readBody }: RouteDependencies): void {
  router.post('/v1/sessions', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    parseQuery(noQuery, context);
    const request = createRequest(parseOptionalBody(createSessionBody, await readBody(context)));
    const session = await sessions.create(tenant, request);
    context.status = 201;
    context.set('Location', `/v1/sessions/${session.session_id}`);
    answerJson(context, sessionAnswer(session));
  });

  router.get('/v1/sessions', async (context) => {
    const tenant = tenantWith(callerOf(context), 'read');
    const { after = '', limit } = parseQuery(listQuery, context);
    const page = await sessions.list(tenant, { after, limit });
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
    parseQuery(noQuery, context);
    await sessions.delete(tenant, sessionId);
    context.status = 204;
  });
}

function createRequest(body: CreateSessionBody): CreateSession {
  const { environments, model, system, ...rest } = body;
  const [environment] = environments ?? [];
  if (environment !== undefined) {
    throw new HttpError('unknown_environment', `there is no environment named ${environment}`, { field: '/environments/0' });
  }
  if (model?.credential !== undefined) {
    throw new HttpError('unknown_credential', `there is no credential named ${model.credential}`, { field: '/model/credential' });
  }
  return {
    ...rest,
    surface: 'v1',
    ...(model === undefined ? {} : { model: { provider: model.provider, name: model.name } }),
    // An empty system prompt is none, and providers refuse it.
    ...(system === undefined || system === '' ? {} : { system }),
  };
}
