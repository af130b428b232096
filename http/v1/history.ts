/** What a session has been through: events and the journal, in pages or followed, and its conversation. */
import type { Sequence } from '../../machines/records.ts';
import { onceEach } from '../../services/once-each.ts';
import type { Followed, SessionReads } from '../../services/session-service.ts';
import { answerJson } from '../failures.ts';
import { lastEventId, wantsEventStream } from '../negotiation.ts';
import type { RouteTable } from '../route-table.ts';
import { parseQuery, sessionIdOf } from '../routes.ts';
import type { EventStreams, Frame } from '../sse.ts';
import type { EventPageAnswer, JournalPageAnswer, TranscriptAnswer } from '../wire/answers.ts';
import { parseSequence } from '../wire/queries.ts';
import { readEvents, readJournal, readTranscript } from './history-contracts.ts';

export interface HistoryDependencies {
  readonly sessions: SessionReads;
  readonly streams: EventStreams;
}

interface Recorded {
  readonly sequence: Sequence;
  readonly type: string;
}

export function addHistoryRoutes(table: RouteTable, dependencies: HistoryDependencies): void {
  const { sessions, streams } = dependencies;

  table.guarded(readEvents, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    context.vary('Accept');
    if (wantsEventStream(context)) {
      const { after, types } = parseQuery(readEvents.stream.query, context);
      const cursor = lastEventId(context, parseSequence) ?? after;
      await streams.answer(context, {
        follow: (signal) => sessions.followEvents(tenant, sessionId, cursor, signal),
        frameOf: (followed) => {
          const frame = frameOf(followed);
          return types === undefined || types.includes(frame.type) ? frame : null;
        },
      });
      return;
    }
    const page = await sessions.events(tenant, sessionId, parseQuery(readEvents.query, context));
    const answer: EventPageAnswer = { events: page.items, next_cursor: page.next_cursor };
    answerJson(context, answer);
  });

  table.guarded(readJournal, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    context.vary('Accept');
    if (wantsEventStream(context)) {
      const { after } = parseQuery(readJournal.stream.query, context);
      const cursor = lastEventId(context, parseSequence) ?? after;
      await streams.answer(context, {
        follow: (signal) => sessions.followJournal(tenant, sessionId, cursor, signal),
        frameOf,
      });
      return;
    }
    const page = await sessions.journal(tenant, sessionId, parseQuery(readJournal.query, context));
    const answer: JournalPageAnswer = { records: page.items, next_cursor: page.next_cursor };
    answerJson(context, answer);
  });

  table.guarded(readTranscript, async (context, tenant) => {
    const sessionId = sessionIdOf(context);
    parseQuery(readTranscript.query, context);
    const answer: TranscriptAnswer = await sessions.transcript(tenant, sessionId);
    answerJson(context, answer);
  });
}

/** What is recorded is shown whole, under its sequence; what passes by is shown as it is. */
function frameOf(followed: Followed<Recorded>): Frame {
  return followed.kind === 'live' ? followed.event : recordedFrameOf(followed.item);
}

const recordedFrameOf = onceEach((item: Recorded): Frame => ({ type: item.type, id: String(item.sequence), data: item }));
