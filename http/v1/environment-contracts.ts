/** `/v1/environments`: what its routes take and answer. */
import type { GuardedContract } from '../contract.ts';
import { declareEnvironmentBody, environmentListSchema, environmentSchema } from '../wire/environments.ts';
import { noQuery } from '../wire/queries.ts';

const TOOL = {
  name: 'get_weather',
  description: 'The weather in a city, now.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'read',
};

const EXAMPLE = {
  name: 'weather',
  driver: 'http',
  url: 'https://tools.example/brain',
  configuration: { units: 'metric' },
  tools: [TOOL],
  created_at: '2026-01-01T12:00:00Z',
  updated_at: '2026-01-01T12:00:00Z',
};

export const declareEnvironment = {
  operation: 'declareEnvironment',
  method: 'put',
  path: '/v1/environments/{name}',
  tag: 'Environments',
  summary: 'Declare an environment',
  description:
    'In place of the one that has this name, if there is one. A create names it, and its session keeps what it was then. Nothing in a declaration is secret: one that holds the value of a stored credential is refused.',
  scope: 'manage',
  query: noQuery,
  body: {
    schema: declareEnvironmentBody,
    isOptional: false,
    examples: {
      http: {
        summary: 'A service that is called',
        value: { driver: 'http', url: 'https://tools.example/brain', configuration: { units: 'metric' }, tools: [TOOL] },
      },
      host: {
        summary: 'A process of your own',
        value: { driver: 'host', tools: [{ name: 'open_file', description: 'Opens a file.', input_schema: { type: 'object' } }] },
      },
    },
  },
  answers: { 200: { description: 'The declaration as it is stored.', schema: environmentSchema, example: EXAMPLE } },
  refusals: ['journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const listEnvironments = {
  operation: 'listEnvironments',
  method: 'get',
  path: '/v1/environments',
  tag: 'Environments',
  summary: 'List environments',
  description: 'All that are declared, by name, ascending.',
  scope: 'manage',
  query: noQuery,
  answers: { 200: { description: 'All of them.', schema: environmentListSchema, example: { environments: [EXAMPLE] } } },
  refusals: ['journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const getEnvironment = {
  operation: 'getEnvironment',
  method: 'get',
  path: '/v1/environments/{name}',
  tag: 'Environments',
  summary: 'Look at an environment',
  scope: 'manage',
  query: noQuery,
  answers: { 200: { description: 'The declaration as it is stored.', schema: environmentSchema, example: EXAMPLE } },
  refusals: ['not_found', 'journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const deleteEnvironment = {
  operation: 'deleteEnvironment',
  method: 'delete',
  path: '/v1/environments/{name}',
  tag: 'Environments',
  summary: 'Delete an environment',
  description: 'Sessions that named it keep it as it was, and go on with it.',
  scope: 'manage',
  query: noQuery,
  answers: { 204: { description: 'It is gone.' } },
  refusals: ['not_found', 'journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;
