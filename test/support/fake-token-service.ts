/** A `TokenService` whose tokens a test hands out and takes back. */
import { setMaxListeners } from 'node:events';
import type { TokenHolder, TokensByName, TokenService } from '../../services/tokens.ts';

export class FakeTokenService implements TokenService, TokensByName {
  readonly #holders = new Map<string, { readonly holder: TokenHolder; end(): void }>();

  isToken(text: string): boolean {
    return text.startsWith('token-');
  }

  async holderOf(text: string): Promise<TokenHolder | null> {
    return this.#holders.get(text)?.holder ?? null;
  }

  async holderWithId(tokenId: string): Promise<(TokenHolder & { readonly fingerprint: string }) | null> {
    const holder = await this.holderOf(`token-${tokenId}`);
    return holder === null ? null : { ...holder, fingerprint: tokenId };
  }

  /** A token with this name that counts from now on. */
  give(name: string, holder: Partial<Omit<TokenHolder, 'ended'>> = {}): string {
    const text = `token-${name}`;
    const ending = new AbortController();
    setMaxListeners(0, ending.signal);
    this.#holders.set(text, {
      holder: { tokenId: name, tenant: 'acme', scope: 'manage', sessionId: null, ...holder, ended: ending.signal },
      end: () => ending.abort(),
    });
    return text;
  }

  takeBack(text: string): void {
    const held = this.#holders.get(text);
    this.#holders.delete(text);
    held?.end();
  }
}
