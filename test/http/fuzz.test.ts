/**
 * Anything at all, sent to every route that the OpenAPI document describes. Whatever it is: no fault of the server, no
 * request without an answer, no answer that is not described, and nothing changed by what was refused.
 */
import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DescribedServer } from '../support/described-server.ts';
import { FuzzTarget, type Stand, type Strange } from '../support/fuzz-target.ts';
import type { OpenApiDocument, Route } from '../support/openapi-document.ts';
import { nearlyValid, NO_TEXTS } from '../support/schema-values.ts';

const SEQUENCES_MS = 10_000;
// Some thousand requests, one after the other: fifteen seconds of a machine that has nothing else to do.
const FIELDS_MS_MAX = 240_000;
const MISSING = '0'.repeat(32);

let document: OpenApiDocument;
let target: FuzzTarget;

beforeAll(async () => {
  document = await DescribedServer.document();
});

beforeEach(async () => {
  target = await FuzzTarget.open(document);
});

afterEach(async () => {
  await target.close();
});

/** Written into the text of a body as it is, where JSON's own writer would not write it. */
const RAW = '@raw@';
const DAMAGES: readonly (readonly [what: string, json: string])[] = [
  ['null', 'null'],
  ['a number', '7'],
  ['a fraction', '0.5'],
  ['a negative number', '-1'],
  ['a number beyond the safe ones', '1152921504606846976'],
  ['a number beyond all', '1e999'],
  ['text', '"text"'],
  ['the empty text', '""'],
  ['text that is too long', `"${'x'.repeat(70_000)}"`],
  ['text with NUL', '"a\\u0000b"'],
  ['half of a pair', '"\\ud83e"'],
  ['true', 'true'],
  ['a list', '[]'],
  ['a list of null', '[null]'],
  ['an object', '{}'],
  ['an object with an unknown field', '{"colour":"red"}'],
  ['an object with __proto__', '{"__proto__":{"tools":[]}}'],
  ['lists in lists', `${'['.repeat(70)}${']'.repeat(70)}`],
  ['objects in objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
];

type Step = string | number;

/** Every place in a value, the whole of it first. */
function placesIn(value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, Array.isArray(value) ? Number(key) : key]))];
}

/** The value as it is when what stands at a place becomes another; nothing stands there where that is undefined. */
function changedAt(value: unknown, [step, ...rest]: readonly Step[], change: (there: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => (index === step ? changedAt(item, rest, change) : item));
    return items.filter((item) => item !== undefined);
  }
  return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, key === step ? changedAt(inner, rest, change) : inner]));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every damage of an example, each as the text of a body. */
function damagedBodies(example: unknown): readonly string[] {
  return placesIn(example).flatMap((place) => [
    ...DAMAGES.map(([, json]) => JSON.stringify(changedAt(example, place, () => RAW)).replace(`"${RAW}"`, () => json)),
    JSON.stringify(changedAt(example, place, (there) => (isObject(there) ? { ...there, colour: 'red' } : there))),
    // Of the whole of it that leaves no text at all.
    JSON.stringify(changedAt(example, place, () => undefined)) ?? '',
  ]);
}

function examplesOf({ operation }: Route): readonly unknown[] {
  return Object.values(operation.requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => value);
}

/** A path of the route: to a session that is there, or to nothing. */
function pathTo(route: Route, sessionId: string): string {
  return route.path.replace('{session_id}', sessionId).replace('{name}', 'known').replace('{input_id}', '3.0').replace('{sequence}', '4');
}

describe('every field of every body', () => {
  it('may be missing, unknown, or anything else, and is refused without a trace or taken', { timeout: FIELDS_MS_MAX }, async () => {
    let refused = 0;
    for (const route of document.routes) {
      for (const example of examplesOf(route)) {
        for (const body of damagedBodies(example)) {
          if (!(await target.send({ method: route.method, path: pathTo(route, target.session('held')), body }))) refused += 1;
        }
      }
    }
    expect(refused).toBeGreaterThan(500);
  });
});

