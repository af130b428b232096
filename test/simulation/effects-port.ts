/**
 * The models and tools of the simulated world: what they are asked is told to the auditor as it arrives, and waits until
 * the scheduler answers.
 */
import type { JsonValue } from '../../machines/messages.ts';
import type { ResolvedModel } from '../../machines/records.ts';
import type { ModelDelta, ModelOutcome, ModelProvider, ModelRegistry, ModelRequest } from '../../services/models/model-provider.ts';
import type { Tool, ToolContext, ToolRegistry } from '../../services/tools/tool.ts';

export interface PendingModelCall {
  readonly kind: 'model';
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  say(delta: ModelDelta): void;
  answer(outcome: ModelOutcome): void;
  fail(error: Error): void;
}

export interface PendingToolCall {
  readonly kind: 'tool';
  readonly tool: string;
  readonly input: JsonValue;
  readonly context: ToolContext;
  answer(output: JsonValue): void;
  fail(error: Error): void;
}

export type PendingEffect = PendingModelCall | PendingToolCall;

/** Told of each effect at the instant at which it leaves Brain. */
export interface EffectWatcher {
  modelCalled(request: ModelRequest): void;
  toolCalled(tool: string, input: JsonValue, context: ToolContext): void;
}

const TOOL_NAMES = ['look', 'act'] as const;

export class EffectsPort {
  readonly pending: PendingEffect[] = [];
  readonly #watcher: EffectWatcher;
  #generation = 0;

  constructor(watcher: EffectWatcher) {
    this.#watcher = watcher;
  }

  /** The ports of a process that starts now. What a process before it asked is answered by nobody. */
  boot(): { readonly models: ModelRegistry; readonly tools: ToolRegistry } {
    this.pending.length = 0;
    this.#generation += 1;
    const generation = this.#generation;
    const resolve = ({ provider, name }: { readonly provider: string; readonly name: string }): ResolvedModel => ({
      provider,
      name,
      protocol: 'scripted',
      // The server is configured anew at each start: what a session recorded must not move with that.
      base_url: `http://model-${generation}`,
    });
    const tools = new Map(TOOL_NAMES.map((name) => [name, this.#tool(name)]));
    return {
      models: { resolve, provider: () => this.#provider() },
      tools: { demoTools: [], find: (_tenant, name) => tools.get(name as (typeof TOOL_NAMES)[number]) ?? null },
    };
  }

  remove(effect: PendingEffect): void {
    const index = this.pending.indexOf(effect);
    if (index !== -1) this.pending.splice(index, 1);
  }

  #provider(): ModelProvider {
    return {
      call: (request, { signal, onDelta }) =>
        new Promise<ModelOutcome>((answer, fail) => {
          this.pending.push({ kind: 'model', request, signal, say: onDelta, answer, fail });
          this.#watcher.modelCalled(request);
        }),
    };
  }

  #tool(name: string): Tool {
    return {
      name,
      description: `the tool ${name}`,
      input_schema: { type: 'object' },
      effect: 'once',
      run: (input, context) =>
        new Promise<JsonValue>((answer, fail) => {
          this.pending.push({ kind: 'tool', tool: name, input, context, answer, fail });
          this.#watcher.toolCalled(name, input, context);
        }),
    };
  }
}
