/**
 * A tool that runs in the process of its user: what a model is told of it, and the function that does it.
 *
 *   T1. The function gets what its type made of the input, and nothing that does not fit.
 *   T2. What the type says to a model is asked of the schema itself: no library of schemas is needed here.
 */
import { assertFunction, assertObject, assertText } from './call-arguments.ts';
import { checkValue, jsonSchemaOf, type JsonSchema, type OutputType } from './output-type.ts';
import type { EnvironmentTool } from './environments.ts';

export interface ToolContext {
  /** Aborts when nobody waits for the call any more: it was cancelled, ran out of time, or the client is closed. */
  readonly signal: AbortSignal;
  /** The session and the sequence name the call, for good: a key for whatever is done outside. */
  readonly sessionId: string;
  readonly sequence: number;
  /** The tool's own name. */
  readonly tool: string;
  /** Records an event of the session, with this call as its origin. Resolves when it is durable. */
  emit(type: string, data: unknown): Promise<void>;
  /** Shown to whoever follows the session, and recorded nowhere. */
  progress(progress: { readonly message?: string; readonly fraction?: number }): void;
}

/** A schema of zod or of another library of the Standard Schema kind, `{ schema, parse }`, or a JSON Schema. */
export type ToolInput<T> = OutputType<T> | JsonSchema;

export interface ToolOptions<T> {
  readonly name: string;
  readonly description: string;
  readonly input: ToolInput<T>;
  /** What a second call would do outside: nothing, the same again, or a second time. Default: `once`. */
  readonly effect?: EnvironmentTool['effect'];
  run(input: T, context: ToolContext): unknown;
}

export interface Tool extends EnvironmentTool {
  /** Rejects with an `UnfitInput` what the tool is not to see. */
  call(input: unknown, context: ToolContext): Promise<unknown>;
}

/** What a tool throws to say more than a message. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: string;
  /** Whether the same call may be made again. Brain never does so on its own. */
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, { code = 'tool_failed', retryable = false, details }: { readonly code?: string; readonly retryable?: boolean; readonly details?: Readonly<Record<string, unknown>> } = {}) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.details = details;
  }
}

export class UnfitInput extends Error {}

export function tool<T>(options: ToolOptions<T>): Tool {
  assertObject(options, 'what a tool is');
  const { name, description, input: type, effect } = options;
  assertText(name, 'the name of a tool');
  assertText(description, `the description of the tool ${name}`);
  // Some libraries have schemas that are functions.
  if (typeof type !== 'function') assertObject(type, `the input of the tool ${name}`);
  assertFunction((options as { readonly run: unknown }).run, `run of the tool ${name}`);
  return {
    name,
    description,
    inputSchema: inputSchemaOf(name, type),
    ...(effect === undefined ? {} : { effect }),
    async call(input, context) {
      const checked = isChecking(type) ? await checkValue(type, input) : { kind: 'valid' as const, value: input as T };
      if (checked.kind === 'refused') throw new UnfitInput(checked.problem);
      return options.run(checked.value, context);
    },
  };
}

/** Whether it can look at a value, too. */
function isChecking<T>(input: ToolInput<T>): input is OutputType<T> {
  return '~standard' in input || ('parse' in input && typeof input['parse'] === 'function');
}

function inputSchemaOf(name: string, input: ToolInput<unknown>): JsonSchema {
  if (!isChecking(input)) return input;
  const schema = jsonSchemaOf(input) ?? (input as { readonly toJSONSchema?: () => JsonSchema }).toJSONSchema?.() ?? null;
  if (schema === null) throw new TypeError(`the type of the input of ${name} has no JSON Schema: give { schema, parse } in its place`);
  return schema;
}
