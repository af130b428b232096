/**
 * JSON schemas of tools' inputs: whether one can be used, and what is wrong with an input. Draft 2020-12, or draft 7 where
 * the schema says so. Formats are not checked, and nothing is fetched: a reference leads to the schema itself.
 *
 *   I1. A schema may be anybody's. Its size and nesting are bounded before it is looked at, and it is compiled, and inputs
 *       are checked, within a bound of time: a pattern or a reference can make any other kind of checking endless. Only what
 *       cannot take long, by the words of the schema and the sizes of both, is checked without a watch on it.
 *   I2. A schema knows no other one, whatever they call themselves.
 *   I3. What is told is one bounded line. It names fields, and repeats nothing of what is in them.
 */
import { Script, createContext } from 'node:vm';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../../machines/messages.ts';

// Schemas of large APIs have some ten thousand characters. What is larger costs a model more than it tells.
const SCHEMA_CHARACTERS_MAX = 64 * 1024;
// A property takes two levels, one with alternatives four: ten properties deep, in any case.
const SCHEMA_DEPTH_MAX = 48;
// An honest schema of that size takes a tenth of it on a busy machine, once.
const COMPILE_MS_MAX = 3000;
// A thousand times what an honest check takes, and little enough for everybody else to wait.
const CHECK_MS_MAX = 500;
// To watch a check costs more than most checks. This many steps take a millisecond, or two.
const UNWATCHED_STEPS_MAX = 100_000;
const PROBLEMS_MAX = 3;
const PROBLEM_CHARACTERS_MAX = 500;
const FIELD_CHARACTERS_MAX = 100;

const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  allErrors: true,
  // Put in its place, a schema that is referred to often would be compiled as often.
  inlineRefs: false,
  // What an object inherits is no part of an input.
  ownProperties: true,
  // It takes longer than it saves.
  code: { optimize: false },
};

/** Words by which a check can take more steps than the schema has characters for each part of the input. */
const LONG_WORDS: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'uniqueItems', '$ref', '$dynamicRef', '$recursiveRef']);

/** `steps`: what a check takes at most for each part of an input. */
interface Usable {
  readonly kind: 'usable';
  readonly validate: ValidateFunction;
  readonly steps: number;
}

type Compiled = Usable | { readonly kind: 'unusable'; readonly problem: string };

// By the object itself, which sessions keep for as long as they are in memory.
const compiledSchemas = new WeakMap<JsonObject, Compiled>();

/** Why a schema cannot be used; null where it can. To be read after "it cannot be used:". */
export function schemaProblem(schema: JsonObject): string | null {
  const compiled = compiledOf(schema);
  return compiled.kind === 'unusable' ? compiled.problem : null;
}

/** What is wrong with an input, in one line that a model can act on; null where nothing is. */
export function inputProblem(schema: JsonObject, input: JsonValue): string | null {
  const compiled = compiledOf(schema);
  if (compiled.kind === 'unusable') return bounded(`the tool's input_schema cannot be used: ${compiled.problem}`);
  const { validate, steps } = compiled;
  const check = (): string | null => (validate(input) ? null : inOneLine(validate.errors ?? []));
  if (partsLeft(input, UNWATCHED_STEPS_MAX / steps) >= 0) return check();
  const checked = within(CHECK_MS_MAX, check);
  return checked.kind === 'done' ? checked.value : `the input cannot be checked against the tool's input_schema: ${checked.problem}`;
}

function compiledOf(schema: JsonObject): Compiled {
  const known = compiledSchemas.get(schema);
  if (known !== undefined) return known;
  const compiled = compile(schema);
  compiledSchemas.set(schema, compiled);
  return compiled;
}

function compile(schema: JsonObject): Compiled {
  const unusable = (problem: string): Compiled => ({ kind: 'unusable', problem: bounded(problem) });
  if (isDeeperThan(schema, SCHEMA_DEPTH_MAX)) return unusable(`it is nested deeper than ${SCHEMA_DEPTH_MAX} levels`);
  const { length } = JSON.stringify(schema);
  if (length > SCHEMA_CHARACTERS_MAX) return unusable(`it has more than ${SCHEMA_CHARACTERS_MAX} characters`);
  // Of the validator's own words, and it would answer with a promise.
  if ('$async' in schema) return unusable('$async is no word of JSON Schema');
  const draft = draftOf(schema);
  if (draft === null) return unusable('its $schema must be draft 2020-12 or draft-07 of JSON Schema');
  const { isSchema, Validator } = draft;
  const checked = within(COMPILE_MS_MAX, () => (isSchema(schema) ? null : `it is no JSON Schema: ${inOneLine(isSchema.errors ?? [])}`));
  if (checked.kind === 'stopped') return unusable(checked.problem);
  if (checked.value !== null) return unusable(checked.value);
  const compiled = within(COMPILE_MS_MAX, () => new Validator({ ...OPTIONS, meta: false, validateSchema: false }).compile(schema));
  if (compiled.kind === 'stopped') return unusable(compiled.problem);
  // A reference to itself alone never comes to an end, and shows so with any input.
  const tried = within(CHECK_MS_MAX, () => compiled.value({}));
  if (tried.kind === 'stopped') return unusable(tried.problem);
  return { kind: 'usable', validate: compiled.value, steps: hasLongWord(schema) ? Infinity : length };
}

