/** Who asks, and what they may do: decided once from the request's token, asked at each act. */
import { SCOPES, type Scope } from '../services/scopes.ts';
import { HttpError } from './errors.ts';

export interface Caller {
  /** Names the token that was shown, and is no secret. */
  readonly tokenId: string;
  readonly tenant: string;
  readonly scope: Scope;
  /** The only session that the caller sees; null: every one of its tenant. */
  readonly sessionId: string | null;
  /** Aborts when the caller's token counts no more; null: it counts as long as the server runs. */
  readonly ended: AbortSignal | null;
}

/** The tenant of a caller who may do this; everybody else is refused. The right belongs to the act, not to its route. */
export function tenantWith(caller: Caller, needed: Scope): string {
  if (SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(needed)) return caller.tenant;
  throw new HttpError('forbidden', `this token may ${caller.scope}; the request needs one that may ${needed}`);
}