describe('every parameter of every query', () => {
  const VALUES = ['', '0', '-1', '1.5', '1e9', '99999999999999999999', 'text', '%00', '%ff', '%ed%a0%80', '%', '__proto__', 'a,b,', '%F0%9F%A6%80', 'x'.repeat(5_000)];

  it('may be wrong, repeated, empty or unknown, and nothing comes of it', async () => {
    let refused = 0;
    for (const route of document.routes.filter(({ operation }) => operation.security.length > 0)) {
      const known = route.operation.parameters.filter((one) => one.in === 'query').map(({ name }) => (name === 'metadata' ? 'metadata.a.b' : name));
      const queries = known.flatMap((name) => [name, `${name}=1&${name}=2`, `${name}[]=1`, ...VALUES.map((value) => `${name}=${value}`)]);
      const unknown = ['unknown=1', '__proto__=1', 'metadata.=1', 'metadata.__proto__=1', 'metadata=1'];
      for (const query of [...queries, ...unknown, '&&&', '=', '?', 'a=1&'.repeat(1_500)]) {
        const path = `${pathTo(route, target.session('ended'))}?${query}`;
        for (const headers of [[], [['accept', 'text/event-stream']]] as const) {
          // A delete that is accepted takes away what the others are asked of.
          if (route.method === 'DELETE' || (headers.length > 0 && route.method !== 'GET')) continue;
          const body = examplesOf(route)[0];
          const sent: Strange = { method: route.method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
          if (!(await target.send(sent))) refused += 1;
        }
      }
    }
    expect(refused).toBeGreaterThan(150);
  });
});

describe('any sequence of requests', () => {
  const STRANGE_HEADERS: readonly (readonly [string, readonly string[]])[] = [
    ['idempotency-key', ['k', 'k', 'other', '', ' ', '__proto__', 'x'.repeat(256), 'x'.repeat(257), '\xf0\x9f\xa6\x80', '\xff', 'a\tb', '7']],
    ['prefer', ['respond-async', 'respond-async', 'wait=1', '"', ',,;=', 'respond-async=1']],
    ['accept', ['text/event-stream', '*/*', 'application/json', 'application/json;q=0', 'image/png', ';;', '\xff']],
    ['last-event-id', ['0', '1', '3.0', '3.', '-1', 'x', '', '9007199254740993', '\xff']],
    ['content-type', ['application/json; charset=utf-8', 'application/json; charset=utf-16', 'text/plain', 'application/xml', ';', 'multipart/form-data', '\xff']],
    ['content-encoding', ['gzip', 'br', 'deflate', 'identity', 'zstd', 'gzip, gzip', '\xff']],
    ['expect', ['100-continue', 'the worst']],
    ['host', ['localhost', 'evil.example', '', '127.0.0.1:99999999', '[::1', 'a b']],
    ['origin', ['http://localhost', 'http://evil.example', 'null', '\xff']],
    ['authorization', ['Bearer x', 'Basic eDp5', '', '\xff']],
    ['connection', ['close', 'upgrade', 'keep-alive, x']],
    ['upgrade', ['websocket', 'h2c']],
    ['x-forwarded-for', ['::', 'x'.repeat(4_000)]],
    ['cookie', ['a=b; __proto__=c']],
    ['if-none-match', ['*', '"x"']],
    ['range', ['bytes=0-1', 'bytes=-9999999999999999999']],
  ];

  const header = fc.constantFrom(...STRANGE_HEADERS).chain(([name, values]) => fc.constantFrom(...values).map((value) => [name, value] as const));
  const queryValue = fc.constantFrom('0', '1', '2', 'idle', 'red', 'turn_ended', '3.0', '', '-1', 'x', '%00', '%ff', '1e3', MISSING);
  const queryName = fc.constantFrom('after', 'limit', 'types', 'status', 'metadata.team', 'access_token', 'metadata.__proto__', 'unknown');
  const query = fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.array(fc.tuple(queryName, queryValue), { minLength: 1, maxLength: 3 }).map((pairs) => `?${pairs.map((pair) => pair.join('=')).join('&')}`) },
  );
  const noJson = fc.oneof(
    fc.constantFrom('{', '', ' ', 'null', '[]', '"', '\ufeff{}', '{"input":"a"}}', '{"input":"x",}', "{'input':1}", 'NaN', '\0', '['.repeat(100_000), '9'.repeat(400)),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(...NO_TEXTS).map((text) => JSON.stringify({ input: text, metadata: { [text]: text }, system: text })),
  );

  function bodyOf(route: Route): fc.Arbitrary<string | undefined> {
    const media = route.operation.requestBody?.content['application/json'];
    const none = { weight: 1, arbitrary: fc.constant(undefined) };
    const broken = { weight: 1, arbitrary: noJson };
    if (media === undefined) return fc.oneof({ ...none, weight: 8 }, broken);
    const near = nearlyValid(media.schema, document.document.components.schemas).map((value) => JSON.stringify(value));
    const example = fc.constantFrom(...examplesOf(route)).map((value) => JSON.stringify(value));
    return fc.oneof(none, broken, { weight: 4, arbitrary: near }, { weight: 3, arbitrary: example });
  }

  function strangeRequest(): fc.Arbitrary<Omit<Strange, 'path'> & { readonly pathTo: (target: FuzzTarget) => string }> {
    return fc.constantFrom(...document.routes).chain((route) =>
      fc
        .record({
          method: fc.oneof({ weight: 12, arbitrary: fc.constant(route.method) }, { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND') }),
          session: fc.constantFrom<string>('idle', 'idle', 'held', 'ended', MISSING, MISSING.toUpperCase().replace('0', 'F'), '..', '%2e%2e', '%00', '__proto__', 'x'.repeat(3_000)),
          query,
          headers: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(header, { maxLength: 3 }) }),
          body: bodyOf(route),
        })
        .map(({ method, session, query: given, headers, body }) => ({
          method,
          headers,
          ...(body === undefined ? {} : { body }),
          pathTo: (to: FuzzTarget) => `${pathTo(route, isStand(session) ? to.session(session) : session)}${given}`,
          // What fast-check prints of a sequence that fails.
          toString: () => JSON.stringify({ method, path: route.path, session, query: given, headers, body }),
        })),
    );
  }

  it('is answered, request by request, as the document says, and what is refused changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(strangeRequest(), { minLength: 10, maxLength: 30 }), async (requests) => {
        const fresh = await FuzzTarget.open(document);
        try {
          for (const { pathTo: path, ...strange } of requests) await fresh.send({ ...strange, path: path(fresh) });
        } finally {
          await fresh.close();
        }
      }),
      { numRuns: 10_000, plugins: [fc.interruptAfterTimeLimit(SEQUENCES_MS)] },
    );
  });
});

function isStand(session: string): session is Stand {
  return session === 'idle' || session === 'ended' || session === 'held';
}
