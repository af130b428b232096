/** `/sessions/{session_id}/events` and its queue: messages and interrupts, what came of them, and what waits. */
import type { LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import type { Followed } from '../../services/session-service.ts';
import { HttpError } from '../errors.ts';
import { answerJson } from '../failures.ts';
import { lastEventId, wantsEventStream } from '../negotiation.ts';
import type { RouteTable } from '../route-table.ts';
import { parameterOf, parseBody, parseQuery, sessionIdOf, type RouteDependencies } from '../routes.ts';
import type { Frame } from '../sse.ts';
import { queueAnswer, type InterruptAnswer } from '../wire/lifecycle-answers.ts';
import { lifecycleEventAnswer, liveLifecycleEventAnswer } from '../wire/lifecycle-events.ts';
import { lifecycleCursorText, parseInputId, parseLifecycleCursor } from '../wire/lifecycle-queries.ts';
import { readEvents, readQueue, sendEvent, withdrawMessage } from './event-contracts.ts';

export function addLifecycleEventRoutes(table: RouteTable, dependencies: RouteDependencies): void {
  const { sessions, clock, streams, readBody } = dependencies;

  table.guarded(sendEvent, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    const body = await readBody(context);
    parseQuery(sendEvent.query, context);
    const sent = parseBody(sendEvent.body.schema, body);
    context.status = 202;
    if (sent.type === 'user.interrupt') {
      await sessions.cancel(tenant, sessionId);
      const answer: InterruptAnswer = { status: 'interrupt_requested' };
      answerJson(context, answer);
      return;
    }
    const { type: _, ...message } = sent;
    answerJson(context, lifecycleEventAnswer(sessionId, await sessions.queue(tenant, sessionId, message)));
  });

  table.guarded(readEvents, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    context.vary('Accept');
    if (wantsEventStream(context)) {
      const { after } = parseQuery(readEvents.stream.query, context);
      const cursor = lastEventId(context, parseLifecycleCursor) ?? after;
      await streams.answer(context, {
        follow: (signal) => sessions.followLifecycle(tenant, sessionId, cursor, signal),
        frameOf: (followed) => frameOf(sessionId, followed),
      });
      return;
    }
    const page = await sessions.lifecycleEvents(tenant, sessionId, parseQuery(readEvents.query, context));
    answerJson(context, {
      events: page.items.map((event) => lifecycleEventAnswer(sessionId, event)),
      next_cursor: lifecycleCursorText(page.next_cursor),
    });
  });

  table.guarded(readQueue, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    parseQuery(readQueue.query, context);
    answerJson(context, queueAnswer(await sessions.waiting(tenant, sessionId)));
  });

  table.guarded(withdrawMessage, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    parseQuery(withdrawMessage.query, context);
    const message = parseInputId(parameterOf(context, 'input_id'));
    if (message === null) throw new HttpError('not_found', 'there is no such message in this session');
    await sessions.withdraw(tenant, sessionId, message);
    context.status = 204;
  });

  function frameOf(sessionId: string, followed: Followed<LifecycleEvent>): Frame | null {
    if (followed.kind === 'recorded') {
      const event = lifecycleEventAnswer(sessionId, followed.item);
      return { type: event.type, id: event.id, data: event };
    }
    const event = liveLifecycleEventAnswer(sessionId, followed.event, clock.now());
    return event === null ? null : { type: event.type, data: event };
  }
}
