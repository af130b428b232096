/** What a loop makes of the answer to a model call. */
import { textOf, toolUsesOf, type JsonObject, type Message } from '../../machines/messages.ts';
import type { LoopModelAnswer, LoopModelRequest, TurnInput, TurnResult } from './agent-loop.ts';

/** An answer that is there, whole. */
export type ModelAnswer = Extract<LoopModelAnswer, { readonly outcome: 'ended' }>;

/** The request with the parameters that the session is configured with. */
export function requestWith(messages: readonly Message[], { configuration }: TurnInput): LoopModelRequest {
  const parameters: { readonly parameters?: JsonObject } =
    Object.keys(configuration).length === 0 ? {} : { parameters: configuration };
  return { messages, ...parameters };
}

/** How a turn ends whose model call has no answer. */
export function resultWithoutAnswer(answer: Exclude<LoopModelAnswer, ModelAnswer>): TurnResult {
  switch (answer.outcome) {
    case 'failed':
      return { kind: 'failed', code: 'model_error', message: answer.message };
    case 'unknown':
      return { kind: 'failed', code: 'model_unknown', message: answer.message };
    // The turn is being stopped, for a reason that Brain knows better than the loop.
    case 'cancelled':
    case 'refused':
      return { kind: 'returned' };
  }
}

/** Reasoning alone counts as nothing said: a provider takes no message of the assistant that consists of it. */
export function isEmpty(message: Message): boolean {
  return textOf(message) === '' && toolUsesOf(message).length === 0;
}

export function isCutOff({ finish_reason }: ModelAnswer): boolean {
  switch (finish_reason) {
    case 'length':
    case 'content_filter':
      return true;
    // Some providers say `stop` of an answer that asks for tools: what it asks for counts.
    case 'stop':
    case 'tool_calls':
      return false;
  }
}
