/**
 * Whoever may have others act in their name: the callers that a token made for a host is bound to, found again by what is
 * no secret of them.
 */
import type { Scope } from './scopes.ts';
import { sha256Of } from './token-list.ts';
import type { TokensByName } from './tokens.ts';

/** Names the operator's key. No token's id looks like it. */
export const KEY_ID = 'key';
/** Names whoever reaches a server that has no key. */
export const NOBODY_ID = 'nobody';

export interface Issuer {
  readonly tenant: string;
  readonly scope: Scope;
  readonly sessionId: string | null;
  /** Aborts when the caller's token counts no more; null: it counts as long as the server runs. */
  readonly ended: AbortSignal | null;
  /** Another one when the token behind the name became another. Not for anybody to see. */
  readonly fingerprint: string;
}

export interface Issuers {
  /** Null for a token that counts no more. Never rejects. */
  issuerOf(tokenId: string): Promise<Issuer | null>;
}

export function knownIssuers(known: { readonly apiKey: string | undefined; readonly tokens: TokensByName }): Issuers {
  const operator = { tenant: 'local', scope: 'manage', sessionId: null, ended: null } as const;
  const fingerprint = known.apiKey === undefined ? null : sha256Of(known.apiKey).toString('hex');
  return {
    async issuerOf(tokenId) {
      if (tokenId === KEY_ID) return fingerprint === null ? null : { ...operator, fingerprint };
      if (tokenId === NOBODY_ID) return fingerprint === null ? { ...operator, fingerprint: '' } : null;
      return known.tokens.holderWithId(tokenId);
    },
  };
}
