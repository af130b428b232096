/**
 * The OpenAPI 3.1 document, out of the contracts that the routes are registered with. What it says of a route is what the
 * route checks; nothing is written down for the document alone but words.
 */
import { z } from 'zod';
import { queriesOf, refusalsOf, type AnswerContract, type RouteContract } from './contract.ts';
import { ERROR_WORDS } from './error-words.ts';
import { errorBody, ERROR_RULES } from './errors.ts';
import { KEY_BYTES_MAX } from './keyed.ts';
import { SchemaCollection, type JsonSchema } from './openapi-schemas.ts';
import { errorSchema, type ErrorCode } from './wire/answers.ts';
import { inputIdSchema } from './wire/lifecycle-queries.ts';
import { nameSchema, sessionIdSchema } from './wire/names.ts';

type Part = Readonly<Record<string, unknown>>;

const PATH_PARAMETERS: Readonly<Record<string, { readonly schema: z.ZodType; readonly description: string }>> = {
  session_id: { schema: sessionIdSchema, description: 'The session, by the id that its creation answered.' },
  sequence: { schema: z.string().regex(/^[1-9][0-9]{0,15}$/), description: 'The operation, by its sequence.' },
  input_id: { schema: inputIdSchema, description: 'The message, by the `id` of its own event.' },
  file: { schema: z.string(), description: 'The name of a file, as the page has it.' },
  name: { schema: nameSchema, description: "A name of the client's own." },
};

const DESCRIPTION = `A server that owns agent sessions: one conversation each, with everything that was done on its behalf, in one journal.

Every body is JSON in UTF-8, nested at most 64 levels deep; text holds neither NUL nor a lone surrogate, no key is \`__proto__\`, and a field that is not described here is refused by its name. A compressed body (gzip, deflate, br) is taken. A POST without a body needs no content type. Answers may get more fields: pass over those that you do not know.

Times are RFC 3339 in UTC without a fraction; in events and records of \`/v1\` they are epoch milliseconds. Ids of sessions sort by creation.

Every answer that is no success is an Error. Beside what each route lists, a path may answer \`method_not_allowed\` (405, with \`Allow\`), and a request that cannot be read \`invalid_request\` (400; 408 where it did not come in time; 417 for an unknown \`Expect\`) or \`too_large\` (431 for its headers).

There are two surfaces, \`/v1\` and \`/sessions\`, over the same sessions: what is created on one is read and driven on the other.

Scopes: \`manage\` includes \`send\`, \`send\` includes \`read\`. A token may be of one session: every other is \`not_found\` to it, lists hold that one alone, and what is about no session is \`forbidden\`. Another tenant's session is answered like one that does not exist. The end of a token ends its event streams. A server that was started without an API key serves this machine only, and takes whoever reaches it for its user.`;

export function openApiDocument(contracts: readonly RouteContract[]): Part {
  const schemas = new SchemaCollection();
  const errorReference = schemas.of(errorSchema);
  const paths: Record<string, Record<string, Part>> = {};
  const codes = new Set<ErrorCode>();
  for (const contract of contracts) {
    for (const code of refusalsOf(contract)) codes.add(code);
    paths[contract.path] = { ...paths[contract.path], [contract.method]: operation(contract, schemas, errorReference) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Brain', version: '1', description: DESCRIPTION },
    tags: [...new Set(contracts.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.named,
      examples: Object.fromEntries([...codes].map((code) => [code, exampleOf(code)])),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: '`Authorization: Bearer TOKEN`.' },
        access_token: {
          type: 'apiKey',
          in: 'query',
          name: 'access_token',
          description: 'For an `EventSource` on the events of a session, which can set no header.',
        },
        ...ownSchemes(contracts),
      },
    },
  };
}

/** The kinds of tokens that routes have of their own. */
function ownSchemes(contracts: readonly RouteContract[]): Part {
  const tokens = contracts.flatMap((contract) => (contract.scope === 'own' ? [contract.token] : []));
  return Object.fromEntries(tokens.map(({ scheme, description }) => [scheme, { type: 'http', scheme: 'bearer', description }]));
}

