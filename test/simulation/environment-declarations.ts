/** What tenants of the simulated world declare: two environments, one for each way to reach one, in ever new versions. */
import type { Declaration } from '../../services/environments/declaration.ts';

export const ENVIRONMENT_NAMES = ['web', 'mill'] as const;
export type EnvironmentName = (typeof ENVIRONMENT_NAMES)[number];

/** The tool that each offers, in every version. */
export const TOOL_OF: Readonly<Record<EnvironmentName, string>> = { web: 'fetch', mill: 'grind' };

/** The host that has the tools of `mill`; another in some versions. */
export const HOST_NAMES = ['stone', 'steel'] as const;

export function declarationOf(name: EnvironmentName, version: number): Declaration {
  const tools = [{ name: TOOL_OF[name], description: `the tool ${TOOL_OF[name]}`, input_schema: { type: 'object' }, effect: 'once', configuration: { version } }] as const;
  const configuration = { version };
  if (name === 'web') return { driver: 'http', url: `http://web-${version}.test`, configuration, tools };
  return { driver: 'host', host: HOST_NAMES[version % HOST_NAMES.length] ?? 'stone', configuration, tools };
}
