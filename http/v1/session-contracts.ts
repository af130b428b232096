/** `/v1/sessions`: what its routes take and answer. */
import { CREATE_REFUSALS, type GuardedContract } from '../contract.ts';
import { sessionListSchema, sessionSchema } from '../wire/answers.ts';
import { EXAMPLE_SESSION } from '../wire/examples.ts';
import { listQuery, noQuery } from '../wire/queries.ts';
import { createSessionBody, metadataChanges, metadataFilters } from '../wire/requests.ts';

export const createSession = {
  operation: 'createSession',
  method: 'post',
  path: '/v1/sessions',
  tag: 'Sessions',
  summary: 'Create a session',
  description: 'Every name is resolved once, at creation: nothing that is changed later moves the session.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: {
    schema: createSessionBody,
    isOptional: true,
    examples: {
      nothing: { summary: 'All defaults: the demo model, which needs no network', value: {} },
      chat: {
        summary: 'A conversation with a label',
        value: { model: { provider: 'demo', name: 'echo' }, system: 'Be brief.', tools: [], metadata: { team: 'red' } },
      },
      seeded: {
        summary: 'A conversation that has begun elsewhere',
        value: {
          transcript: [
            { role: 'user', content: [{ type: 'text', text: 'What is two and two?' }] },
            { role: 'assistant', content: [{ type: 'text', text: 'Four.' }] },
          ],
          after_stop: 'hold',
          idle_ttl_ms: 60_000,
        },
      },
    },
  },
  answers: {
    201: {
      description: 'The session. A repeat gets it as it was made.',
      schema: sessionSchema,
      example: EXAMPLE_SESSION,
      headers: { Location: 'The path of the session.' },
    },
  },
  refusals: [
    'unknown_agentloop',
    'unknown_provider',
    'unknown_tool',
    'unknown_environment',
    'unknown_credential',
    'environment_failed',
    ...CREATE_REFUSALS,
  ],
} as const satisfies GuardedContract;

export const listSessions = {
  operation: 'listSessions',
  method: 'get',
  path: '/v1/sessions',
  tag: 'Sessions',
  summary: 'List sessions',
  description: 'By id, which is by creation. Sessions that are not to be read are listed as damaged, with the others.',
  scope: 'read',
  query: listQuery,
  listsSessions: true,
  filters: metadataFilters,
  answers: {
    200: {
      description: 'A page of sessions.',
      schema: sessionListSchema,
      example: { sessions: [EXAMPLE_SESSION], next_cursor: null },
    },
  },
  refusals: ['journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const getSession = {
  operation: 'getSession',
  method: 'get',
  path: '/v1/sessions/{session_id}',
  tag: 'Sessions',
  summary: 'Look at a session',
  scope: 'read',
  query: noQuery,
  answers: { 200: { description: 'The session as it is now.', schema: sessionSchema, example: EXAMPLE_SESSION } },
  refusals: [],
} as const satisfies GuardedContract;

export const changeMetadata = {
  operation: 'changeMetadata',
  method: 'patch',
  path: '/v1/sessions/{session_id}',
  tag: 'Sessions',
  summary: "Change a session's metadata",
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: metadataChanges,
  answers: { 200: { description: 'The session with its metadata as it is now.', schema: sessionSchema, example: EXAMPLE_SESSION } },
  refusals: ['session_ended'],
} as const satisfies GuardedContract;

export const deleteSession = {
  operation: 'deleteSession',
  method: 'delete',
  path: '/v1/sessions/{session_id}',
  tag: 'Sessions',
  summary: 'Delete a session',
  description: 'Takes the session away with its journal. It must have ended or failed. Streams of it end.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  answers: { 204: { description: 'It is gone.' } },
  refusals: ['must_end', 'session_busy', 'teardown_failed', 'idempotency_in_progress', 'idempotency_ambiguous'],
} as const satisfies GuardedContract;
