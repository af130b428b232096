/** The OpenAPI document of a server, as somebody reads it who has nothing else. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly 'x-event-data'?: { readonly recorded: JsonSchema; readonly live: JsonSchema };
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: JsonSchema;
}

export interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly content?: Readonly<Record<string, MediaType>>;
      }
    >
  >;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const DOCUMENT = 'document';
/** Headers that tell a client something; they are described, or they are not there. */
const TELLING_HEADERS = ['location', 'preference-applied', 'retry-after', 'idempotent-replayed', 'www-authenticate'];

export class OpenApiDocument {
  readonly document: Document;
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: false,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ },
  });

  readonly #validators = new WeakMap<JsonSchema, ValidateFunction>();

  constructor(document: Document) {
    this.document = document;
    this.#ajv.addSchema(closed(document) as JsonSchema, DOCUMENT);
  }

  static async of({ url }: { readonly url: string }): Promise<OpenApiDocument> {
    return new OpenApiDocument((await (await fetch(`${url}/openapi.json`)).json()) as Document);
  }

  get routes(): readonly Route[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  }

  route(method: string, path: string): Route {
    const found = this.routes.find((route) => route.method === method && route.path === path);
    if (found === undefined) throw new Error(`the document has no ${method} ${path}`);
    return found;
  }

  /** The route that a request goes to; null where it goes to none. `target`: a path, with a query or without. */
  routeOf(method: string, target: string): Route | null {
    const [sought = ''] = target.split('?');
    const fits = ({ path }: Route): boolean => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(sought);
    return this.routes.find((route) => route.method === method && fits(route)) ?? null;
  }

  /** The codes that a route is said to refuse with, each with its status. */
  refusals({ operation }: Route): readonly (readonly [code: string, status: number])[] {
    return Object.entries(operation.responses).flatMap(([status, { content }]) =>
      Number(status) < 400 ? [] : Object.keys(content?.['application/json']?.examples ?? {}).map((code) => [code, Number(status)] as const),
    );
  }

  /** What is wrong with a value as this schema, which stands somewhere in the document; null where nothing is. */
  problem(schema: JsonSchema, value: unknown): string | null {
    const validate = this.#validator(schema);
    return validate(value) ? null : this.#ajv.errorsText(validate.errors);
  }

  /** What an answer says otherwise than the document; null where they agree. */
  async answerProblem({ operation }: Route, response: Response): Promise<string | null> {
    const described = operation.responses[String(response.status)];
    const body = await response.text();
    if (described === undefined) return `the status ${response.status} is not described: ${body}`;
    const headers = Object.keys(described.headers ?? {}).map((name) => name.toLowerCase());
    const untold = TELLING_HEADERS.find((name) => response.headers.has(name) && !headers.includes(name));
    if (untold !== undefined) return `the header ${untold} is not described for ${response.status}`;
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    if (described.content === undefined) return body === '' ? null : `a body is not described for ${response.status}: ${body}`;
    const media = described.content[type] ?? described.content['*/*'];
    if (media === undefined) return type === '' && body === '' ? `a body is described for ${response.status}` : `the type ${type} is not described`;
    if (type !== 'application/json') return null;
    const problem = this.problem(media.schema, JSON.parse(body));
    return problem === null ? null : `${problem}: ${body}`;
  }

  #validator(schema: JsonSchema): ValidateFunction {
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(closed(absolute(schema)) as JsonSchema);
    this.#validators.set(schema, validate);
    return validate;
  }
}

/** The schema with its references from anywhere. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#') ? `${DOCUMENT}${inner}` : absolute(inner),
    ]),
  );
}

/**
 * A document leaves answers open, so that clients bear fields which come later. Here nothing may come that is not
 * described. What is added to a schema with `allOf` describes a part of it only.
 */
function closed(value: unknown, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item, isPart));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, closed(inner, isPart || key === 'allOf' || key === 'not')]);
  const copy = Object.fromEntries(entries) as Record<string, unknown>;
  const isOpen = copy['type'] === 'object' && typeof copy['properties'] === 'object' && !('additionalProperties' in copy);
  return isOpen && !isPart ? { ...copy, additionalProperties: false } : copy;
}
