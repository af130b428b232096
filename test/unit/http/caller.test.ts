import { describe, expect, it } from 'vitest';
import { tenantWith } from '../../../http/caller.ts';
import { SCOPES } from '../../../services/scopes.ts';

describe('a scope', () => {
  it('includes those below it and none above', () => {
    const allowed = SCOPES.map((scope) => SCOPES.filter((needed) => isAllowed(scope, needed)));
    expect(allowed).toEqual([['read'], ['read', 'send'], ['read', 'send', 'manage']]);
  });
});

function isAllowed(scope: (typeof SCOPES)[number], needed: (typeof SCOPES)[number]): boolean {
  try {
    return tenantWith({ tokenId: 'key', tenant: 'local', scope, sessionId: null, ended: null }, needed) === 'local';
  } catch (error) {
    expect(error).toMatchObject({ code: 'forbidden' });
    return false;
  }
}
