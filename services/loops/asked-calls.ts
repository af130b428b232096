/**
 * The tool calls that a model's answer asks for, and their results.
 *
 *   K1. A call with arguments that are no JSON, or of a tool that is not offered, is never sent: the model is told so.
 *   K2. Of an answer that was cut off (`length`, `content_filter`) no call is sent: nobody knows what it was to become.
 *   K3. The calls that are sent go in one dispatch.
 */
import { toolUsesOf, type ToolResultBlock, type ToolUseBlock } from '../../machines/messages.ts';
import { notStarted, toolResultBlock, type ToolCallEnd } from '../../machines/open-tool-calls.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import type { LoopHost, LoopToolAnswer, TurnInput } from './agent-loop.ts';
import { isCutOff, type ModelAnswer } from './model-answer.ts';

/** Makes the calls of an answer, and gives their results as the model is told them, in the order of the calls. */
export async function resultsOfCalls(answer: ModelAnswer, input: TurnInput, host: LoopHost): Promise<readonly ToolResultBlock[]> {
  const calls = toolUsesOf(answer.message);
  if (isCutOff(answer)) return calls.map((call) => toolResultBlock(call, notStarted('the answer that asked for it was cut off')));
  const offered = new Set(input.tools.map(({ name }) => name));
  const refusals = calls.map((call) => refusalOf(call, offered));
  const sent = calls.filter((_call, index) => refusals[index] === null);
  const answers = sent.length === 0 ? [] : await host.dispatch(sent.map(asDispatched));
  const ends = new Map<ToolUseBlock, LoopToolAnswer>();
  for (const [index, call] of sent.entries()) {
    const end = answers[index];
    if (end !== undefined) ends.set(call, end);
  }
  return calls.map((call, index) => toolResultBlock(call, refusals[index] ?? ends.get(call) ?? notStarted('the turn was over before')));
}

function asDispatched({ name, id, input_text }: ToolUseBlock) {
  return { tool: name, tool_use_id: id, input_text };
}

/** Why a call is not sent, as the model is told; null where it is. */
function refusalOf({ name, input_text }: ToolUseBlock, offered: ReadonlySet<string>): ToolCallEnd | null {
  if (!offered.has(name)) {
    return { outcome: 'error', output: `This call was not started: there is no tool named ${name}.`, is_error: true };
  }
  const parsed = parseToolArguments(input_text);
  if (parsed.kind === 'parsed') return null;
  return { outcome: 'error', output: `This call was not started: ${parsed.reason}.`, is_error: true };
}
