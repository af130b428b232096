/**
 * `/v1/callbacks`: where environments report back. The token of an operation is asked for before anything else is looked
 * at, and where it is not the right one the answer is the same for every operation, one that never was included.
 */
import type { Context } from 'koa';
import type { CallbackService, OperationName } from '../../services/environments/callbacks.ts';
import { invalidToken } from '../auth.ts';
import type { BodyReader } from '../body.ts';
import { HttpError } from '../errors.ts';
import type { RouteTable } from '../route-table.ts';
import { parameterOf, parseBody, parseQuery } from '../routes.ts';
import { isSessionId } from '../wire/names.ts';
import { reportEmit, reportProgress, reportResult } from './callback-contracts.ts';

export interface CallbackDependencies {
  readonly callbacks: CallbackService;
  readonly readBody: BodyReader;
}

export function addCallbackRoutes(table: RouteTable, { callbacks, readBody }: CallbackDependencies): void {
  /** The operation that the path names, for whoever shows its token. */
  const operationOf = (context: Context, token: string): OperationName => {
    const sessionId = parameterOf(context, 'session_id');
    const sequence = sequenceOf(parameterOf(context, 'sequence'));
    if (!isSessionId(sessionId) || sequence === null) throw invalidToken();
    const name = { sessionId, sequence };
    if (!callbacks.isToken(name, token)) throw invalidToken();
    return name;
  };

  table.withOwnToken(reportResult, async (context, token) => {
    const name = operationOf(context, token);
    parseQuery(reportResult.query, context);
    const { sequence, receipt } = parseBody(reportResult.body.schema, await readBody(context));
    if (sequence !== undefined && sequence !== name.sequence) {
      throw new HttpError('invalid_request', `/sequence must be ${name.sequence}, the one of this operation`, { field: '/sequence' });
    }
    await callbacks.result(name, receipt);
    context.status = 204;
  });

  table.withOwnToken(reportEmit, async (context, token) => {
    const name = operationOf(context, token);
    parseQuery(reportEmit.query, context);
    const { type, data } = parseBody(reportEmit.body.schema, await readBody(context));
    await callbacks.emit(name, type, data);
    context.status = 204;
  });

  table.withOwnToken(reportProgress, async (context, token) => {
    const name = operationOf(context, token);
    parseQuery(reportProgress.query, context);
    await callbacks.progress(name, parseBody(reportProgress.body.schema, await readBody(context)));
    context.status = 204;
  });
}

function sequenceOf(text: string): number | null {
  const sequence = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(sequence) ? sequence : null;
}
