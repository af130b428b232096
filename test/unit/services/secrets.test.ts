import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secrets, type SecretSearch } from '../../../services/secrets.ts';

const KEY = 'sk-canary-0123456789';
const LONGER = `${KEY}-and-more`;

function searchFor(...secrets: readonly string[]): SecretSearch {
  return new Secrets(secrets).of('local');
}

describe('a search for secrets', () => {
  it('takes out a secret wherever it stands, as often as it does', () => {
    const search = searchFor(KEY, 'another-secret-of-ours');

    expect(search.without(`${KEY}, "${KEY}" and another-secret-of-ours.`)).toBe('[secret removed], "[secret removed]" and [secret removed].');
    expect(search.without('sk-canary-012345678')).toBe('sk-canary-012345678');
  });

  it('takes out the longer of two secrets that begin alike', () => {
    expect(searchFor(KEY, LONGER).without(`<${LONGER}> <${KEY}>`)).toBe('<[secret removed]> <[secret removed]>');
  });

  it('finds what JSON or a URL makes of a secret', () => {
    const secret = 'a"quote\\and a space+';
    const search = searchFor(secret);

    for (const text of [secret, JSON.stringify({ secret }), `?key=${encodeURIComponent(secret)}`]) {
      expect(search.without(text)).toContain('[secret removed]');
      expect(search.without(text)).not.toMatch(/quote/);
    }
  });

  it('does not look for what is short, empty or absent', () => {
    const search = new Secrets(['', 'fifteen-letters', undefined]).of('local');

    expect(search.isOn).toBe(false);
    expect(search.without('fifteen-letters')).toBe('fifteen-letters');
    expect(searchFor('sixteen--letters').isOn).toBe(true);
  });

  it('takes a secret out of the pieces that it is spread over', () => {
    const search = searchFor(KEY);

    expect(search.withoutAcross(['say sk-can', 'ary-01', '23456789!'])).toEqual(['say [secret removed]', '', '!']);
    expect(search.withoutAcross(['sk-can', 'ary-0123456789', 'sk-canary-', '0123456789'])).toEqual(['[secret removed]', '', '[secret removed]', '']);
    expect(search.withoutAcross([KEY, 'plain'])).toEqual(['[secret removed]', 'plain']);
    expect(search.withoutAcross([])).toEqual([]);
  });

  it('leaves no secret in any text, however it is cut into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(KEY, LONGER, 'sk-', 'canary-', '0123456789', 'x', '')), fc.array(fc.nat(60)), (parts, cuts) => {
        const text = parts.join('');
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b);
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));

        const clean = searchFor(KEY, LONGER).withoutAcross(pieces);

        expect(clean.length).toBe(pieces.length);
        expect(clean.join('')).not.toContain(KEY);
      }),
    );
  });

  it('comes to an end where a secret is its own mark', () => {
    expect(searchFor('[secret removed]').withoutAcross(['[secret ', 'removed]'])).toEqual(['[secret ', 'removed]']);
    expect(searchFor(']aaaaaaaaaaaaaaa').withoutAcross([']aaaaaaaaaaaaaaa', 'a'.repeat(40)]).join('')).not.toContain(']aaaaaaaaaaaaaaa');
  });
});

describe('the secrets in use', () => {
  it('are the server\'s for everybody, and a tenant\'s in its own sessions alone', () => {
    const secrets = new Secrets([KEY]);
    secrets.hold('a', 'the-secret-of-tenant-a');

    expect(secrets.of('a').without(`${KEY} the-secret-of-tenant-a`)).toBe('[secret removed] [secret removed]');
    expect(secrets.of('b').without(`${KEY} the-secret-of-tenant-a`)).toBe('[secret removed] the-secret-of-tenant-a');
    expect(secrets.all.without(`${KEY} the-secret-of-tenant-a`)).toBe('[secret removed] [secret removed]');
  });

  it('are in use as long as anybody holds them, also for a search that began before', () => {
    const secrets = new Secrets([]);
    const search = secrets.of('a');
    const first = secrets.hold('a', KEY);
    const second = secrets.hold('a', KEY);
    first();
    first();
    expect(search.without(KEY)).toBe('[secret removed]');

    second();

    expect([search.without(KEY), search.isOn]).toEqual([KEY, false]);
    secrets.hold('a', KEY);
    expect(search.without(KEY)).toBe('[secret removed]');
  });
});
