/**
 * The tools of this server: the demo's own, for everybody, and the operator's, for the tenants that each of them names. A
 * file that takes a name of the demo's is refused at start: were it to win, sessions that recorded the demo's tool would
 * call another one after the next start.
 */
import type { Tool, ToolRegistry } from './tool.ts';

export function serverTools(tools: { readonly demo: readonly Tool[]; readonly file: readonly Tool[] }): ToolRegistry {
  const byName = new Map([...tools.file, ...tools.demo].map((tool) => [tool.name, tool]));
  return {
    demoTools: tools.demo,
    find: (tenant, name) => {
      const tool = byName.get(name);
      if (tool === undefined) return null;
      return tool.tenants === undefined || tool.tenants.includes(tenant) ? tool : null;
    },
  };
}
