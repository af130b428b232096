/** What is asked of a session: messages, and the verbs that stop it, free it and end it. */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { UserInput } from '../../machines/messages.ts';
import type { KeyedCall, RouteAnswers } from '../../services/keyed-call.ts';
import { tenantWith, type Scope } from '../caller.ts';
import { answerJson } from '../failures.ts';
import { answerOnce } from '../keyed.ts';
import { prefersAsync } from '../negotiation.ts';
import { callerOf, parseBody, parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { sessionAnswer, type CancelAnswer, type TurnAnswer, type TurnReceipt } from '../wire/answers.ts';
import { noQuery } from '../wire/queries.ts';
import { emptyBody, sendMessageBody } from '../wire/requests.ts';

export function addTurnRoutes(router: Router, { sessions, readBody }: RouteDependencies): void {
  router.post('/v1/sessions/:session_id/messages', async (context) => {
    const tenant = tenantWith(callerOf(context), 'send');
    const sessionId = sessionIdOf(context);
    const body = await readBody(context);
    const inputOf = (): UserInput => {
      parseQuery(noQuery, context);
      return parseBody(sendMessageBody, body).input;
    };
    if (prefersAsync(context.get('Prefer'))) {
      const receipt: TurnReceipt = await answerOnce(context, sessions, { tenant, sessionId, route: 'submit', body }, (keyed) =>
        sessions.submit(tenant, sessionId, inputOf(), keyed),
      );
      context.status = 202;
      context.set('Preference-Applied', 'respond-async');
      answerJson(context, receipt);
      return;
    }
    // Nothing here looks at the connection: a client that goes away has still sent its message.
    const turn: TurnAnswer = await answerOnce(context, sessions, { tenant, sessionId, route: 'send', body }, (keyed) =>
      sessions.send(tenant, sessionId, inputOf(), keyed),
    );
    answerJson(context, turn);
  });

  router.post('/v1/sessions/:session_id/cancel', async (context) => {
    await verb(context, 'send', 'cancel', async (tenant, sessionId, keyed) => {
      await sessions.cancel(tenant, sessionId, keyed);
      return null;
    });
    context.status = 202;
    const answer: CancelAnswer = { status: 'cancel_requested' };
    answerJson(context, answer);
  });

  router.post('/v1/sessions/:session_id/resume', async (context) => {
    const session = await verb(context, 'manage', 'resume', (...args) => sessions.resume(...args));
    answerJson(context, sessionAnswer(session));
  });

  router.post('/v1/sessions/:session_id/end', async (context) => {
    const session = await verb(context, 'manage', 'end', (...args) => sessions.end(...args));
    answerJson(context, sessionAnswer(session));
  });

  /** A verb says everything by its path: its body and its query are empty. */
  async function verb<R extends 'cancel' | 'resume' | 'end'>(
    context: Context,
    scope: Scope,
    route: R,
    work: (tenant: string, sessionId: string, keyed: KeyedCall<R> | undefined) => Promise<RouteAnswers[R]>,
  ): Promise<RouteAnswers[R]> {
    const tenant = tenantWith(callerOf(context), scope);
    const sessionId = sessionIdOf(context);
    const body = await readBody(context);
    return answerOnce(context, sessions, { tenant, sessionId, route, body }, (keyed) => {
      parseQuery(noQuery, context);
      parseOptionalBody(emptyBody, body);
      return work(tenant, sessionId, keyed);
    });
  }
}
