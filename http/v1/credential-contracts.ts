/** `/v1/credentials`: what its routes take and answer. */
import type { GuardedContract } from '../contract.ts';
import { credentialListSchema } from '../wire/answers.ts';
import { noQuery } from '../wire/queries.ts';
import { storeCredentialBody } from '../wire/requests.ts';

export const storeCredential = {
  operation: 'storeCredential',
  method: 'put',
  path: '/v1/credentials/{name}',
  tag: 'Credentials',
  summary: 'Store a credential',
  description: 'In place of the one that has this name, if there is one. Sessions that name it keep what they were created with.',
  scope: 'manage',
  query: noQuery,
  body: {
    schema: storeCredentialBody,
    isOptional: false,
    examples: { key: { summary: 'A key of a provider', value: { value: 'sk-example' } } },
  },
  answers: { 204: { description: 'It is stored.' } },
  refusals: ['journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const listCredentials = {
  operation: 'listCredentials',
  method: 'get',
  path: '/v1/credentials',
  tag: 'Credentials',
  summary: 'List credentials',
  description: 'Their names, ascending, and nothing of what they are.',
  scope: 'manage',
  query: noQuery,
  answers: {
    200: {
      description: 'All of them.',
      schema: credentialListSchema,
      example: { credentials: [{ name: 'openai', updated_at: '2026-01-01T12:00:00Z' }] },
    },
  },
  refusals: ['journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const deleteCredential = {
  operation: 'deleteCredential',
  method: 'delete',
  path: '/v1/credentials/{name}',
  tag: 'Credentials',
  summary: 'Delete a credential',
  description: 'Sessions that named it keep what they were created with.',
  scope: 'manage',
  query: noQuery,
  answers: { 204: { description: 'It is gone.' } },
  refusals: ['not_found', 'journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;
