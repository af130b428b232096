/**
 * Who may use a route. It is asked before anything else of a request is looked at, in this order:
 *
 *   A1. The caller's scope includes what the route needs.
 *   A2. A caller of one session uses the routes of that session, and lists that hold nothing else. Every other session is
 *       none to such a caller.
 *   A3. The session is there, and the tenant's. Another tenant's is answered as one that is not there, whatever else is
 *       right or wrong about the request.
 */
import type { Context } from 'koa';
import type { SessionReads } from '../services/session-service.ts';
import { tenantWith } from './caller.ts';
import type { GuardedContract } from './contract.ts';
import { HttpError } from './errors.ts';
import { callerOf, sessionIdOf } from './routes.ts';

/** The tenant for which the route is used; rejects for those who may not use it. */
export type Admission = (context: Context, contract: GuardedContract) => Promise<string>;

export function createAdmission(sessions: Pick<SessionReads, 'assertThere'>): Admission {
  return async (context, contract) => {
    const caller = callerOf(context);
    const tenant = tenantWith(caller, contract.scope);
    if (contract.path.includes('{session_id}')) {
      const sessionId = sessionIdOf(context);
      if (!mayBeRepeatOfDelete(context, contract)) await sessions.assertThere(tenant, sessionId);
    } else if (caller.sessionId !== null && contract.listsSessions !== true) {
      throw new HttpError('forbidden', 'this token is for one session, and this request is about none');
    }
    return tenant;
  };
}

/** The first one took the session away, and its key gets its answer all the same. */
function mayBeRepeatOfDelete(context: Context, { method, isKeyed }: GuardedContract): boolean {
  return method === 'delete' && isKeyed === true && context.req.headers['idempotency-key'] !== undefined;
}
