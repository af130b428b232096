/**
 * The loop `chat`: the model is called, the tools that it asks for are called in parallel, and so on until it asks for
 * none. The transcript is saved after each of these steps, so that a turn that is cut short leaves what it had.
 *
 *   C1. Every request is one that a strict provider accepts: each tool call answered exactly once, in the order of the
 *       calls, right after the message that asked for it; no message of the assistant without text and without a call.
 *   C2. A call with arguments that are no JSON, or of a tool that is not offered, is never sent: the model is told so.
 *   C3. Of an answer that was cut off (`length`, `content_filter`) no call is sent: nobody knows what it was to become.
 *       The answer is the turn's result all the same, and its `finish_reason` says why it ends where it does.
 *   C4. A user's message is a message of its own, even after tool results: the journal then needs no second copy of either.
 */
import { textOf, toolUsesOf, type JsonObject, type Message, type ToolUseBlock } from '../../machines/messages.ts';
import {
  closeOpenToolCalls,
  hasOpenToolCalls,
  notStarted,
  toolResultBlock,
  type ToolCallEnd,
} from '../../machines/open-tool-calls.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { FinishReason, Sequence } from '../../machines/records.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import type { AgentLoop, LoopHost, LoopModelAnswer, LoopToolAnswer, TurnInput, TurnResult } from './agent-loop.ts';

export const chatLoop: AgentLoop = { name: 'chat', turn };

async function turn(input: TurnInput, host: LoopHost): Promise<TurnResult> {
  const parameters: { readonly parameters?: JsonObject } =
    Object.keys(input.configuration).length === 0 ? {} : { parameters: input.configuration };
  let transcript: readonly Message[] = [...(await answeredTranscript(input, host)), input.message];
  await host.setTranscript(transcript);
  for (;;) {
    const answer = await host.model({ messages: transcript, ...parameters });
    if (answer.outcome !== 'ended') return withoutAnswer(answer);
    const result = { sequence: answer.sequence };
    if (isEmpty(answer.message)) return { kind: 'returned', result };
    transcript = [...transcript, answer.message];
    await host.setTranscript(transcript);
    const calls = toolUsesOf(answer.message);
    if (calls.length === 0) return { kind: 'returned', result };
    const isCutOff = isCutOffBy(answer.finish_reason);
    const ends = isCutOff ? calls.map(() => notStarted('the answer that asked for it was cut off')) : await endsOf(calls, input, host);
    transcript = [...transcript, resultsMessage(calls, ends)];
    await host.setTranscript(transcript);
    if (isCutOff) return { kind: 'returned', result };
  }
}

async function answeredTranscript(input: TurnInput, host: LoopHost): Promise<readonly Message[]> {
  if (!hasOpenToolCalls(input.transcript)) return input.transcript;
  return closeOpenToolCalls(input.transcript, await eventsAfter(host, input.checkpoint_sequence));
}

async function eventsAfter(host: LoopHost, checkpoint: Sequence): Promise<readonly PublicEvent[]> {
  const events: PublicEvent[] = [];
  let after: Sequence | null = checkpoint;
  while (after !== null) {
    const page = await host.events(after);
    events.push(...page.events);
    after = page.next;
  }
  return events;
}

/** A refused or cancelled call means that the turn is being stopped, for a reason that Brain knows better than the loop. */
function withoutAnswer(answer: Exclude<LoopModelAnswer, { readonly outcome: 'ended' }>): TurnResult {
  switch (answer.outcome) {
    case 'failed':
      return { kind: 'failed', code: 'model_error', message: answer.message };
    case 'unknown':
      return { kind: 'failed', code: 'model_unknown', message: answer.message };
    case 'cancelled':
    case 'refused':
      return { kind: 'returned' };
  }
}

/** Reasoning alone counts as nothing said: a provider takes no message of the assistant that consists of it. */
function isEmpty(message: Message): boolean {
  return textOf(message) === '' && toolUsesOf(message).length === 0;
}

function isCutOffBy(reason: FinishReason): boolean {
  switch (reason) {
    case 'length':
    case 'content_filter':
      return true;
    // Some providers say `stop` of an answer that asks for tools: what it asks for counts.
    case 'stop':
    case 'tool_calls':
      return false;
  }
}

/** How each call ended, in the order of the calls. */
async function endsOf(
  calls: readonly ToolUseBlock[],
  input: TurnInput,
  host: LoopHost,
): Promise<readonly ToolCallEnd[]> {
  const offered = new Set(input.tools.map(({ name }) => name));
  const refusals = calls.map((call) => refusalOf(call, offered));
  const sent = calls.filter((_call, index) => refusals[index] === null);
  const answers = sent.length === 0 ? [] : await host.dispatch(sent.map(asDispatched));
  const ends = new Map<ToolUseBlock, LoopToolAnswer>();
  for (const [index, call] of sent.entries()) {
    const answer = answers[index];
    if (answer !== undefined) ends.set(call, answer);
  }
  return calls.map((call, index) => refusals[index] ?? ends.get(call) ?? notStarted('the turn was over before'));
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

function resultsMessage(calls: readonly ToolUseBlock[], ends: readonly ToolCallEnd[]): Message {
  return {
    role: 'user',
    content: calls.map((call, index) => toolResultBlock(call, ends[index] ?? notStarted('the turn was over before'))),
  };
}
