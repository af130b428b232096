/** Values that are as a JSON schema says, or nearly so: most of them fit, and what does not is off by one thing or two. */
import fc from 'fast-check';
import type { JsonSchema } from './openapi-document.ts';

/** Text at the edges of what names, labels, addresses and types may be. */
const TEXTS = [
  '',
  ' ',
  'a',
  'add',
  'chat',
  'demo',
  'demo/echo',
  '/',
  'image/png',
  'https://example.com/a b',
  'DATA:,x',
  'file:///etc/passwd',
  '{"a":1}',
  '{',
  '__proto__',
  'constructor',
  '../..',
  'a.b',
  'é',
  '🦀',
  'line\nbreak',
  '\u202e',
  'k'.repeat(64),
  'k'.repeat(65),
  'n'.repeat(128),
  'n'.repeat(129),
  '🦀'.repeat(256),
  'm'.repeat(257),
  '🦀'.repeat(512),
  'v'.repeat(513),
  'z'.repeat(8193),
];
/** What JSON can write down and nobody can read: the parser of a body must refuse these before any schema is asked. */
export const NO_TEXTS = ['\0', 'a\0b', '\ud83e', 'a\udd80', '\udd80\ud83e'];
const NUMBERS = [0, -0, 1, -1, 0.5, 60_000, 2 ** 31, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e21, 1.7e308, -1e-300];
const OTHERS: readonly unknown[] = [null, true, false, [], {}, [[]], [null], { a: 1 }, 'text', 7];

interface Node extends JsonSchema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** `named`: the schemas that references lead to, by the last part of each. */
export function nearlyValid(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  return valueOf(schema, named);
}

function valueOf(schema: Node, named: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 25, arbitrary: fitting(schema, named) }, { weight: 1, arbitrary: anything });
}

const anything: fc.Arbitrary<unknown> = fc.oneof(fc.constantFrom(...OTHERS), fc.constantFrom(...TEXTS), fc.constantFrom(...NUMBERS));

function fitting(schema: Node, named: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return valueOf(named[schema.$ref.split('/').at(-1) ?? ''] ?? {}, named);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.oneOf ?? (schema.type === undefined ? schema.anyOf : undefined);
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => valueOf(choice, named)));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, named);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, named), { maxLength: 4 });
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return fc.oneof(fc.constantFrom(...NUMBERS), fc.nat());
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return anything;
  }
}

/** From the texts at the edges, those that fit far more often than those that do not. */
function textOf({ pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: Node): fc.Arbitrary<string> {
  const fits = (text: string): boolean => {
    const count = Array.from(text).length;
    return count >= minLength && count <= maxLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));
  };
  const good = TEXTS.filter(fits);
  const all = fc.constantFrom(...TEXTS);
  return good.length === 0 ? all : fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: all });
}

function objectOf(schema: Node, named: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const known = Object.entries(properties).map(([name, inner]): fc.Arbitrary<readonly (readonly [string, unknown])[]> => {
    const present = valueOf(inner, named).map((value) => [[name, value] as const]);
    const weight = required.includes(name) ? 25 : 1;
    return fc.oneof({ weight, arbitrary: present }, { weight: 1, arbitrary: fc.constant([]) });
  });
  const free = typeof additionalProperties === 'object' ? additionalProperties : {};
  const extra = fc.array(fc.tuple(fc.constantFrom(...TEXTS.filter((text) => text !== '__proto__')), valueOf(free, named)), { maxLength: 3 });
  const isOpen = additionalProperties !== false;
  const extras = isOpen ? extra : fc.oneof({ weight: 25, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: extra });
  return fc.tuple(fc.tuple(...known), extras).map(([entries, more]) => Object.fromEntries([...more, ...entries.flat()]));
}
