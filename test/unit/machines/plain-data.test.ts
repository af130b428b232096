import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../machines/messages.ts';
import { PLAIN_DATA_DEPTH_MAX, plainData, plainText } from '../../../machines/plain-data.ts';
import { deepFreeze, sameValue } from '../../../machines/value-equality.ts';

// Few leaves and names, so that two values are often alike.
const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, true, 0, -0, 1.5, '', 'a', '👩‍👩‍👧'),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor', '1'), tie('value'), { maxKeys: 2 }),
  ),
})).value;

/** The same value, its objects' keys the other way round. */
function backwards(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(backwards);
  return Object.fromEntries(Object.entries(value).toReversed().map(([key, item]) => [key, backwards(item)]));
}

function sortedJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join()}]`;
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${sortedJson(item)}`).toSorted().join()}}`;
}

function nested(levels: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function valueOf(value: unknown): unknown {
  const plain = plainData(value);
  if (!plain.ok) throw new Error(plain.reason);
  return plain.value;
}

function reasonOf(value: unknown): string {
  const plain = plainData(value);
  if (plain.ok) throw new Error(`accepted as ${JSON.stringify(plain.value)}`);
  return plain.reason;
}

describe('plainData', () => {
  it('makes every text well-formed and leaves out NUL, in keys too', () => {
    expect(valueOf({ 'a\u0000b': 'x\ud800y\u0000', list: ['👩‍👩‍👧'.slice(0, 1)] })).toEqual({
      ab: 'x\ufffdy',
      list: ['\ufffd'],
    });
    expect(plainText('👩‍👩‍👧 你好🦀é')).toBe('👩‍👩‍👧 你好🦀é');
  });

  it('is the value that its own JSON reads back as', () => {
    const sparse: unknown[] = [1];
    sparse[3] = 2;
    const values: readonly unknown[] = [
      { a: undefined, b: [undefined, null], c: -0 },
      sparse,
      new Date(0),
      Object.assign(Object.create(null) as object, { a: 1 }),
      JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
      { nested: { toISOString: 'text' } },
      undefined,
    ];
    for (const value of values) {
      const plain = valueOf(value);
      expect(plain).toStrictEqual(JSON.parse(JSON.stringify(plain)));
    }
    expect(valueOf(sparse)).toStrictEqual([1, null, null, 2]);
  });

  it('is what JSON makes of any value that it can say, in objects of its own', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const plain = valueOf(value);

        expect(isDeepStrictEqual(plain, JSON.parse(JSON.stringify(value)))).toBe(true);
        expect(JSON.stringify(plain)).toBe(JSON.stringify(value));
        expect(plain === value).toBe(typeof value !== 'object' || value === null);
      }),
    );
  });

  it('changes nothing of what it made, whatever texts the value held', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.string({ unit: fc.constantFrom('a', '\u0000', '\ud83e', '\udd80') }), (value, text) => {
        const plain = valueOf({ [text]: value, text: [text] });

        expect(JSON.stringify(plain)).not.toMatch(/\\u0000|\\ud[89a-f]/);
        expect(valueOf(plain)).toStrictEqual(plain);
        expect(JSON.parse(JSON.stringify(plain))).toStrictEqual(plain);
      }),
    );
  });

  it('keeps a key named __proto__ as a key, and gives no object another prototype', () => {
    const plain = valueOf(JSON.parse('{"__proto__":{"polluted":true}}')) as object;

    expect(Object.keys(plain)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
    expect('polluted' in plain).toBe(false);
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a bigint', 10n],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a Map', new Map()],
    ['a Set', new Set()],
    ['an instance', new (class Instance {})()],
    ['bytes', new Uint8Array(2)],
    ['an error', new Error('x')],
    ['a promise', Promise.resolve(1)],
  ])('refuses %s with a reason', (_name, value) => {
    expect(reasonOf(value)).not.toBe('');
    expect(reasonOf({ inside: [value] })).not.toBe('');
  });

  it('takes a value as deep as the bound, and refuses one level more', () => {
    expect(plainData(nested(PLAIN_DATA_DEPTH_MAX)).ok).toBe(true);
    expect(reasonOf(nested(PLAIN_DATA_DEPTH_MAX + 1))).toContain('nested');
    expect(reasonOf(nested(100_000))).toContain('nested');
  });

  it('ends on a value that holds itself', () => {
    const ring: unknown[] = [];
    ring.push(ring, ring);
    const self: Record<string, unknown> = { left: 1 };
    self['right'] = self;
    class Endless {
      toJSON(): Endless {
        return new Endless();
      }
    }

    for (const value of [ring, self, new Endless()]) expect(reasonOf(value)).toContain('nested');
  });
});

describe('sameValue', () => {
  it('tells what differs and nothing else', () => {
    const same: readonly (readonly [unknown, unknown])[] = [
      [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }],
      [[], []],
      ['a', 'a'],
    ];
    const different: readonly (readonly [unknown, unknown])[] = [
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: undefined }, { b: undefined }],
      [[1, 2], [2, 1]],
      [[1], { 0: 1 }],
      [null, {}],
      [0, '0'],
      [{}, JSON.parse('{"__proto__":1}')],
      [{ constructor: 1 }, { toString: 1 }],
    ];

    expect(same.map(([left, right]) => sameValue(left, right))).toEqual(same.map(() => true));
    expect(different.map(([left, right]) => sameValue(left, right) || sameValue(right, left))).toEqual(
      different.map(() => false),
    );
  });
});

describe('sameValue of any two values', () => {
  it('is whether their JSON with sorted keys is the same text', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (left, right) => {
        expect(sameValue(left, right)).toBe(sortedJson(left) === sortedJson(right));
        expect(sameValue(left, backwards(left))).toBe(true);
      }),
    );
  });
});

describe('deepFreeze', () => {
  it('leaves nothing below that could be changed', () => {
    const frozen = deepFreeze({ list: [{ deep: [] as number[] }], none: null });

    expect(() => frozen.list[0]?.deep.push(1)).toThrow(TypeError);
    expect(() => frozen.list.pop()).toThrow(TypeError);
  });
});
