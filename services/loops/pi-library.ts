/** Where pi's loop is loaded, on its first use: a server whose sessions all run another never does. */
import type { runAgentLoop } from './pi-agent-core.ts';

export type RunAgentLoop = typeof runAgentLoop;
export type LoadRunAgentLoop = () => Promise<RunAgentLoop>;

export const loadRunAgentLoop: LoadRunAgentLoop = async () => (await import('./pi-agent-core.ts')).runAgentLoop;
