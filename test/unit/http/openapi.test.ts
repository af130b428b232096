/** The document against the code that it is of: what a schema in it lets through is what the parser of bodies lets through. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RouteContract } from '../../../http/contract.ts';
import { openApiDocument } from '../../../http/openapi.ts';
import { storeCredential } from '../../../http/v1/credential-contracts.ts';
import { readEvents } from '../../../http/v1/history-contracts.ts';
import { changeMetadata, createSession, listSessions } from '../../../http/v1/session-contracts.ts';
import { endSession, sendMessage } from '../../../http/v1/turn-contracts.ts';
import { OpenApiDocument, type Document, type JsonSchema, type Parameter } from '../../support/openapi-document.ts';
import { nearlyValid } from '../../support/schema-values.ts';

const contracts = [createSession, changeMetadata, sendMessage, endSession, storeCredential, listSessions, readEvents] satisfies RouteContract[];
const document = new OpenApiDocument(openApiDocument(contracts) as unknown as Document);
const { schemas } = document.document.components;

// What no JSON schema can say, and the description does.
const UNSAID = /must be what input_text parses to|must be an http, https or data URL/;

describe('the schema of a body', () => {
  it.each([createSession, changeMetadata, sendMessage, endSession, storeCredential])('lets through what is let through: $operation', ({ operation, method, path, body }) => {
    const schema = document.route(method.toUpperCase(), path).operation.requestBody?.content['application/json']?.schema ?? {};
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(nearlyValid(schema, schemas), (value) => {
        // The validator of schemas does not notice when this one name stands twice in a list.
        fc.pre(!/"__proto__"[^\]]*"__proto__"/.test(JSON.stringify(value)));
        const parsed = body.schema.safeParse(value);
        const problem = document.problem(schema, value);
        seen[parsed.success ? 'accepted' : 'refused'] += 1;
        if (parsed.success) expect(problem).toBeNull();
        else if (problem === null) expect(parsed.error.issues.map(({ message }) => message).join()).toMatch(UNSAID);
      }),
      { numRuns: 1_500 },
    );
    // Values of one side only would agree about nothing.
    expect(Math.min(seen.accepted, seen.refused), operation).toBeGreaterThan(10);
  });

  it('says of each field what it may be, to the character', () => {
    const problem = (create: unknown): string | null => document.problem({ $ref: '#/components/schemas/CreateSession' }, create);
    const accepted: readonly unknown[] = [
      { metadata: { ['🦀'.repeat(64)]: '🦀'.repeat(512) } },
      { model: { provider: 'demo', name: 'größer 🦀' } },
      { tools: ['a'.repeat(64)] },
      { idle_ttl_ms: null },
      { idle_ttl_ms: 0 },
    ];
    const refused: readonly unknown[] = [
      { metadata: { ['🦀'.repeat(65)]: '' } },
      { metadata: { a: '🦀'.repeat(513) } },
      { metadata: { '': 'x' } },
      { metadata: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, ''])) },
      { model: { provider: 'demo', name: 'a\u202eb' } },
      { model: { provider: 'demo' } },
      { tools: ['a', 'a'] },
      { tools: Array.from({ length: 129 }, (_, index) => `t${index}`) },
      { idle_ttl_ms: -1 },
      { idle_ttl_ms: 2 ** 53 },
      { colour: 'red' },
      { transcript: [{ role: 'assistant', content: [{ type: 'tool_use', id: '', name: 'a' }] }] },
      { transcript: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: '', content: [], is_error: false, outcome: 'timeout' }] }] },
      { transcript: [{ role: 'user', content: [{ type: 'image', url: 'ftp://x', media_type: 'image/png' }] }] },
    ];
    for (const create of accepted) expect([create, problem(create)]).toEqual([create, null]);
    for (const create of refused) expect([create, problem(create) === null]).toEqual([create, false]);
  });
});

describe('the schema of a query', () => {
  function parameter(path: string, name: string): Parameter {
    const found = document.route('GET', path).operation.parameters.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${path} has no ${name}`);
    return found;
  }

  it('has the default of what may be left out, and its bounds', () => {
    const { path } = readEvents;
    expect(parameter(path, 'after').schema).toEqual({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 });
    expect(parameter(path, 'limit').schema).toEqual({ type: 'integer', minimum: 1, maximum: 1000, default: 100 });
    expect(parameter(path, 'types').schema).toMatchObject({ type: 'string', examples: expect.arrayContaining(['shop.order_placed']) });
  });

  it('says where a parameter counts only for pages, or only for streams', () => {
    const described = Object.fromEntries(
      document.route('GET', readEvents.path).operation.parameters.map((one) => [one.name, (one as Parameter & { description: string }).description]),
    );
    expect(described['limit']).toMatch(/For pages only\.$/);
    expect(described['access_token']).toMatch(/For event streams only\.$/);
    expect(described['after']).not.toMatch(/only/);
  });

  it('of a list takes a filter for any key that metadata may have', () => {
    const { schema } = parameter(listSessions.path, 'metadata');
    const problem = (value: unknown): string | null => document.problem(schema, value);
    expect(problem({ 'metadata.team': 'red', 'metadata.a.b': '', [`metadata.${'🦀'.repeat(64)}`]: 'x' })).toBeNull();
    for (const name of ['team', 'metadata.', `metadata.${'k'.repeat(65)}`]) expect(problem({ [name]: 'x' })).not.toBeNull();
  });
});

describe('the document', () => {
  it('refers to nothing that is not in it, and shows no schema that nothing refers to', () => {
    const text = JSON.stringify(document.document);
    const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
    expect([...referred].toSorted()).toEqual(Object.keys(schemas).toSorted());
  });

  it('describes every field that a request may have', () => {
    const undescribed: string[] = [];
    for (const name of ['CreateSession', 'ChangeMetadata', 'StoreCredential']) {
      for (const [field, schema] of Object.entries((schemas[name]?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)) {
        if (schema['description'] === undefined) undescribed.push(`${name}.${field}`);
      }
    }
    expect(undescribed).toEqual([]);
  });
});
