import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../../services/scopes.ts';
import { systemRandom } from '../../../services/system.ts';
import {
  parseTokens,
  renderTokens,
  sha256Of,
  tokenIdIn,
  TokensFileError,
  withNewToken,
  withoutToken,
  withoutTokens,
  type NewToken,
  type Token,
} from '../../../services/token-list.ts';

const NEW: NewToken = { tenant: 'acme', scope: 'send', session_id: null, expires_at: null };
const made = withNewToken([], NEW, { random: systemRandom, now: 1_767_268_800_000 });
const [token] = made.tokens as readonly [Token];

function refusalOf(file: unknown): string {
  try {
    parseTokens(Buffer.from(typeof file === 'string' ? file : JSON.stringify(file)));
  } catch (error) {
    expect(error).toBeInstanceOf(TokensFileError);
    return (error as TokensFileError).message;
  }
  throw new Error('nothing was refused');
}

describe('a new token', () => {
  it('is told by its form, and its id is in it', () => {
    expect(made.text).toMatch(/^brain_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
    expect(tokenIdIn(made.text)).toBe(token.id);
    expect(token).toEqual({ id: token.id, created_at: 1_767_268_800_000, sha256: sha256Of(made.text).toString('hex'), ...NEW });
  });

  it('is never the same, and is not in the file', () => {
    let tokens: readonly Token[] = [];
    const texts = Array.from({ length: 200 }, () => {
      const next = withNewToken(tokens, NEW, { random: systemRandom, now: 0 });
      ({ tokens } = next);
      return next.text;
    });
    const file = Buffer.from(renderTokens(tokens)).toString();

    expect(new Set(texts.map((text) => text.slice(-43))).size).toBe(200);
    for (const text of texts) expect(file).not.toContain(text.slice(-43));
  });

  it('takes an id that no other has', () => {
    const ids = [Buffer.from(token.id, 'hex'), Buffer.from(token.id, 'hex'), Buffer.from('0102030405ff', 'hex')];
    const random = { bytes: (count: number) => (count === 6 ? (ids.shift() ?? Buffer.alloc(6)) : Buffer.alloc(count)) };

    expect(withNewToken(made.tokens, NEW, { random, now: 0 }).tokens.map(({ id }) => id)).toEqual([token.id, '0102030405ff']);
  });

  it.each([{ tenant: '' }, { tenant: 'a b' }, { tenant: '../x' }, { tenant: 'a'.repeat(129) }, { session_id: 'x' }, { session_id: `${'a'.repeat(32)}\n` }])(
    'is not made for %j',
    (wrong) => {
      expect(() => withNewToken([], { ...NEW, ...wrong }, { random: systemRandom, now: 0 })).toThrow(TokensFileError);
    },
  );
});

describe('the file of tokens', () => {
  it('reads back as it was written, whatever is in it', () => {
    const anyNew = fc.record({
      tenant: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/),
      scope: fc.constantFrom(...SCOPES),
      session_id: fc.option(fc.stringMatching(/^[0-9a-f]{32}$/)),
      expires_at: fc.option(fc.nat()),
    });
    fc.assert(
      fc.property(fc.array(anyNew, { maxLength: 8 }), (news) => {
        let tokens: readonly Token[] = [];
        for (const one of news) ({ tokens } = withNewToken(tokens, one, { random: systemRandom, now: 0 }));
        expect(parseTokens(renderTokens(tokens))).toEqual(tokens);
      }),
    );
  });

  it('that is not there has none', () => {
    expect(parseTokens(null)).toEqual([]);
  });

  it('loses the token that is revoked and no other', () => {
    const both = withNewToken(made.tokens, NEW, { random: systemRandom, now: 0 }).tokens;

    expect(withoutToken(both, token.id)).toEqual(both.slice(1));
    expect(() => withoutToken(made.tokens, token.id.slice(1))).toThrow(TokensFileError);
  });

  it.each([
    ['', /no JSON/],
    ['{"version":1,"tokens":[', /no JSON/],
    [[], /top/],
    [{ version: 2, tokens: [] }, /version/],
    [{ version: 1 }, /tokens/],
    [{ version: 1, tokens: [], more: 1 }, /top/],
    [{ version: 1, tokens: [{ ...token, scope: 'admin' }] }, /tokens\.0\.scope.*read, send, manage/],
    [{ version: 1, tokens: [{ ...token, tenant: 'a b' }] }, /tokens\.0\.tenant/],
    [{ version: 1, tokens: [token, { ...token, sha256: 'short' }] }, /tokens\.1\.sha256/],
    [{ version: 1, tokens: [{ ...token, expires_at: '2027' }] }, /tokens\.0\.expires_at/],
    [{ version: 1, tokens: [{ ...token, until: 1 }] }, /tokens\.0.*not known/],
    [{ version: 1, tokens: [token, token] }, new RegExp(`two tokens.*${token.id}`)],
  ])('is refused where it is broken, in one line that quotes none of it: %j', (file, line) => {
    const message = refusalOf(file);

    expect(message).toMatch(line);
    expect(message).not.toMatch(/\n/);
    expect(message).not.toContain(token.sha256);
  });
});

describe('a text', () => {
  it.each(['', 'key', 'brain_', made.text.slice(0, -1), `${made.text}x`, ` ${made.text}`, made.text.toUpperCase(), `${made.text}\n`])(
    'that is not written like a token has no id: %j',
    (text) => {
      expect(tokenIdIn(text)).toBeNull();
    },
  );

  it('is told without the tokens in it', () => {
    expect(withoutTokens(`?access_token=${made.text}&a=${made.text}`, '*')).toBe('?access_token=*&a=*');
    expect(withoutTokens('brain_data is a directory', '*')).toBe('brain_data is a directory');
  });
});
