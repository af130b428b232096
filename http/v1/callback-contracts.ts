/** `/v1/callbacks`: what environments report there. */
import type { OwnToken, OwnTokenContract } from '../contract.ts';
import { emitReportBody, progressReportBody, resultReportBody } from '../wire/operation-reports.ts';
import { noQuery } from '../wire/queries.ts';

const CALLBACK_TOKEN = {
  scheme: 'callback_token',
  description: '`Authorization: Bearer TOKEN`, as the `callback` of the operation has it. It is of that operation alone.',
} as const satisfies OwnToken;

const WHO = 'For the environment that an operation was sent to: the address and the token are in its `callback`.';

export const reportResult = {
  operation: 'reportResult',
  method: 'post',
  path: '/v1/callbacks/{session_id}/{sequence}/result',
  tag: 'Callbacks',
  summary: "Report an operation's result",
  description: `${WHO} The first final receipt counts, be it this one or the answer to the operation. 409 \`already_closed\`: nothing waits for it any more.`,
  scope: 'own',
  token: CALLBACK_TOKEN,
  query: noQuery,
  body: {
    schema: resultReportBody,
    isOptional: false,
    examples: {
      result: { summary: 'It is done', value: { receipt: { type: 'result', output: { booked: true } } } },
      failure: {
        summary: 'It was not done',
        value: {
          contract: 'environment/v1',
          receipt: { type: 'failure', code: 'no_seats', message: 'there is no seat left', retryable: false, details: { flight: 'LH 400' } },
        },
      },
      unknown: { summary: 'Nobody knows', value: { receipt: { type: 'unknown', message: 'the booking system did not answer' } } },
    },
  },
  answers: { 204: { description: 'It counts.' } },
  refusals: ['already_closed', 'journal_unavailable'],
} as const satisfies OwnTokenContract;

export const reportEmit = {
  operation: 'reportEmit',
  method: 'post',
  path: '/v1/callbacks/{session_id}/{sequence}/emit',
  tag: 'Callbacks',
  summary: 'Record an event of the session',
  description: `${WHO} The event gets its origin from the operation. Events of one turn have a budget together; what goes over it is \`too_large\`, and fails the turn.`,
  scope: 'own',
  token: CALLBACK_TOKEN,
  query: noQuery,
  body: {
    schema: emitReportBody,
    isOptional: false,
    examples: { event: { summary: 'An event of a shop', value: { type: 'shop.order_placed', data: { order: 7 } } } },
  },
  answers: { 204: { description: 'It is recorded.' } },
  refusals: ['reserved_type', 'already_closed', 'journal_unavailable', 'disk_full'],
} as const satisfies OwnTokenContract;

export const reportProgress = {
  operation: 'reportProgress',
  method: 'post',
  path: '/v1/callbacks/{session_id}/{sequence}/progress',
  tag: 'Callbacks',
  summary: 'Tell how far an operation has come',
  description: `${WHO} It is shown to whoever is following the session, and recorded nowhere.`,
  scope: 'own',
  token: CALLBACK_TOKEN,
  query: noQuery,
  body: {
    schema: progressReportBody,
    isOptional: false,
    examples: { half: { summary: 'Half of it', value: { message: 'searching flights', fraction: 0.5 } } },
  },
  answers: { 204: { description: 'It was shown.' } },
  refusals: ['already_closed'],
} as const satisfies OwnTokenContract;
