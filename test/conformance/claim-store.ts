/** What every claim store must do, whatever it keeps the claims in. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimStore } from '../../storage/claims.ts';
import { FRAME_PAYLOAD_BYTES_MAX } from '../../storage/frame.ts';
import { codeOf, textOf } from '../support/frames.ts';

export interface ClaimsUnderTest {
  readonly claims: ClaimStore;
  dispose(): Promise<void>;
}

export function describeClaimStore(name: string, make: () => Promise<ClaimsUnderTest>): void {
  describe(`a claim store (${name})`, () => {
    let tested: ClaimsUnderTest;
    let claims: ClaimStore;

    beforeEach(async () => {
      tested = await make();
      claims = tested.claims;
    });
    afterEach(() => tested.dispose());

    const load = async (tenant = 'local'): Promise<readonly string[]> => (await claims.load(tenant)).map(textOf);
    const append = (text: string, tenant = 'local'): Promise<void> => claims.append(tenant, Buffer.from(text));
    const replace = (texts: readonly string[]): Promise<void> => claims.replace('local', texts.map((text) => Buffer.from(text)));

    it('has nothing of a tenant who has claimed nothing', async () => {
      expect(await load()).toEqual([]);
    });

    it('gives back what was appended, oldest first', async () => {
      for (const text of ['one', 'two', '{"key":"你好🦀\\u0000"}']) await append(text);

      expect(await load()).toEqual(['one', 'two', '{"key":"你好🦀\\u0000"}']);
    });

    it('carries out calls that come at once in the order in which they came', async () => {
      const texts = Array.from({ length: 20 }, (_, index) => `entry ${index}`);

      const calls = texts.map((text) => append(text));
      const loaded = load();
      const later = append('later');

      expect(await loaded).toEqual(texts);
      await Promise.all([...calls, later]);
      expect(await load()).toEqual([...texts, 'later']);
    });

    it('replaces all entries, by none too, and goes on from there', async () => {
      await append('old');
      await replace(['a', 'b']);
      await append('c');
      expect(await load()).toEqual(['a', 'b', 'c']);

      await replace([]);
      expect(await load()).toEqual([]);
      await append('anew');
      expect(await load()).toEqual(['anew']);
    });

    it('replaces nothing by something', async () => {
      await replace(['first']);

      expect(await load()).toEqual(['first']);
    });

    it('keeps tenants apart, whatever they are called', async () => {
      const names = ['local', 'Local', 'local ', '../local', '', '__proto__', 'a/b', '你好', 'x'.repeat(5_000)];

      for (const [index, tenant] of names.entries()) await append(`of ${index}`, tenant);

      for (const [index, tenant] of names.entries()) expect(await load(tenant)).toEqual([`of ${index}`]);
    });

    it('keeps what was written, whatever its caller does to the bytes afterwards', async () => {
      const entry = Buffer.from('before');
      await claims.append('local', entry);
      const replaced = Buffer.from('also');
      entry.fill('x');
      expect(await load()).toEqual(['before']);

      await claims.replace('local', [replaced]);
      replaced.fill('x');
      (await claims.load('local'))[0]?.fill(0);

      expect(await load()).toEqual(['also']);
    });

    it('calls it a bug to write what is empty, too large, or no text; and goes on', async () => {
      await append('a');
      for (const wrong of [Buffer.alloc(0), Buffer.from('a\0b'), Buffer.alloc(FRAME_PAYLOAD_BYTES_MAX + 1, 'x')]) {
        expect(await codeOf(claims.append('local', wrong))).toBe('ERR_ASSERTION');
        expect(await codeOf(claims.replace('local', [Buffer.from('b'), wrong]))).toBe('ERR_ASSERTION');
      }

      await append('b');
      expect(await load()).toEqual(['a', 'b']);
    });

    it('takes more than a segment of a journal holds', async () => {
      const text = 'x'.repeat(3 * 1024 * 1024);
      for (const index of [1, 2, 3]) await append(`${index}${text}`);

      expect((await load()).map((entry) => entry.slice(0, 1))).toEqual(['1', '2', '3']);
    });
  });
}
