/**
 * The type that a value is to have, an answer or the input of a tool: a schema of zod or of any other library of the Standard Schema kind, or a JSON
 * Schema with a function that looks at a value. Known by their shape: none of these libraries is needed here.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Validated<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<T> | Promise<Validated<T>>;
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => JsonSchema };
  };
}

export interface CheckedJsonSchema<T> {
  /** A JSON Schema, for the model. */
  readonly schema: JsonSchema;
  /** The value, or a throw that says what is wrong with it. */
  readonly parse: (value: unknown) => T | Promise<T>;
}

export type OutputType<T> = StandardSchema<T> | CheckedJsonSchema<T>;

export type Checked<T> = { readonly kind: 'valid'; readonly value: T } | { readonly kind: 'refused'; readonly problem: string };

/** Null: the type does not say what it is in words that a model can read. */
export function jsonSchemaOf(type: OutputType<unknown>): JsonSchema | null {
  if (!('~standard' in type)) return type.schema;
  return type['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? null;
}

/** Looks at the text of an answer: JSON alone, or in the one block of code that it has. */
export async function checkAnswer<T>(type: OutputType<T>, text: string): Promise<Checked<T>> {
  const json = jsonIn(text);
  return json === undefined ? { kind: 'refused', problem: 'the answer is not one JSON value' } : checkValue(type, json);
}

export async function checkValue<T>(type: OutputType<T>, json: unknown): Promise<Checked<T>> {
  if ('~standard' in type) {
    const result = await type['~standard'].validate(json);
    return result.issues === undefined ? { kind: 'valid', value: result.value } : { kind: 'refused', problem: result.issues.map(issueText).join('; ') };
  }
  try {
    return { kind: 'valid', value: await type.parse(json) };
  } catch (error) {
    return { kind: 'refused', problem: error instanceof Error ? error.message : String(error) };
  }
}

function jsonIn(text: string): unknown {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const blocks = [...text.matchAll(/^```(?:json)?[^\S\n]*\n(.*?)\n?```[^\S\n]*$/gms)];
  return blocks.length === 1 ? parsed(blocks[0]?.[1] ?? '') : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function issueText({ message, path = [] }: Issue): string {
  const at = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  return at === '' ? message : `${at}: ${message}`;
}
