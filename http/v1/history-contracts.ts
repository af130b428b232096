/** What a session has been through: what its routes take and answer. */
import type { GuardedContract } from '../contract.ts';
import { eventPageSchema, journalPageSchema, transcriptSchema } from '../wire/answers.ts';
import { eventsQuery, eventStreamQuery, journalQuery, journalStreamQuery, noQuery, wholeNumber } from '../wire/queries.ts';
import { eventSchema, liveEventSchema, recordSchema } from '../wire/records.ts';

const OVER = 'To who accepts an event stream: the session has ended, and there is nothing after the cursor.';

/** A sequence. */
const cursor = { pattern: wholeNumber.source, example: '4' };

export const readEvents = {
  operation: 'readEvents',
  method: 'get',
  path: '/v1/sessions/{session_id}/events',
  tag: 'History',
  summary: 'Read or follow public events',
  description: 'In pages, or with `Accept: text/event-stream` as they are recorded.',
  scope: 'read',
  query: eventsQuery,
  stream: {
    query: eventStreamQuery,
    cursor,
    description:
      'Server-sent events: `event` is the type, `id` the sequence, `data` the event. Those without an `id` are live only and are never repeated; their `data` is that of a LiveEvent. Reconnect with the last `id` to miss nothing. A comment comes 15 seconds after the last byte. The stream ends after the last event of the session, and when the session is deleted.',
    recorded: eventSchema,
    live: liveEventSchema,
    example:
      'event: turn_started\nid: 4\ndata: {"sequence":4,"recorded_at":1767268800000,"type":"turn_started","data":{"message_sequence":3}}\n\nevent: model_delta\ndata: {"started_sequence":6,"text":"It is"}\n\n',
  },
  answers: {
    200: {
      description: 'A page of events, oldest first.',
      schema: eventPageSchema,
      example: {
        events: [{ sequence: 4, recorded_at: 1_767_268_800_000, type: 'turn_started', data: { message_sequence: 3 } }],
        next_cursor: 4,
      },
    },
    204: { description: OVER },
  },
  refusals: [],
} as const satisfies GuardedContract;

export const readJournal = {
  operation: 'readJournal',
  method: 'get',
  path: '/v1/sessions/{session_id}/journal',
  tag: 'History',
  summary: 'Read or follow every record',
  description: 'Private records too. In pages, or with `Accept: text/event-stream` as they are recorded.',
  scope: 'manage',
  query: journalQuery,
  stream: {
    query: journalStreamQuery,
    cursor,
    description: 'As the stream of events, with records for `data`.',
    recorded: recordSchema,
    live: liveEventSchema,
    example:
      'event: turn_started\nid: 4\ndata: {"sequence":4,"recorded_at":1767268800000,"type":"turn_started","state":"running.working","data":{"message_sequence":3}}\n\n',
  },
  answers: {
    200: {
      description: 'A page of records, oldest first.',
      schema: journalPageSchema,
      example: {
        records: [
          { sequence: 4, recorded_at: 1_767_268_800_000, type: 'turn_started', state: 'running.working', data: { message_sequence: 3 } },
        ],
        next_cursor: 4,
      },
    },
    204: { description: OVER },
  },
  refusals: [],
} as const satisfies GuardedContract;

export const readTranscript = {
  operation: 'readTranscript',
  method: 'get',
  path: '/v1/sessions/{session_id}/transcript',
  tag: 'History',
  summary: 'Read the conversation',
  description: 'As the agent loop keeps it. A create takes it as it is.',
  scope: 'read',
  query: noQuery,
  answers: {
    200: {
      description: 'The conversation.',
      schema: transcriptSchema,
      example: { messages: [{ role: 'user', content: [{ type: 'text', text: 'What time is it?' }] }], through_sequence: 4 },
    },
  },
  refusals: [],
} as const satisfies GuardedContract;
