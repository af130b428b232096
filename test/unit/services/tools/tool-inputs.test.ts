import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../machines/messages.ts';
import { inputProblem, schemaProblem } from '../../../../services/tools/tool-inputs.ts';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const FORECAST: JsonObject = {
  type: 'object',
  properties: {
    cities: { type: 'array', items: { type: 'string' } },
    unit: { enum: ['celsius', 'kelvin'] },
    days: { type: 'integer', minimum: 1 },
    since: { type: 'string', format: 'date' },
  },
  required: ['cities'],
  additionalProperties: false,
};

/** A schema whose levels are each checked twice by the one above. */
function doubling(levels: number): JsonObject {
  const twice = Array.from({ length: levels }, (_, level) => {
    const next = { $ref: `#/$defs/level${level + 1}` };
    return [`level${level}`, { allOf: [next, next] }] as const;
  });
  return { $ref: '#/$defs/level0', $defs: { ...Object.fromEntries(twice), [`level${levels}`]: { type: 'string' } } };
}

function nested(levels: number): JsonObject {
  return Array.from({ length: levels }).reduce<JsonObject>((inner) => ({ not: inner }), {});
}

describe('an input', () => {
  it.each<[JsonValue]>([[{ cities: [] }], [{ cities: ['Bern'], unit: 'kelvin', days: 2 }], [{ cities: [], since: 'no date, and formats are not checked' }]])('that is as its schema says has no problem: %j', (input) => {
    expect(inputProblem(FORECAST, input)).toBeNull();
  });

  it.each<[JsonValue, string]>([
    [{}, "the value must have required property 'cities'"],
    ['Bern', 'the value must be object'],
    [null, 'the value must be object'],
    [{ cities: ['Bern', 7, null] }, '/cities/1 must be string; /cities/2 must be string'],
    [{ cities: [], unit: 'rankine' }, '/unit must be equal to one of the allowed values: ["celsius","kelvin"]'],
    [{ cities: [], days: 0 }, '/days must be >= 1'],
    [{ cities: [], city: 'Bern' }, 'the value must not have the property "city"'],
  ])('that is not is answered with which field is wrong, and how: %j', (input, problem) => {
    expect(inputProblem(FORECAST, input)).toBe(problem);
  });

  it('has its problems told in one line of a few hundred characters, however many they are and whatever they name', () => {
    const problem = inputProblem(FORECAST, { cities: Array.from({ length: 1000 }, () => 1), ['a\nb\u2028'.repeat(10_000)]: 1 }) ?? '';

    expect(problem).toContain('; and ');
    expect(problem.length).toBeLessThan(600);
    expect(problem).not.toMatch(/[\n\u2028]/);
  });

  it('does not have what every object inherits', () => {
    expect(inputProblem({ required: ['constructor'] }, {})).toBe("the value must have required property 'constructor'");
    expect(inputProblem({ properties: { toString: { type: 'string' } } }, {})).toBeNull();
  });

  it('is never changed by what its schema says', () => {
    const input = { a: '1' };
    expect(inputProblem({ properties: { a: { type: 'number' }, b: { default: 1 } } }, input)).toBe('/a must be number');
    expect(input).toEqual({ a: '1' });
  });

  it.each<[string, JsonObject, JsonValue]>([
    ['a pattern that never comes to an end', { properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(60)}b` }],
    ['a schema of levels that double', doubling(40), 7],
    ['many schemas for each of many items', { items: { allOf: Array.from({ length: 2000 }, () => ({ minimum: 0 })) } }, Array.from({ length: 400_000 }, (_, index) => index)],
    ['many items, each compared with each', { uniqueItems: true }, Array.from({ length: 50_000 }, (_, index) => [index])],
  ])('is not checked for longer than a moment: %s', (_what, schema, input) => {
    expect(inputProblem(schema, input)).toMatch(/takes longer than 500 ms/);
    expect(inputProblem(FORECAST, { cities: [] })).toBeNull();
  });

  it.each<[JsonValue]>([[{ a: 1 }], [{ a: 'x'.repeat(2000) }], [{ a: Array.from({ length: 2000 }, () => 7) }], [{}], [null]])('is answered alike whether its check is watched or not', (input) => {
    const schema = { properties: { a: { type: 'string', maxLength: 1000 } }, required: ['a'], type: 'object' };

    expect(inputProblem(schema, input)).toBe(inputProblem({ ...schema, not: { pattern: 'x'.repeat(3000), type: 'boolean' } }, input));
  });

  it('has a problem wherever its schema has one', () => {
    expect(inputProblem({ type: 'text' }, {})).toMatch(/^the tool's input_schema cannot be used: it is no JSON Schema: \/type/);
  });
});

describe('a schema', () => {
  it('is of draft 2020-12, or of draft 7 where it says so', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    expect(schemaProblem(tuple)).toMatch(/^it is no JSON Schema: \/items/);
    expect(schemaProblem({ ...tuple, $schema: DRAFT_7 })).toBeNull();
    expect(inputProblem({ ...tuple, $schema: DRAFT_7 }, [1])).toBe('/0 must be string');

    expect(inputProblem({ $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] }, [1])).toBe('/0 must be string');
    expect(schemaProblem({ $schema: 'http://json-schema.org/draft-04/schema#' })).toMatch(/2020-12 or draft-07/);
    expect(schemaProblem({ $schema: 7 })).toMatch(/2020-12 or draft-07/);
  });

  it.each<[string, JsonObject]>([
    ['the empty one', {}],
    ['words of others', { type: 'object', 'x-order': 1, discriminator: { propertyName: 'a' }, properties: { a: { format: 'of-ours' } } }],
    ['a reference into itself', { properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    ['names that are code', { properties: { '"];throw 1;//': { type: 'string' }, '${x}': true }, required: ['`'] }],
    ['a thousand properties', { properties: Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, { type: 'string' }])) }],
  ])('can be used with %s', (_what, schema) => {
    expect(schemaProblem(schema)).toBeNull();
  });

  it.each<[string, JsonObject, RegExp]>([
    ['a type that is none', { properties: { a: { type: 'text' } } }, /^it is no JSON Schema: \/properties\/a\/type /],
    ['a pattern that is none', { pattern: '(' }, /Invalid regular expression/],
    ['a reference to nothing', { $ref: '#/$defs/none' }, /can't resolve reference/],
    ['a reference to elsewhere', { $ref: 'https://schemas.example/a' }, /can't resolve reference/],
    ['a reference to itself alone', { $ref: '#' }, /refers to itself without end/],
    ['a promise', { $async: true }, /\$async is no word/],
    ['levels that double', doubling(40), /takes longer than/],
    ['many levels', nested(49), /deeper than 48 levels/],
    ['a nesting that no recursion comes back from', nested(100_000), /deeper than 48 levels/],
    ['many characters', { description: 'x'.repeat(70_000) }, /more than 65536 characters/],
  ])('is refused with %s, in one line', (_what, schema, reason) => {
    const problem = schemaProblem(schema);
    expect(problem).toMatch(reason);
    expect(problem?.length).toBeLessThan(600);
    expect(problem).not.toContain('\n');
  });

  it('knows no other one by its id, and may have one that another has', () => {
    expect(schemaProblem({ $id: 'https://a.example/x', $defs: { y: { $id: 'https://a.example/y', type: 'string' } } })).toBeNull();

    expect(schemaProblem({ $ref: 'https://a.example/y' })).toMatch(/can't resolve reference/);
    expect(inputProblem({ $id: 'https://a.example/x', type: 'number' }, 'text')).toBe('the value must be number');
  });
});