function operation(contract: RouteContract, schemas: SchemaCollection, errorReference: JsonSchema): Part {
  const { description } = contract;
  const needs = needsOf(contract);
  return {
    operationId: contract.operation,
    tags: [contract.tag],
    summary: contract.summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    security: securityOf(contract),
    parameters: [...pathParameters(contract, schemas), ...queryParameters(contract, schemas), ...headerParameters(contract)],
    ...(contract.body === undefined
      ? {}
      : {
          requestBody: {
            required: !contract.body.isOptional,
            content: { 'application/json': { schema: schemas.of(contract.body.schema), examples: contract.body.examples } },
          },
        }),
    responses: { ...successes(contract, schemas), ...failures(contract, errorReference) },
  };
}

function needsOf(contract: RouteContract): string {
  if (contract.scope === null) return 'Needs no token.';
  return contract.scope === 'own' ? 'Needs the token that was made for it.' : `Needs a token that may \`${contract.scope}\`.`;
}

/** An empty requirement stands for a server without an API key. */
function securityOf(contract: RouteContract): readonly Part[] {
  const { scope } = contract;
  if (scope === null) return [];
  if (scope === 'own') return [{ [contract.token.scheme]: [] }];
  const takesItInQuery = queriesOf(contract).some((query) => 'access_token' in query.shape);
  return [{ bearer: [scope] }, ...(takesItInQuery ? [{ access_token: [scope] }] : []), {}];
}

function pathParameters({ path }: RouteContract, schemas: SchemaCollection): readonly Part[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = PATH_PARAMETERS[name];
    if (parameter === undefined) throw new TypeError(`no words say what {${name}} is`);
    return { name, in: 'path', required: true, description: parameter.description, schema: schemas.of(parameter.schema) };
  });
}

function queryParameters(contract: RouteContract, schemas: SchemaCollection): readonly Part[] {
  const [ofPages = [], ofStreams] = queriesOf(contract).map((query) => propertiesOf(schemas.of(query)));
  const onlyForPages = ofPages.filter(([name]) => ofStreams !== undefined && !ofStreams.some(([other]) => other === name));
  const onlyForStreams = (ofStreams ?? []).filter(([name]) => !ofPages.some(([other]) => other === name));
  const named = [...ofPages, ...onlyForStreams].map(([name, { description = '', ...schema }]) => {
    const isOf = (properties: typeof ofPages): boolean => properties.some(([other]) => other === name);
    const where = isOf(onlyForPages) ? ' For pages only.' : isOf(onlyForStreams) ? ' For event streams only.' : '';
    return { name, in: 'query', required: false, description: `${String(description)}${where}`, schema };
  });
  return contract.filters === undefined ? named : [...named, filterParameter(contract.filters, schemas)];
}

/** Names of the client's own stand in the query as they are, which is what an exploded object is in OpenAPI. */
function filterParameter(filters: NonNullable<RouteContract['filters']>, schemas: SchemaCollection): Part {
  const { propertyNames, ...schema } = schemas.of(filters.schema);
  const { minLength = 0, maxLength } = propertyNames as { readonly minLength?: number; readonly maxLength: number };
  const name = filters.prefix.replace(/\.$/, '');
  const pattern = `^${filters.prefix.replaceAll('.', '\\.')}[\\s\\S]{${minLength},${maxLength}}$`;
  return {
    name,
    in: 'query',
    required: false,
    style: 'form',
    explode: true,
    description: filters.description,
    schema: { ...schema, propertyNames: { pattern } },
    example: { [`${filters.prefix}team`]: 'red' },
  };
}

