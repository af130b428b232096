/**
 * The tokens that this server takes besides its operator's key, as their file has them at any moment.
 *
 *   K1. Whoever asks is answered from the file as it is by then: a token counts from the moment that the command which
 *       made it has printed it, and no more from the moment that the one which revoked it has ended.
 *   K2. A file that is broken, or cannot be read now, changes nothing: the tokens of the last good one hold, and the log
 *       says so, once. At start there is no last good one: the start is refused. A file that is not there has no tokens.
 *   K3. What a token was given for longer than one answer ends within two seconds of its end: one watcher looks for all.
 *   K4. Tokens are compared by their hashes, in constant time, and no token is kept, logged or told.
 */
import { timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { TokensFile } from '../storage/tokens-file.ts';
import type { Clock, Log } from './ports.ts';
import type { Scope } from './scopes.ts';
import { parseTokens, sha256Of, tokenIdIn, type Token, TokensFileError } from './token-list.ts';

// Two of these, and some time to close what is open, are well within the five seconds that are promised.
const WATCH_MS = 1_000;

/** Compared with where no token has the id, so that an answer takes as long. */
const NOBODYS_SHA256 = '0'.repeat(64);

/** What a token stands for. */
export interface TokenHolder {
  /** Names the token, and is no secret. */
  readonly tokenId: string;
  readonly tenant: string;
  readonly scope: Scope;
  /** The only session that it sees; null: every session of its tenant. */
  readonly sessionId: string | null;
  /** Aborts when the token is revoked, changed or has expired. */
  readonly ended: AbortSignal;
}

/** What `http/` asks. */
export interface TokenService {
  /** Whether a text is written like a token, valid or not. */
  isToken(text: string): boolean;
  /** Null for what is no token, or one that counts no more. Never rejects. */
  holderOf(text: string): Promise<TokenHolder | null>;
}

/** What those ask who were told a token's name, and never saw the token. */
export interface TokensByName {
  /** Null where there is none such that counts. `fingerprint`: another one for another token. Never rejects. */
  holderWithId(tokenId: string): Promise<(TokenHolder & { readonly fingerprint: string }) | null>;
}

export interface TokensParts {
  readonly file: TokensFile;
  readonly clock: Clock;
  readonly log: Log;
}

interface Held {
  readonly token: Token;
  readonly holder: TokenHolder;
  end(): void;
}

export class Tokens implements TokenService, TokensByName {
  readonly #parts: TokensParts;
  #held: ReadonlyMap<string, Held> = new Map();
  #stamp: string | null = null;
  /** What was last said to be wrong with the file; null while nothing is. */
  #complaint: string | null = null;
  #lastLook: Promise<void> = Promise.resolve();
  /** The look that has not begun yet, if there is one. */
  #nextLook: Promise<void> | null = null;
  #cancelWatch: () => void = () => undefined;
  #isClosed = false;

  private constructor(parts: TokensParts) {
    this.#parts = parts;
  }

  /** Rejects with a `TokensFileError` where the file is broken or cannot be read. */
  static async open(parts: TokensParts): Promise<Tokens> {
    const tokens = new Tokens(parts);
    await tokens.#look();
    tokens.#watch();
    return tokens;
  }

  isToken(text: string): boolean {
    return tokenIdIn(text) !== null;
  }

  async holderOf(text: string): Promise<TokenHolder | null> {
    const id = tokenIdIn(text);
    if (id === null) return null;
    await this.#lookFromNow();
    const held = this.#held.get(id);
    const isTheSame = timingSafeEqual(sha256Of(text), Buffer.from(held?.token.sha256 ?? NOBODYS_SHA256, 'hex'));
    return held !== undefined && isTheSame && this.#counts(held) ? held.holder : null;
  }

  async holderWithId(tokenId: string): Promise<(TokenHolder & { readonly fingerprint: string }) | null> {
    await this.#lookFromNow();
    const held = this.#held.get(tokenId);
    return held !== undefined && this.#counts(held) ? { ...held.holder, fingerprint: held.token.sha256 } : null;
  }

  /** Watches no more. What tokens were given goes on. */
  close(): void {
    this.#isClosed = true;
    this.#cancelWatch();
  }

  #watch(): void {
    if (this.#isClosed) return;
    this.#cancelWatch = this.#parts.clock.after(WATCH_MS, () => {
      void this.#lookFromNow().then(() => {
        for (const held of this.#held.values()) if (this.#hasExpired(held.token)) held.end();
        this.#watch();
      });
    });
  }

  /**
   * A look that has not begun yet, since one that is under way may have seen the file before a change. One comes after the
   * other, or an older one could undo what a newer one saw. Never rejects.
   */
  #lookFromNow(): Promise<void> {
    this.#nextLook ??= this.#lastLook.then(() => {
      this.#nextLook = null;
      return this.#lookSafely();
    });
    this.#lastLook = this.#nextLook;
    return this.#nextLook;
  }

  async #lookSafely(): Promise<void> {
    try {
      await this.#look();
      this.#complaint = null;
    } catch (error) {
      const complaint = String(error);
      if (complaint !== this.#complaint) this.#parts.log.error('tokens_file_refused', { error, tokens_held: this.#held.size });
      this.#complaint = complaint;
    }
  }

  async #look(): Promise<void> {
    const { file, log } = this.#parts;
    const stamp = await reading(() => file.stamp());
    if (stamp === this.#stamp) return;
    const tokens = parseTokens(await reading(() => file.read()));
    this.#adopt(tokens);
    // That of before the read: what came in between is seen by the next look.
    this.#stamp = stamp;
    log.info('tokens_read', { tokens: tokens.length });
  }

  #adopt(tokens: readonly Token[]): void {
    const before = this.#held;
    const held = new Map(
      tokens.map((token) => {
        const same = before.get(token.id);
        return [token.id, same !== undefined && isSame(same.token, token) ? same : holding(token)];
      }),
    );
    this.#held = held;
    for (const [id, one] of before) if (held.get(id) !== one) one.end();
  }

  /** Whatever the wall clock does, what was ended stays so. */
  #counts({ token, holder }: Held): boolean {
    return !this.#hasExpired(token) && !holder.ended.aborted;
  }

  #hasExpired({ expires_at }: Token): boolean {
    return expires_at !== null && this.#parts.clock.now() >= expires_at;
  }
}

function holding(token: Token): Held {
  const ending = new AbortController();
  // Each stream that is open with the token listens, and there may be any number.
  setMaxListeners(0, ending.signal);
  const { tenant, scope, session_id } = token;
  return { token, holder: { tokenId: token.id, tenant, scope, sessionId: session_id, ended: ending.signal }, end: () => ending.abort() };
}

function isSame(one: Token, other: Token): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new TokensFileError(`the tokens file cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
