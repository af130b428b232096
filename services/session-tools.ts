/**
 * Which tools a session gets that is created now: those of the environments that it names, and of this server.
 *
 *   T1. A name means one tool. Where two of those offer one it means neither, and the create is refused.
 *   T2. A tool that the tenant may not use is answered like one that is not there.
 */
import type { ResolvedTool } from '../machines/records.ts';
import type { ResolvedDeclaration } from './environments/declarations.ts';
import { ServiceError } from './errors.ts';
import { OWN_ENVIRONMENT, TOOLS_MAX, type Tool, type ToolRegistry } from './tools/tool.ts';

/** All of them, for a create that names no tools. */
export function toolsOf(declared: readonly ResolvedDeclaration[]): readonly ResolvedTool[] {
  const offeredBy = new Map<string, string>();
  const all: ResolvedTool[] = [];
  for (const [index, { environment, tools }] of declared.entries()) {
    const field = `/environments/${index}`;
    for (const tool of tools) {
      const other = offeredBy.get(tool.name);
      if (other !== undefined) throw twice(tool.name, [other, environment.name], field);
      offeredBy.set(tool.name, environment.name);
      all.push(tool);
    }
    if (all.length > TOOLS_MAX) {
      throw invalid(`a session has ${TOOLS_MAX} tools at most, and its environments have more: name those that it gets`, field);
    }
  }
  return all;
}

/** Those that a create names, in its order. */
export function toolsNamed(
  names: readonly string[],
  { tenant, declared, registry }: { readonly tenant: string; readonly declared: readonly ResolvedDeclaration[]; readonly registry: ToolRegistry },
): readonly ResolvedTool[] {
  if (names.length > TOOLS_MAX) throw invalid(`a session has ${TOOLS_MAX} tools at most`, '/tools');
  const offered = declared.flatMap(({ tools }) => tools);
  const taken = new Set<string>();
  return names.map((name, index) => {
    const field = `/tools/${index}`;
    if (taken.has(name)) throw invalid(`the tool ${name} is named twice`, field);
    taken.add(name);
    const own = registry.find(tenant, name);
    const [tool, other] = [...offered.filter((one) => one.name === name), ...(own === null ? [] : [resolvedOwnTool(own)])];
    if (tool === undefined) throw new ServiceError('unknown_tool', `there is no tool ${name}`, { details: { field } });
    if (other !== undefined) throw twice(name, [tool.environment, other.environment], field);
    return tool;
  });
}

export function resolvedOwnTool({ name, description, input_schema, effect }: Tool): ResolvedTool {
  return { name, description, input_schema, effect, environment: OWN_ENVIRONMENT };
}

function twice(tool: string, environments: readonly [string, string], field: string): ServiceError {
  const [first, second] = environments.map((name) => (name === OWN_ENVIRONMENT ? 'this server' : `the environment ${name}`));
  return invalid(`${first} and ${second} both offer a tool ${tool}`, field);
}

function invalid(message: string, field: string): ServiceError {
  return new ServiceError('invalid_request', message, { details: { field } });
}