function headerParameters({ isKeyed, isPreferable, stream }: RouteContract): readonly Part[] {
  const header = (name: string, schema: JsonSchema, description: string): Part => ({ name, in: 'header', required: false, description, schema });
  return [
    ...(isKeyed === true
      ? [
          header(
            'Idempotency-Key',
            { type: 'string', minLength: 1, maxLength: KEY_BYTES_MAX, examples: ['order-7-first-message'] },
            `1 to ${KEY_BYTES_MAX} bytes of text in UTF-8. A repeat with the same key and the same JSON gets the first answer, for 24 hours, and is not carried out again. Each session and each route has keys of its own. A request that was refused uses nothing up.`,
          ),
        ]
      : []),
    ...(isPreferable === true
      ? [header('Prefer', { type: 'string', examples: ['respond-async'] }, '`respond-async`: answer when the turn has begun. Other preferences are passed over.')]
      : []),
    ...(stream === undefined
      ? []
      : [
          header('Accept', { type: 'string', examples: ['text/event-stream'] }, '`text/event-stream` for a stream; pages of JSON otherwise.'),
          header(
            'Last-Event-ID',
            { type: 'string', pattern: `^$|${stream.cursor.pattern}`, examples: [stream.cursor.example] },
            'Where a stream goes on: the last `id` that was received. Wins over `after`. For event streams only.',
          ),
        ]),
  ];
}

function successes(contract: RouteContract, schemas: SchemaCollection): Part {
  const { stream } = contract;
  return Object.fromEntries(
    Object.entries(contract.answers).map(([status, answer]) => {
      const streamed =
        stream === undefined || status !== '200'
          ? {}
          : {
              'text/event-stream': {
                schema: { type: 'string', description: stream.description },
                example: stream.example,
                'x-event-data': { recorded: schemas.of(stream.recorded), live: schemas.of(stream.live) },
              },
            };
      const content = { ...contentOf(answer, schemas), ...streamed };
      const headers = headersOf({
        ...(contract.isKeyed === true ? { 'Idempotent-Replayed': '`true` where this is the answer to an earlier request with the same key.' } : {}),
        ...answer.headers,
      });
      return [status, { description: answer.description, ...headers, ...(Object.keys(content).length === 0 ? {} : { content }) }];
    }),
  );
}

function contentOf({ schema, example, mediaType, events }: AnswerContract, schemas: SchemaCollection): Part {
  if (mediaType !== undefined) {
    const data = Object.entries(events ?? {}).map(([type, ofType]) => [type, schemas.of(ofType)]);
    const told = events === undefined ? {} : { 'x-event-data': Object.fromEntries(data) as Part };
    return { [mediaType]: { schema: { type: 'string' }, ...(example === undefined ? {} : { example }), ...told } };
  }
  if (schema === undefined) return {};
  return { 'application/json': { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) } };
}

function headersOf(words: Readonly<Record<string, string>>): Part {
  const headers = Object.entries(words).map(([name, description]) => [name, { description, schema: { type: 'string' } }]);
  return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) as Part };
}

function failures(contract: RouteContract, errorReference: JsonSchema): Part {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of refusalsOf(contract)) {
    const { status } = ERROR_RULES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [String(status), failure(codes, errorReference)]));
}

function failure(codes: readonly ErrorCode[], errorReference: JsonSchema): Part {
  const waits = codes.some((code) => ERROR_RULES[code].retryAfterSecs !== undefined);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_WORDS[code].when} ${ERROR_WORDS[code].advice}`).join('\n\n'),
    ...headersOf({
      ...(waits ? { 'Retry-After': 'How many seconds a client does well to wait, where that is known.' } : {}),
      ...(codes.includes('unauthorized') ? { 'WWW-Authenticate': 'That a bearer token is needed, and whether the one sent was looked at.' } : {}),
    }),
    content: {
      'application/json': {
        schema: {
          allOf: [errorReference, { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } }],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function exampleOf(code: ErrorCode): Part {
  return { summary: ERROR_WORDS[code].when, value: errorBody(code, 'one line for a person') };
}

function propertiesOf({ properties = {} }: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(properties as Readonly<Record<string, JsonSchema>>);
}