/** Wherever such a word stands: a property may be called so, and then its checks are watched for nothing. */
function hasLongWord(schema: JsonValue): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([word, item]) => LONG_WORDS.has(word) || hasLongWord(item));
}

/** What is left of a number once the parts of an input are taken from it, characters too; less than 0 where it does not do. */
function partsLeft(input: JsonValue, most: number): number {
  if (typeof input === 'string') return most - 1 - input.length;
  if (typeof input !== 'object' || input === null) return most - 1;
  let left = most - 1;
  for (const [name, item] of Object.entries(input)) {
    left = partsLeft(item, left - name.length);
    if (left < 0) return left;
  }
  return left;
}

interface Draft {
  /** Of the draft's own schema of schemas. */
  readonly isSchema: ValidateFunction;
  readonly Validator: typeof Ajv | typeof Ajv2020;
}

const drafts = new Map<typeof Ajv | typeof Ajv2020, Draft>();

function draftOf({ $schema }: JsonObject): Draft | null {
  if ($schema === undefined || (typeof $schema === 'string' && DRAFT_2020.test($schema))) {
    return draft(Ajv2020, 'https://json-schema.org/draft/2020-12/schema');
  }
  return typeof $schema === 'string' && DRAFT_7.test($schema) ? draft(Ajv, 'http://json-schema.org/draft-07/schema') : null;
}

/** Compiled with the first schema of its draft. */
function draft(Validator: Draft['Validator'], schemaOfSchemas: string): Draft {
  const known = drafts.get(Validator);
  if (known !== undefined) return known;
  const isSchema = new Validator(OPTIONS).getSchema(schemaOfSchemas);
  if (isSchema === undefined) throw new Error(`there is no schema ${schemaOfSchemas}`);
  const made = { isSchema, Validator };
  drafts.set(Validator, made);
  return made;
}

type Bounded<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'stopped'; readonly problem: string };

let work: () => unknown = () => undefined;
const stage = createContext({ run: () => work() });
const RUN = new Script('run()');

/** What a call answers, if it does within the bound: it is stopped where it stands otherwise. */
function within<T>(ms: number, call: () => T): Bounded<T> {
  work = call;
  try {
    // No other way stops a pattern that is being matched.
    return { kind: 'done', value: RUN.runInContext(stage, { timeout: ms }) as T };
  } catch (error) {
    return { kind: 'stopped', problem: reasonOf(error, ms) };
  } finally {
    work = () => undefined;
  }
}

/** Whatever went wrong is the schema's fault: nothing else is at work in there. */
function reasonOf(error: unknown, ms: number): string {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
    return `it takes longer than ${ms} ms to check`;
  }
  if (error instanceof RangeError) return 'it refers to itself without end';
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'it cannot be compiled';
}

/** Bounded like this, it can be walked by whatever comes next. */
function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}

function inOneLine(errors: readonly ErrorObject[]): string {
  const problems = [...new Set(errors.map(problemOf))];
  const left = problems.length - PROBLEMS_MAX;
  return bounded(`${problems.slice(0, PROBLEMS_MAX).join('; ')}${left > 0 ? `; and ${left} more` : ''}`);
}

function problemOf({ instancePath, keyword, message = 'is not what is expected', params }: ErrorObject): string {
  const field = instancePath === '' ? 'the value' : shortened(instancePath);
  const named = NAMED_IN[keyword];
  const name: unknown = named === undefined ? undefined : params[named];
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') return `${field} must not have the property ${shown(name)}`;
  if (keyword === 'enum' || keyword === 'const') return `${field} ${message}: ${shown(name)}`;
  return `${field} ${message}`;
}

/** Where a keyword's error tells what its message does not. */
const NAMED_IN: Readonly<Record<string, string>> = {
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
  enum: 'allowedValues',
  const: 'allowedValue',
};

function shown(value: unknown): string {
  return shortened(JSON.stringify(value) ?? '');
}

function shortened(text: string): string {
  return text.length > FIELD_CHARACTERS_MAX ? `${text.slice(0, FIELD_CHARACTERS_MAX).toWellFormed()}…` : text;
}

function bounded(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length > PROBLEM_CHARACTERS_MAX ? `${line.slice(0, PROBLEM_CHARACTERS_MAX).toWellFormed()}…` : line;
}
