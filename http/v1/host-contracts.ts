/** `/v1/hosts`: what its routes take and answer. */
import type { GuardedContract, OwnToken, OwnTokenContract } from '../contract.ts';
import { EXAMPLE_SESSION_ID } from '../wire/examples.ts';
import {
  hostCancelSchema,
  hostCommandSchema,
  hostEmitBody,
  hostProgressBody,
  hostResultBody,
  registeredHostSchema,
  registerHostBody,
} from '../wire/hosts.ts';
import { noQuery } from '../wire/queries.ts';

const HOST_TOKEN = {
  scheme: 'host_token',
  description: '`Authorization: Bearer TOKEN`, as the registration of the host answered it. It is of that process alone, and counts no longer than the token that it was registered with.',
} as const satisfies OwnToken;

const NAMED = { session_id: EXAMPLE_SESSION_ID, sequence: 7 };
const EXAMPLE_COMMAND = {
  contract: 'environment/v1',
  operation: { ...NAMED, environment: 'travel', request: { type: 'invoke', tool: 'book', input: { to: 'LIS' }, deadline_ms: 600_000 } },
};
const OPEN_ONLY = '409 `already_closed`: it is over, or was never given to this process.';

export const registerHost = {
  operation: 'registerHost',
  method: 'post',
  path: '/v1/hosts',
  tag: 'Hosts',
  summary: 'Register a host',
  description:
    'For a process that carries out the operations of environments with the driver `host`. The process that registers last has the name: the stream of the one before ends, and what that one was given and has not answered is `unknown`. 409 `conflict`: this process had the name and lost it.',
  scope: 'send',
  query: noQuery,
  body: {
    schema: registerHostBody,
    isOptional: false,
    examples: { laptop: { summary: "A user's own machine", value: { name: 'laptop', incarnation: '019b7a5e-6c00-7000-80a1-b2c3d4e5f607' } } },
  },
  answers: {
    201: { description: 'The process has the name from now on.', schema: registeredHostSchema, example: { host: 'laptop', token: 'brain_host_…' } },
    200: { description: 'It had it already, and has another token besides.', schema: registeredHostSchema, example: { host: 'laptop', token: 'brain_host_…' } },
  },
  refusals: ['conflict', 'journal_unavailable', 'disk_full'],
} as const satisfies GuardedContract;

export const followCommands = {
  operation: 'followCommands',
  method: 'get',
  path: '/v1/hosts/{name}/commands',
  tag: 'Hosts',
  summary: "Follow a host's commands",
  description:
    'An event stream: `command` is an operation to carry out, `cancel` says that nobody waits for one any more. Events have no id: after a lost connection, connect again, and every command that is open is given again; drop those that were seen. A process has one stream, and a newer one takes the place of the older. A setup, detach or teardown fails with `host_unavailable` where no process connects within 10 seconds; a tool call waits until its deadline. 409 `conflict`: another process took the name, and this one has nothing more to do.',
  scope: 'own',
  token: HOST_TOKEN,
  query: noQuery,
  answers: {
    200: {
      description: 'The stream. It ends when another process takes the name, when the token counts no more, and when the server stops.',
      mediaType: 'text/event-stream',
      events: { command: hostCommandSchema, cancel: hostCancelSchema },
      example: `event: command\ndata: ${JSON.stringify(EXAMPLE_COMMAND)}\n\nevent: cancel\ndata: ${JSON.stringify(NAMED)}\n\n`,
    },
  },
  refusals: ['conflict', 'draining', 'journal_unavailable'],
} as const satisfies OwnTokenContract;

export const reportHostResult = {
  operation: 'reportHostResult',
  method: 'post',
  path: '/v1/hosts/{name}/results',
  tag: 'Hosts',
  summary: 'Answer a command',
  description: `The first receipt counts. \`accepted\` says that a setup, detach or teardown is done; a tool call is answered with what came of it. A command that was cancelled is answered too, once it has stopped: that is not taken, and tells that it has. ${OPEN_ONLY}`,
  scope: 'own',
  token: HOST_TOKEN,
  query: noQuery,
  body: {
    schema: hostResultBody,
    isOptional: false,
    examples: {
      accepted: { summary: 'A setup is done', value: { ...NAMED, receipt: { type: 'accepted' } } },
      result: { summary: 'A tool has run', value: { ...NAMED, receipt: { type: 'result', output: { booked: true } } } },
      failure: { summary: 'It was not done', value: { ...NAMED, receipt: { type: 'failure', code: 'no_seats', message: 'there is no seat left', retryable: false } } },
      unknown: { summary: 'Nobody knows', value: { ...NAMED, receipt: { type: 'unknown', message: 'the booking system did not answer' } } },
    },
  },
  answers: { 204: { description: 'It counts.' } },
  refusals: ['already_closed', 'journal_unavailable'],
} as const satisfies OwnTokenContract;

export const reportHostEmit = {
  operation: 'reportHostEmit',
  method: 'post',
  path: '/v1/hosts/{name}/emit',
  tag: 'Hosts',
  summary: 'Record an event of the session of a command',
  description: `The event gets its origin from the command. Events of one turn have a budget together; what goes over it is \`too_large\`, and fails the turn. ${OPEN_ONLY}`,
  scope: 'own',
  token: HOST_TOKEN,
  query: noQuery,
  body: {
    schema: hostEmitBody,
    isOptional: false,
    examples: { event: { summary: 'An event of a shop', value: { ...NAMED, type: 'shop.order_placed', data: { order: 7 } } } },
  },
  answers: { 204: { description: 'It is recorded.' } },
  refusals: ['reserved_type', 'already_closed', 'journal_unavailable', 'disk_full'],
} as const satisfies OwnTokenContract;

export const reportHostProgress = {
  operation: 'reportHostProgress',
  method: 'post',
  path: '/v1/hosts/{name}/progress',
  tag: 'Hosts',
  summary: 'Tell how far a command has come',
  description: `It is shown to whoever is following the session, and recorded nowhere. ${OPEN_ONLY}`,
  scope: 'own',
  token: HOST_TOKEN,
  query: noQuery,
  body: {
    schema: hostProgressBody,
    isOptional: false,
    examples: { half: { summary: 'Half of it', value: { ...NAMED, message: 'searching flights', fraction: 0.5 } } },
  },
  answers: { 204: { description: 'It was shown.' } },
  refusals: ['already_closed', 'journal_unavailable'],
} as const satisfies OwnTokenContract;
