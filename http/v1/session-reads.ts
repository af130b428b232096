/** `/v1/sessions`: look at one, and list them. */
import type { SessionReads } from '../../services/session-service.ts';
import { answerJson } from '../failures.ts';
import type { RouteTable } from '../route-table.ts';
import { parseQuery, sessionIdOf } from '../routes.ts';
import { parseListQuery } from '../session-requests.ts';
import { listedSessionAnswer, sessionAnswer, type SessionListAnswer } from '../wire/answers.ts';
import { getSession, listSessions } from './session-contracts.ts';

export function addSessionReadRoutes(table: RouteTable, { sessions }: { readonly sessions: SessionReads }): void {
  table.guarded(listSessions, async (context, tenant) => {
    const { after = '', ...query } = parseListQuery(context, listSessions);
    const page = await sessions.list(tenant, { after, ...query });
    const answer: SessionListAnswer = { sessions: page.sessions.map(listedSessionAnswer), next_cursor: page.next_cursor };
    answerJson(context, answer);
  });

  table.guarded(getSession, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    parseQuery(getSession.query, context);
    answerJson(context, sessionAnswer(await sessions.get(tenant, sessionId)));
  });
}
