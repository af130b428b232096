/** `/sessions`: create, list, inspect, label, resume and close. */
import type { DamagedSessionView, SessionView } from '../../services/session-service.ts';
import { HttpError } from '../errors.ts';
import { answerJson } from '../failures.ts';
import { answerOnce } from '../keyed.ts';
import type { RouteTable } from '../route-table.ts';
import { parseBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { answerVerb, changeMetadataOf, parseListQuery } from '../session-requests.ts';
import {
  damagedLifecycleSessionAnswer,
  lifecycleSessionAnswer,
  type CloseAnswer,
  type LifecycleSessionAnswer,
  type LifecycleSessionListAnswer,
} from '../wire/lifecycle-answers.ts';
import { createRequest, refusalOfCreate } from './create-request.ts';
import { changeMetadata, closeSession, createSession, getSession, listSessions, resumeSession } from './session-contracts.ts';

export function addLifecycleSessionRoutes(table: RouteTable, dependencies: RouteDependencies): void {
  const { sessions, readBody } = dependencies;

  table.guarded(createSession, async (context, tenant) => {
    const body = await readBody(context);
    const scope = { tenant, sessionId: null, route: 'create', body, surface: 'sessions' } as const;
    const session = await answerOnce(context, sessions, scope, async (keyed) => {
      parseQuery(createSession.query, context);
      const asked = parseBody(createSession.body.schema, body);
      try {
        return await sessions.create(tenant, createRequest(asked), keyed);
      } catch (error) {
        throw refusalOfCreate(error, asked);
      }
    });
    context.status = 201;
    context.set('Location', `/sessions/${session.session_id}`);
    answerJson(context, sessionAnswer(session));
  });

  table.guarded(listSessions, async (context, tenant) => {
    const { after = '', status, ...query } = parseListQuery(context, listSessions);
    const lifecycle = status === undefined ? {} : { status };
    const page = await sessions.list(tenant, { after, ...query, lifecycle });
    const answer: LifecycleSessionListAnswer = { sessions: page.sessions.map(listedAnswer) };
    answerJson(context, answer);
  });

  table.guarded(getSession, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    parseQuery(getSession.query, context);
    answerJson(context, sessionAnswer(await sessions.get(tenant, sessionId)));
  });

  table.guarded(changeMetadata, async (context, tenant) => {
    // First: what is not there is not changed.
    sessionAnswer(await sessions.get(tenant, sessionIdOf(context)));
    const session = await changeMetadataOf(context, dependencies, { tenant, contract: changeMetadata, surface: 'sessions' });
    answerJson(context, sessionAnswer(session));
  });

  table.guarded(resumeSession, async (context, tenant) => {
    const verb = { tenant, route: 'resume', contract: resumeSession, surface: 'sessions' } as const;
    const session = await answerVerb(context, dependencies, verb, (...args) => sessions.resume(tenant, ...args));
    answerJson(context, sessionAnswer(session));
  });

  table.guarded(closeSession, async (context, tenant) => {
    const verb = { tenant, route: 'close', contract: closeSession, surface: 'sessions' } as const;
    await answerVerb(context, dependencies, verb, async (sessionId, keyed) => {
      await sessions.close(tenant, sessionId, keyed);
      return null;
    });
    context.status = 202;
    const answer: CloseAnswer = { status: 'close_requested' };
    answerJson(context, answer);
  });
}

/** A session that is still being created is not there yet. */
function sessionAnswer(session: SessionView): LifecycleSessionAnswer {
  const { lifecycle_status: status } = session;
  if (status === null) throw new HttpError('not_found', 'there is no such session');
  return lifecycleSessionAnswer(session, status);
}

function listedAnswer(session: SessionView | DamagedSessionView): LifecycleSessionListAnswer['sessions'][number] {
  return 'damaged' in session ? damagedLifecycleSessionAnswer(session) : sessionAnswer(session);
}
