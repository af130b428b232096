/** Who asks, and what they may do: decided once from the request's token, asked at each act. */
import { HttpError } from './errors.ts';

/** Each scope includes those before it. */
export const SCOPES = ['read', 'send', 'manage'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  readonly tenant: string;
  readonly scope: Scope;
}

/** The tenant of a caller who may do this; everybody else is refused. The right belongs to the act, not to its route. */
export function tenantWith(caller: Caller, needed: Scope): string {
  if (SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(needed)) return caller.tenant;
  throw new HttpError('forbidden', `this token may ${caller.scope}; the request needs one that may ${needed}`);
}
