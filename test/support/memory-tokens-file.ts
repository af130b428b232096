/** A tokens file in memory, which commands change in no time. */
import { systemRandom } from '../../services/system.ts';
import { renderTokens, withNewToken, withoutToken, type NewToken, type Token } from '../../services/token-list.ts';
import type { TokensFile } from '../../storage/tokens-file.ts';

const NEW: NewToken = { tenant: 'acme', scope: 'send', session_id: null, expires_at: null };

export class MemoryTokensFile implements TokensFile {
  text: string | null = null;
  failsWith: Error | null = null;
  reads = 0;
  /** A read answers when this resolves. */
  answer: Promise<unknown> = Promise.resolve();
  #tokens: readonly Token[] = [];
  #version = 0;

  put(text: string | null): void {
    this.#version += 1;
    this.text = text;
  }

  add(more: Partial<NewToken> = {}): { readonly id: string; readonly text: string } {
    const { tokens, text } = withNewToken(this.#tokens, { ...NEW, ...more }, { random: systemRandom, now: 0 });
    this.#keep(tokens);
    return { id: tokens.at(-1)?.id ?? '', text };
  }

  revoke(id: string): void {
    this.#keep(withoutToken(this.#tokens, id));
  }

  async stamp(): Promise<string | null> {
    if (this.failsWith !== null) throw this.failsWith;
    return this.text === null ? null : String(this.#version);
  }

  async read(): Promise<Uint8Array | null> {
    this.reads += 1;
    const { text } = this;
    await this.answer;
    return text === null ? null : Buffer.from(text);
  }

  #keep(tokens: readonly Token[]): void {
    this.#tokens = tokens;
    this.put(Buffer.from(renderTokens(tokens)).toString());
  }
}
