/**
 * JSON Schema of the wire's zod schemas, for the OpenAPI document. What a schema checks in code it says beside it, as
 * keywords in its `.meta()`; here that is only put together. All are shown as they come in: a request before it is
 * parsed, and an answer open to fields that a later version adds.
 */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Collects the schemas that have a name of their own, and answers with references to them. */
export class SchemaCollection {
  readonly #named: Record<string, JsonSchema> = {};

  get named(): Readonly<Record<string, JsonSchema>> {
    return this.#named;
  }

  of(schema: z.ZodType): JsonSchema {
    const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: correct });
    for (const [name, named] of Object.entries($defs)) this.#named[name] = pointed(named) as JsonSchema;
    return pointed(json) as JsonSchema;
  }
}

/** What zod says or leaves out of its own accord, and that is otherwise on the wire. */
function correct({ zodSchema, jsonSchema }: { readonly zodSchema: z.core.$ZodTypes; readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { def } = zodSchema._zod;
  // That a value is not changed in memory is nothing to a client.
  if (def.type === 'readonly') delete jsonSchema.readOnly;
  // Of what is parsed out of text zod tells neither a default nor examples: they would have to be text again. Here they are.
  if (def.type === 'default') jsonSchema['default'] = def.defaultValue;
  const examples = z.globalRegistry.get(zodSchema)?.['examples'];
  if (def.type === 'pipe' && Array.isArray(examples)) jsonSchema.examples = examples;
}

/** References as an OpenAPI document has them. */
function pointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string' ? [key, inner.replace('#/$defs/', '#/components/schemas/')] : [key, pointed(inner)],
    ),
  );
}
