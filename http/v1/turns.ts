/** What is asked of a session: messages, and the verbs that stop it, free it and end it. */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { tenantWith } from '../caller.ts';
import { answerJson } from '../failures.ts';
import { prefersAsync } from '../negotiation.ts';
import { callerOf, parseBody, parseOptionalBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { sessionAnswer, type CancelAnswer, type TurnAnswer, type TurnReceipt } from '../wire/answers.ts';
import { noQuery } from '../wire/queries.ts';
import { emptyBody, sendMessageBody } from '../wire/requests.ts';

export function addTurnRoutes(router: Router, { sessions, readBody }: RouteDependencies): void {
  router.post('/v1/sessions/:session_id/messages', async (context) => {
    const tenant = tenantWith(callerOf(context), 'send');
    const sessionId = sessionIdOf(context);
    parseQuery(noQuery, context);
    const { input } = parseBody(sendMessageBody, await readBody(context));
    if (prefersAsync(context.get('Prefer'))) {
      const receipt: TurnReceipt = await sessions.submit(tenant, sessionId, input);
      context.status = 202;
      context.set('Preference-Applied', 'respond-async');
      answerJson(context, receipt);
      return;
    }
    // Nothing here looks at the connection: a client that goes away has still sent its message.
    const turn: TurnAnswer = await sessions.send(tenant, sessionId, input);
    answerJson(context, turn);
  });

  router.post('/v1/sessions/:session_id/cancel', async (context) => {
    const tenant = tenantWith(callerOf(context), 'send');
    const sessionId = sessionIdOf(context);
    await readNothing(context);
    await sessions.cancel(tenant, sessionId);
    context.status = 202;
    const answer: CancelAnswer = { status: 'cancel_requested' };
    answerJson(context, answer);
  });

  router.post('/v1/sessions/:session_id/resume', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    const sessionId = sessionIdOf(context);
    await readNothing(context);
    answerJson(context, sessionAnswer(await sessions.resume(tenant, sessionId)));
  });

  router.post('/v1/sessions/:session_id/end', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    const sessionId = sessionIdOf(context);
    await readNothing(context);
    answerJson(context, sessionAnswer(await sessions.end(tenant, sessionId)));
  });

  async function readNothing(context: Context): Promise<void> {
    parseQuery(noQuery, context);
    parseOptionalBody(emptyBody, await readBody(context));
  }
}
