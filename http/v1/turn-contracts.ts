/** Messages and the verbs of a session: what their routes take and answer. */
import type { GuardedContract } from '../contract.ts';
import { cancelSchema, sessionSchema, turnReceiptSchema, turnSchema } from '../wire/answers.ts';
import { EXAMPLE_SESSION, EXAMPLE_SESSION_ID } from '../wire/examples.ts';
import { noQuery } from '../wire/queries.ts';
import { noBody, sendMessageBody } from '../wire/requests.ts';

export const sendMessage = {
  operation: 'sendMessage',
  method: 'post',
  path: '/v1/sessions/{session_id}/messages',
  tag: 'Turns',
  summary: 'Send a message',
  description:
    'Answered when the turn is over, however long it takes; a client that goes away does not stop it. With `Prefer: respond-async` answered when its beginning is recorded. One turn runs at a time. A key that was used in one of the two ways is free in the other.',
  scope: 'send',
  query: noQuery,
  isKeyed: true,
  isPreferable: true,
  body: {
    schema: sendMessageBody,
    isOptional: false,
    examples: {
      text: { summary: 'Plain text', value: { input: 'What time is it?' } },
      blocks: {
        summary: 'Text and a picture',
        value: {
          input: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', url: 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=', media_type: 'image/gif' },
          ],
        },
      },
    },
  },
  answers: {
    200: {
      description: 'The turn is over. One that failed or was cancelled says so in `outcome` and `error`.',
      schema: turnSchema,
      example: {
        session_id: EXAMPLE_SESSION_ID,
        sequence: 4,
        outcome: 'ended',
        result: {
          text: 'It is noon.',
          message: { role: 'assistant', content: [{ type: 'text', text: 'It is noon.' }] },
          finish_reason: 'stop',
          usage: { input_tokens: 9, output_tokens: 4 },
        },
        status: 'idle',
        last_sequence: 9,
      },
    },
    202: {
      description: 'The turn has begun; its events tell the rest.',
      schema: turnReceiptSchema,
      example: { session_id: EXAMPLE_SESSION_ID, sequence: 4 },
      headers: { 'Preference-Applied': '`respond-async`.' },
    },
  },
  refusals: [
    'session_busy',
    'session_ending',
    'session_ended',
    'must_resume',
    'idempotency_in_progress',
    'idempotency_ambiguous',
    'draining',
  ],
} as const satisfies GuardedContract;

export const cancelTurn = {
  operation: 'cancelTurn',
  method: 'post',
  path: '/v1/sessions/{session_id}/cancel',
  tag: 'Turns',
  summary: 'Stop the running turn',
  description: 'Answered when it is recorded, which may be before the turn is over. Where no turn runs nothing changes.',
  scope: 'send',
  query: noQuery,
  isKeyed: true,
  body: noBody,
  answers: { 202: { description: 'It is recorded.', schema: cancelSchema, example: { status: 'cancel_requested' } } },
  refusals: [],
} as const satisfies GuardedContract;

export const resumeSession = {
  operation: 'resumeSession',
  method: 'post',
  path: '/v1/sessions/{session_id}/resume',
  tag: 'Turns',
  summary: 'Free a session that was stopped',
  description: 'Goes back to the last completed turn. A session that is free already stays as it is.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: noBody,
  answers: { 200: { description: 'The session.', schema: sessionSchema, example: EXAMPLE_SESSION } },
  refusals: ['not_resumable', 'draining'],
} as const satisfies GuardedContract;

export const endSession = {
  operation: 'endSession',
  method: 'post',
  path: '/v1/sessions/{session_id}/end',
  tag: 'Turns',
  summary: 'End a session',
  description:
    'Takes no more messages from now on. Answered when the session has ended, after a running turn is over by itself. One that has ended stays as it is.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: noBody,
  answers: { 200: { description: 'The session, ended.', schema: sessionSchema, example: { ...EXAMPLE_SESSION, status: 'ended' } } },
  refusals: ['idempotency_in_progress', 'idempotency_ambiguous'],
} as const satisfies GuardedContract;
