/** What is asked of a session: messages, and the verbs that stop it, free it and end it. */
import type { UserInput } from '../../machines/messages.ts';
import { answerJson } from '../failures.ts';
import { answerOnce } from '../keyed.ts';
import { prefersAsync } from '../negotiation.ts';
import type { RouteTable } from '../route-table.ts';
import { parseBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import { answerVerb } from '../session-requests.ts';
import { sessionAnswer, type CancelAnswer, type TurnAnswer, type TurnReceipt } from '../wire/answers.ts';
import { cancelTurn, endSession, resumeSession, sendMessage } from './turn-contracts.ts';

export function addTurnRoutes(table: RouteTable, dependencies: RouteDependencies): void {
  const { sessions, readBody } = dependencies;

  table.guarded(sendMessage, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    const body = await readBody(context);
    const inputOf = (): UserInput => {
      parseQuery(sendMessage.query, context);
      return parseBody(sendMessage.body.schema, body).input;
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

  table.guarded(cancelTurn, async (context, tenant) => {
    await answerVerb(context, dependencies, { tenant, route: 'cancel', contract: cancelTurn }, async (sessionId, keyed) => {
      await sessions.cancel(tenant, sessionId, keyed);
      return null;
    });
    context.status = 202;
    const answer: CancelAnswer = { status: 'cancel_requested' };
    answerJson(context, answer);
  });

  table.guarded(resumeSession, async (context, tenant) => {
    const session = await answerVerb(context, dependencies, { tenant, route: 'resume', contract: resumeSession }, (...args) => sessions.resume(tenant, ...args));
    answerJson(context, sessionAnswer(session));
  });

  table.guarded(endSession, async (context, tenant) => {
    const session = await answerVerb(context, dependencies, { tenant, route: 'end', contract: endSession }, (...args) => sessions.end(tenant, ...args));
    answerJson(context, sessionAnswer(session));
  });
}
