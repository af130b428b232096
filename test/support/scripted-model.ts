/** A model in the test's own process: each call is answered by a script, or waits for the test. */
import type { Message, ToolUseBlock } from '../../machines/messages.ts';
import type { ResolvedModel } from '../../machines/records.ts';
import type { ModelDelta, ModelOutcome, ModelProvider, ModelRegistry, ModelRequest } from '../../services/models/model-provider.ts';
import { Arrivals } from './arrivals.ts';

export interface ScriptedModelCall {
  readonly request: ModelRequest;
  /** The session's own, in place of the server's key. */
  readonly credential: string | undefined;
  readonly signal: AbortSignal;
  say(delta: ModelDelta): void;
  answer(outcome: ModelOutcome): void;
}

/** Answers at once, or `waits` for the test to answer, or for its signal; a `deaf` one waits for the test alone. */
export type ModelScriptInProcess = (call: ScriptedModelCall, index: number) => ModelOutcome | 'waits' | 'deaf';

const CANCELLED: ModelOutcome = { outcome: 'cancelled', code: 'cancelled', message: 'the connection was closed' };

export class ScriptedModel implements ModelRegistry {
  readonly calls = new Arrivals<ScriptedModelCall>('model calls');
  script: ModelScriptInProcess;

  constructor(script: ModelScriptInProcess = () => saying('hello')) {
    this.script = script;
  }

  resolve({ provider, name }: { readonly provider: string; readonly name: string }): ResolvedModel | null {
    return { provider, name, protocol: 'scripted' };
  }

  provider(_model?: ResolvedModel, credential?: string): ModelProvider {
    return {
      call: (request, { signal, onDelta }) =>
        new Promise<ModelOutcome>((resolve) => {
          const call: ScriptedModelCall = { request, credential, signal, say: onDelta, answer: resolve };
          const index = this.calls.all.length;
          this.calls.add(call);
          const outcome = this.script(call, index);
          if (outcome === 'waits') signal.addEventListener('abort', () => resolve(CANCELLED), { once: true });
          else if (outcome !== 'deaf') resolve(outcome);
        }),
    };
  }
}

export function saying(text: string): ModelOutcome {
  return { outcome: 'ended', message: { role: 'assistant', content: [{ type: 'text', text }] }, finish_reason: 'stop' };
}

/** An answer that asks for tools, one call each. */
export function calling(...calls: readonly { readonly tool: string; readonly input?: Readonly<Record<string, string>> }[]): ModelOutcome {
  const content = calls.map(({ tool, input = {} }, index): ToolUseBlock => ({
    type: 'tool_use',
    id: `call_${index}`,
    name: tool,
    input,
    input_text: JSON.stringify(input),
  }));
  const message: Message = { role: 'assistant', content };
  return { outcome: 'ended', message, finish_reason: 'tool_calls' };
}
