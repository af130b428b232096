/** `/sessions`: what its routes of sessions take and answer. */
import { CREATE_REFUSALS, type GuardedContract } from '../contract.ts';
import { closeSchema, lifecycleSessionListSchema, lifecycleSessionSchema } from '../wire/lifecycle-answers.ts';
import { lifecycleListQuery } from '../wire/lifecycle-queries.ts';
import { createLifecycleSessionBody } from '../wire/lifecycle-requests.ts';
import { noQuery } from '../wire/queries.ts';
import { metadataChanges, metadataFilters, noBody } from '../wire/requests.ts';
import { EXAMPLE_CREATE, EXAMPLE_LIFECYCLE_SESSION } from './examples.ts';

export const createSession = {
  operation: 'createLifecycleSession',
  method: 'post',
  path: '/sessions',
  tag: 'Session lifecycle',
  summary: 'Create a session with its harness, model and tools',
  description:
    'It is saved before it is answered; the harness starts with the first message. What is wrong with the body is said first, a malformed model and a provider that is not configured included, then which name is unknown. A tool that the tenant may not use is `forbidden`, like one that does not exist.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: {
    schema: createLifecycleSessionBody,
    isOptional: false,
    examples: {
      plain: { summary: 'A harness, a model and what it is to be', value: EXAMPLE_CREATE },
      demo: {
        summary: 'The demo model, which needs no network, with two of its tools',
        value: { harness: 'chat', config: { model: 'demo/echo', tools: ['current_time', 'add'] }, metadata: { team: 'red' } },
      },
    },
  },
  answers: {
    201: {
      description: 'The session. A repeat gets it as it was made.',
      schema: lifecycleSessionSchema,
      example: EXAMPLE_LIFECYCLE_SESSION,
      headers: { Location: 'The path of the session.' },
    },
  },
  refusals: ['unknown_harness', ...CREATE_REFUSALS],
} as const satisfies GuardedContract;

export const listSessions = {
  operation: 'listLifecycleSessions',
  method: 'get',
  path: '/sessions',
  tag: 'Session lifecycle',
  summary: 'List sessions, by id',
  description: 'The next page begins after the last id of this one. Sessions that are not to be read are listed as damaged, with the others.',
  scope: 'read',
  listsSessions: true,
  query: lifecycleListQuery,
  filters: metadataFilters,
  answers: {
    200: {
      description: 'A page of sessions.',
      schema: lifecycleSessionListSchema,
      example: { sessions: [EXAMPLE_LIFECYCLE_SESSION] },
    },
  },
  refusals: ['journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const getSession = {
  operation: 'getLifecycleSession',
  method: 'get',
  path: '/sessions/{session_id}',
  tag: 'Session lifecycle',
  summary: 'Inspect a session',
  scope: 'read',
  query: noQuery,
  answers: { 200: { description: 'The session as it is now.', schema: lifecycleSessionSchema, example: EXAMPLE_LIFECYCLE_SESSION } },
  refusals: [],
} as const satisfies GuardedContract;

export const changeMetadata = {
  operation: 'changeLifecycleMetadata',
  method: 'patch',
  path: '/sessions/{session_id}',
  tag: 'Session lifecycle',
  summary: "Change a session's metadata",
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: metadataChanges,
  answers: {
    200: { description: 'The session with its metadata as it is now.', schema: lifecycleSessionSchema, example: EXAMPLE_LIFECYCLE_SESSION },
  },
  refusals: ['session_ended'],
} as const satisfies GuardedContract;

export const resumeSession = {
  operation: 'resumeLifecycleSession',
  method: 'post',
  path: '/sessions/{session_id}/resume',
  tag: 'Session lifecycle',
  summary: 'Resume after an interruption or a failure',
  description:
    'Goes back to the checkpoint: no model is called, no tool is run again, and the stopped turn stays in the history. An idle session is answered as it is.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: noBody,
  answers: { 200: { description: 'The session.', schema: lifecycleSessionSchema, example: EXAMPLE_LIFECYCLE_SESSION } },
  refusals: ['not_resumable', 'draining'],
} as const satisfies GuardedContract;

export const closeSession = {
  operation: 'closeLifecycleSession',
  method: 'post',
  path: '/sessions/{session_id}/close',
  tag: 'Session lifecycle',
  summary: 'Close a session for good',
  description:
    'Accepted in every state, and answered when it is recorded. A running turn is stopped and waiting messages are not run. The history stays readable; what tools made outside is not cleaned up.',
  scope: 'manage',
  query: noQuery,
  isKeyed: true,
  body: noBody,
  answers: { 202: { description: 'It is recorded.', schema: closeSchema, example: { status: 'close_requested' } } },
  refusals: [],
} as const satisfies GuardedContract;
