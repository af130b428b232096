/** Tools in the test's own process: each call is answered by a script, or waits for the test. */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import type { Tool, ToolContext, ToolRegistry } from '../../services/tools/tool.ts';
import { Arrivals } from './arrivals.ts';

export interface ScriptedToolCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly context: ToolContext;
  answer(output: JsonValue): void;
  fail(error: Error): void;
}

/** Answers at once, or `waits`: then the test answers. */
export type ToolScriptInProcess = (call: ScriptedToolCall) => Promise<JsonValue> | JsonValue;

export const WAITS: JsonValue = 'waits for the test to answer';

export class ScriptedTools implements ToolRegistry {
  readonly calls = new Arrivals<ScriptedToolCall>('tool calls');
  readonly demoTools: readonly Tool[] = [];
  script: ToolScriptInProcess;
  readonly #tools: ReadonlyMap<string, Tool>;

  /** `schemas`: of the inputs, where they say more than that they are objects. */
  constructor(names: readonly string[], script: ToolScriptInProcess = () => 'done', schemas: Readonly<Record<string, JsonObject>> = {}) {
    this.#tools = new Map(names.map((name) => [name, this.#tool(name, schemas[name] ?? { type: 'object' })]));
    this.script = script;
  }

  find(_tenant: string, name: string): Tool | null {
    return this.#tools.get(name) ?? null;
  }

  #tool(name: string, input_schema: JsonObject): Tool {
    return {
      name,
      description: `the tool ${name}`,
      input_schema,
      effect: 'once',
      run: (input, context) =>
        new Promise<JsonValue>((resolve, reject) => {
          const call: ScriptedToolCall = { tool: name, input, context, answer: resolve, fail: reject };
          this.calls.add(call);
          void Promise.resolve(this.script(call)).then((output) => {
            if (output !== WAITS) resolve(output);
          }, reject);
        }),
    };
  }
}

/** Stops as soon as it is told to, as a well-behaved tool does. */
export function untilAborted({ context }: ScriptedToolCall): Promise<JsonValue> {
  return new Promise((_resolve, reject) => {
    context.signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}
