/**
 * What a message asks for, written into its own text: the model and the tools outside of the server act on it, so that
 * what happens depends on the message and on nothing that a death takes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { calls, says, type ModelAnswer, type ModelCall } from '../support/openai-server.ts';
import type { RemoteTool, ToolCall } from '../support/tool-server.ts';
import { hashOf, type SeededRandom } from './seeded-random.ts';

export interface MessagePlan {
  /** No two messages have the same. */
  readonly token: string;
  /** How often the model calls tools before it answers. */
  readonly rounds: number;
  readonly toolsPerRound: number;
  readonly modelMsMax: number;
  readonly toolMsMax: number;
  readonly filler: string;
}

export const TOOLS: readonly RemoteTool[] = [{ name: 'quick' }, { name: 'slow' }, { name: 'fails' }, { name: 'stubborn', ignoresCancellation: true }];

export function drawPlan(token: string, random: SeededRandom): MessagePlan {
  return {
    token,
    rounds: random.pick([0, 0, 1, 1, 2, 3]) ?? 0,
    toolsPerRound: 1 + random.below(3),
    modelMsMax: random.pick([0, 10, 60, 400]) ?? 0,
    toolMsMax: random.pick([0, 10, 60, 400]) ?? 0,
    filler: 'x'.repeat(random.pick([0, 0, 200, 3000, 40_000]) ?? 0),
  };
}

/** The last plan in a text; null where it holds none. */
export function planIn(text: string): MessagePlan | null {
  const found = /\{"token":[^{}]*\}(?![\s\S]*\{"token":)/.exec(text);
  return found === null ? null : (JSON.parse(found[0]) as MessagePlan);
}

/** A request as the model got it: which message it answers, and how far that has come. */
export function readModelCall({ request }: ModelCall): { readonly plan: MessagePlan; readonly round: number; readonly messageCount: number } {
  const { messages } = request;
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const plan = planIn(textOf(messages[at]?.content));
  if (plan === null) throw new Error('a request without a message of the torture');
  return { plan, round: messages.slice(at).filter(({ role }) => role === 'assistant').length, messageCount: messages.length };
}

export async function answerOf(call: ModelCall): Promise<ModelAnswer> {
  const { plan, round } = readModelCall(call);
  const offered = call.request.tools ?? [];
  const drawn = hashOf(`${plan.token} ${round}`);
  const wait = delay(drawn % (plan.modelMsMax + 1));
  if (drawn % 29 === 0) return { parts: [{ text: 'And then ' }, { wait }, { cut: true }] };
  if (drawn % 31 === 0) return { status: 500, message: 'the model is not well' };
  if (round < plan.rounds) {
    await wait;
    return calls(
      ...Array.from({ length: plan.toolsPerRound }, (_, index) => ({
        id: `call_${round}_${index}`,
        name: offered[(drawn + index) % offered.length]?.function.name ?? 'quick',
        arguments: JSON.stringify({ token: plan.token, round, index, ms: (drawn >>> 8) % (plan.toolMsMax + 1) }),
      })),
    );
  }
  if (drawn % 2 === 0) await wait;
  const text = `${plan.token} is done. ${'And so on. '.repeat(drawn % 60)}`;
  return drawn % 2 === 0 ? says(text) : { parts: [{ text: text.slice(0, 12) }, { wait }, { text: text.slice(12) }] };
}

export async function workOf({ tool, input }: ToolCall): Promise<unknown> {
  const { ms = 0 } = input as { readonly ms?: number };
  if (tool !== 'quick') await delay(ms);
  if (tool === 'fails') throw new Error('this tool fails');
  return { done: tool };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content).replaceAll('\\"', '"');
}
