/**
 * The operator's own tools: an ES module whose default export is a list of them. It is code of the operator's and runs in
 * this process; it is loaded once, at start, and what is wrong with it stops the start with one line.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import { plainData } from '../../machines/plain-data.ts';
import { SIDE_EFFECTS, type SideEffect } from '../../machines/records.ts';
import { schemaProblem } from './tool-inputs.ts';
import type { Tool, ToolContext } from './tool.ts';

/** What is wrong with the file, in one line for the operator. */
export class ToolsFileError extends Error {
  override readonly name = 'ToolsFileError';
  readonly code = 'tools_file_invalid';
}

/** Loads the module at a `file:` URL; the real one is `import`. */
export type LoadModule = (url: string) => Promise<unknown>;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const FIELDS: readonly string[] = ['name', 'description', 'input_schema', 'effect', 'tenants', 'run'];

/** The tools of the file. None of them may have a name in `reservedNames`. Rejects with a `ToolsFileError`. */
export async function loadToolsFile(
  file: { readonly path: string; readonly reservedNames: readonly string[] },
  loadModule: LoadModule,
): Promise<readonly Tool[]> {
  const fault = (problem: string, cause?: unknown): ToolsFileError =>
    new ToolsFileError(`the tools file ${file.path} ${problem}`, { cause });
  let module: unknown;
  try {
    module = await loadModule(pathToFileURL(resolve(file.path)).href);
  } catch (error) {
    throw fault(`cannot be loaded: ${firstLineOf(error)}`, error);
  }
  const exported = isRecord(module) ? module['default'] : undefined;
  if (!Array.isArray(exported)) throw fault('must have a list of tools as its default export');
  const tools: Tool[] = [];
  const taken = new Set(file.reservedNames);
  for (const [index, entry] of exported.entries()) {
    const parsed = parseTool(entry);
    if (typeof parsed === 'string') throw fault(`has a mistake in ${placeOf(entry, index)}: ${parsed}`);
    if (file.reservedNames.includes(parsed.name)) throw fault(`names a tool ${parsed.name}, which is one of the demo's own`);
    if (taken.has(parsed.name)) throw fault(`names two tools ${parsed.name}`);
    taken.add(parsed.name);
    tools.push(parsed);
  }
  return tools;
}

/** The tool that an entry is, copied so that the module cannot change it later; or what is wrong with it. */
function parseTool(entry: unknown): Tool | string {
  if (!isRecord(entry)) return 'it must be an object';
  const { name, description, input_schema, effect = 'once', tenants, run } = entry;
  const unknownField = Object.keys(entry).find((field) => !FIELDS.includes(field));
  if (unknownField !== undefined) return `it has no field ${unknownField}`;
  if (typeof name !== 'string' || !NAME.test(name)) return 'its name must be 1 to 64 letters, digits, _ or -';
  if (typeof description !== 'string') return 'its description must be a text';
  const schema = parseSchema(input_schema);
  if (schema === null) return 'its input_schema must be an object of plain JSON';
  const problem = schemaProblem(schema);
  if (problem !== null) return `its input_schema cannot be used: ${problem}`;
  if (!isEffect(effect)) return `its effect must be one of ${SIDE_EFFECTS.join(', ')}`;
  if (tenants !== undefined && !isListOfTexts(tenants)) return 'its tenants must be a list of names';
  if (typeof run !== 'function') return 'its run must be a function';
  return {
    name,
    description,
    input_schema: schema,
    effect,
    ...(tenants === undefined ? {} : { tenants: [...tenants] }),
    run: async (input: JsonValue, context: ToolContext) => {
      const output: unknown = Reflect.apply(run, entry, [input, context]);
      return parseOutput(await output);
    },
  };
}

/** What a tool returned, as plain JSON: what it keeps of its own, and may change later, is not the result. */
function parseOutput(output: unknown): JsonValue | undefined {
  if (output === undefined) return undefined;
  const plain = plainData(output);
  if (!plain.ok) throw new Error(`the tool returned what is no JSON: ${plain.reason}`);
  return plain.value;
}

function parseSchema(schema: unknown): JsonObject | null {
  if (!isRecord(schema) || Array.isArray(schema)) return null;
  const plain = plainData(schema);
  return plain.ok ? (plain.value as JsonObject) : null;
}

function placeOf(entry: unknown, index: number): string {
  const name = isRecord(entry) ? entry['name'] : undefined;
  return typeof name === 'string' && NAME.test(name) ? `the tool ${name}` : `entry ${index + 1}`;
}

function firstLineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}

function isEffect(value: unknown): value is SideEffect {
  return SIDE_EFFECTS.some((effect) => effect === value);
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
