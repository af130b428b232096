/** One declaration of an environment: what it may say, and what of it is stored. */
import type { JsonObject } from '../../machines/messages.ts';
import type { SideEffect } from '../../machines/records.ts';
import { ServiceError } from '../errors.ts';
import { BASE_URL, parseBaseUrl } from '../models/base-url.ts';
import { schemaProblem } from '../tools/tool-inputs.ts';
import { OWN_ENVIRONMENT, TOOLS_MAX } from '../tools/tool.ts';

// Schemas are compiled to see whether they can be used, and everybody else waits for that.
const DECLARATION_BYTES_MAX = 512 * 1024;

interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  /** Default: `once`. */
  readonly effect?: SideEffect;
  /** What the environment is told with each call of it. */
  readonly configuration?: JsonObject;
}

type Reached =
  | { readonly driver: 'http'; readonly url: string; readonly credential?: string }
  /** `host` is the environment's own name by default. */
  | { readonly driver: 'host'; readonly host?: string };

/** As it is asked for. */
export type Declaration = Reached & {
  /** What its setup is told. Default: `{}`. */
  readonly configuration?: JsonObject;
  readonly tools: readonly DeclaredTool[];
};

/** With everything said that was left out, and addresses in one spelling. */
export type StoredDeclaration = (Extract<Reached, { driver: 'http' }> | Required<Extract<Reached, { driver: 'host' }>>) & {
  readonly configuration: JsonObject;
  readonly tools: readonly (DeclaredTool & { readonly effect: SideEffect })[];
};

/** Throws a `ServiceError` that says what is wrong with the declaration, and where. */
export function storable(name: string, declaration: Declaration): StoredDeclaration {
  if (name === OWN_ENVIRONMENT) throw invalid(`the name ${name} is the server's own, of the tools that run in it`, '/name');
  if (Buffer.byteLength(JSON.stringify(declaration)) > DECLARATION_BYTES_MAX) {
    throw new ServiceError('too_large', `a declaration is ${DECLARATION_BYTES_MAX} bytes at most`);
  }
  const { configuration = {}, tools } = declaration;
  return { ...reached(name, declaration), configuration, tools: usable(tools) };
}

function reached(name: string, declaration: Declaration): Extract<Reached, { driver: 'http' }> | Required<Extract<Reached, { driver: 'host' }>> {
  if (declaration.driver === 'host') return { driver: 'host', host: declaration.host ?? name };
  const url = parseBaseUrl(declaration.url);
  if (url === null) throw invalid(`the url must be ${BASE_URL}`, '/url');
  return { driver: 'http', url, ...(declaration.credential === undefined ? {} : { credential: declaration.credential }) };
}

function usable(tools: readonly DeclaredTool[]): StoredDeclaration['tools'] {
  if (tools.length > TOOLS_MAX) throw invalid(`an environment has ${TOOLS_MAX} tools at most`, '/tools');
  const names = new Set<string>();
  return tools.map(({ effect = 'once', ...tool }, index) => {
    if (names.has(tool.name)) throw invalid(`the tool ${tool.name} is declared twice`, `/tools/${index}/name`);
    names.add(tool.name);
    const problem = schemaProblem(tool.input_schema);
    if (problem !== null) throw invalid(`the input_schema of ${tool.name} cannot be used: ${problem}`, `/tools/${index}/input_schema`);
    return { ...tool, effect };
  });
}

function invalid(message: string, field: string): ServiceError {
  return new ServiceError('invalid_request', message, { details: { field } });
}
