import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWellFormed, JSON_DEPTH_MAX, parseJsonText } from '../../../../http/wire/json-text.ts';

describe('JSON text', () => {
  it('becomes the very value that was written, whatever it is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: 'grapheme' }), (text) => {
        fc.pre(isWellFormed(text) && !/\\u0000|__proto__/.test(text));
        expect(parseJsonText(text)).toEqual({ kind: 'value', value: JSON.parse(text) as unknown });
      }),
    );
  });

  it('is refused, and nothing is thrown, where it is any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parsed = parseJsonText(text);
        if (parsed.kind === 'value') expect(JSON.stringify(parsed.value)).toBe(JSON.stringify(JSON.parse(text)));
        else expect(parsed.problem).toMatch(/^[ -~]+$/);
      }),
    );
  });

  it('is refused exactly where it is nested deeper than the bound, whatever brackets its strings hold', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 * JSON_DEPTH_MAX }), fc.string(), fc.boolean(), (depth, text, isList) => {
        fc.pre(!text.includes('\0'));
        const [open, close] = isList ? ['[', ']'] : ['{"a":', '}'];
        const nested = `${open.repeat(depth)}${JSON.stringify(`{[${text}`)}${close.repeat(depth)}`;
        expect(parseJsonText(nested).kind).toBe(depth > JSON_DEPTH_MAX ? 'refused' : 'value');
      }),
    );
  });

  it('takes a quote that is escaped for a part of its string', () => {
    for (const text of ['"' + '['.repeat(100), '\\"' + '['.repeat(100), '\\' + '['.repeat(100)]) {
      expect(parseJsonText(JSON.stringify([text]))).toEqual({ kind: 'value', value: [text] });
    }
  });

  it.each([
    ['"\\ud800"', ''],
    ['["a","\\udfff"]', '/1'],
    ['{"a":{"b/c":["\\u0000"]}}', '/a/b~1c/0'],
    ['{"a":{"\\ud83d":1}}', '/a'],
    ['{"a":[1e999]}', '/a/0'],
    ['{"a":{"__proto__":1}}', '/a'],
  ])('is refused with a pointer to what cannot be kept: %s at %j', (text, field) => {
    expect(parseJsonText(text)).toMatchObject({ kind: 'refused', field });
  });

  it('keeps whole surrogate pairs, however they are written', () => {
    expect(parseJsonText('["🦀","\\ud83e\\udd80"]')).toEqual({ kind: 'value', value: ['🦀', '🦀'] });
  });
});
