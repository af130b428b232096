/** The agent loops of this server by name, each with the check of what a session may configure for it. */
import type { JsonObject } from '../../machines/messages.ts';
import type { AgentLoop } from './agent-loop.ts';
import { chatLoop } from './chat.ts';
import { modelSettingsProblem, type ConfigurationProblem } from './model-settings.ts';
import { piLoop } from './pi.ts';
import { loadRunAgentLoop } from './pi-library.ts';

export interface RegisteredLoop {
  readonly loop: AgentLoop;
  /** What is wrong with a configuration; null where nothing is. Asked once, at create. */
  configurationProblem(configuration: JsonObject): ConfigurationProblem | null;
}

export interface LoopRegistry {
  find(name: string): RegisteredLoop | null;
}

const LOOPS: ReadonlyMap<string, RegisteredLoop> = new Map(
  [chatLoop, piLoop(loadRunAgentLoop)].map((loop) => [
    loop.name,
    { loop, configurationProblem: (configuration) => modelSettingsProblem(loop.name, configuration) },
  ]),
);

export const loopRegistry: LoopRegistry = { find: (name) => LOOPS.get(name) ?? null };
