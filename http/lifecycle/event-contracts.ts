/** `/sessions`: what its routes of messages, events and the queue take and answer. */
import { z } from 'zod';
import type { GuardedContract } from '../contract.ts';
import { interruptSchema, queueSchema } from '../wire/lifecycle-answers.ts';
import { lifecycleEventPageSchema, lifecycleEventSchema, liveLifecycleEventSchema } from '../wire/lifecycle-events.ts';
import { LIFECYCLE_CURSOR, lifecycleEventsQuery, lifecycleStreamQuery } from '../wire/lifecycle-queries.ts';
import { sentEventBody } from '../wire/lifecycle-requests.ts';
import { noQuery } from '../wire/queries.ts';
import { EXAMPLE_MESSAGE_EVENT } from './examples.ts';

export const sendEvent = {
  operation: 'sendLifecycleEvent',
  method: 'post',
  path: '/sessions/{session_id}/events',
  tag: 'Session lifecycle',
  summary: 'Send a message, or interrupt the turn',
  description:
    'A message is answered when it is recorded, with its event. Where a turn runs it waits, up to `BRAIN_QUEUE_MESSAGES` of them; a refused one leaves its `key` free. An interrupt stops the turn that runs, fails what waits, and changes nothing where no turn runs.',
  scope: 'send',
  query: noQuery,
  body: {
    schema: sentEventBody,
    isOptional: false,
    examples: {
      message: { summary: 'A message that can be sent again', value: { type: 'user.message', text: 'Summarize our plan.', key: 'msg-0001' } },
      interrupt: { summary: 'Stop what is running', value: { type: 'user.interrupt' } },
    },
  },
  answers: {
    202: {
      description: "It is recorded: the message's own event, or that an interrupt was asked for.",
      schema: z.union([lifecycleEventSchema, interruptSchema]),
      example: EXAMPLE_MESSAGE_EVENT,
    },
  },
  refusals: ['session_busy', 'session_ending', 'session_ended', 'must_resume', 'conflict', 'queue_full', 'draining'],
} as const satisfies GuardedContract;

export const readEvents = {
  operation: 'readLifecycleEvents',
  method: 'get',
  path: '/sessions/{session_id}/events',
  tag: 'Session lifecycle',
  summary: 'Read or follow events',
  description: 'In pages, or with `Accept: text/event-stream` as they happen.',
  scope: 'read',
  query: lifecycleEventsQuery,
  stream: {
    query: lifecycleStreamQuery,
    cursor: { pattern: LIFECYCLE_CURSOR.source, example: '3.0' },
    description:
      'Server-sent events: `event` is the type, `id` the cursor, `data` the event. Those without an `id` are live only and are never repeated. Reconnect with the last `id` to miss nothing. A comment comes 15 seconds after the last byte. The stream ends after the last event of the session, and when the session is deleted.',
    recorded: lifecycleEventSchema,
    live: liveLifecycleEventSchema,
    example: `event: user.message\nid: 3.0\ndata: ${JSON.stringify(EXAMPLE_MESSAGE_EVENT)}\n\nevent: assistant.delta\ndata: ${JSON.stringify({
      type: 'assistant.delta',
      session_id: EXAMPLE_MESSAGE_EVENT.session_id,
      time: EXAMPLE_MESSAGE_EVENT.time,
      input_id: '3.0',
      text: 'The plan',
    })}\n\n`,
  },
  answers: {
    200: {
      description: 'A page of events, oldest first.',
      schema: lifecycleEventPageSchema,
      example: { events: [EXAMPLE_MESSAGE_EVENT], next_cursor: '3.0' },
    },
    204: { description: 'To who accepts an event stream: the session is closed, and there is nothing after the cursor.' },
  },
  refusals: [],
} as const satisfies GuardedContract;

export const readQueue = {
  operation: 'readQueue',
  method: 'get',
  path: '/sessions/{session_id}/queue',
  tag: 'Session lifecycle',
  summary: 'Look at the messages that wait',
  scope: 'read',
  query: noQuery,
  answers: {
    200: {
      description: 'What waits, first come first.',
      schema: queueSchema,
      example: { messages: [{ input_id: '3.0', text: 'Summarize our plan.', time: '2026-01-01T12:00:00Z' }] },
    },
  },
  refusals: [],
} as const satisfies GuardedContract;

export const withdrawMessage = {
  operation: 'withdrawMessage',
  method: 'delete',
  path: '/sessions/{session_id}/queue/{input_id}',
  tag: 'Session lifecycle',
  summary: 'Withdraw a message that waits',
  scope: 'send',
  query: noQuery,
  answers: { 204: { description: 'It will not be run.' } },
  refusals: ['already_started'],
} as const satisfies GuardedContract;
