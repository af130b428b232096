/**
 * Brain's messages as pi's loop holds them, and back.
 *
 *   P1. `fromPi(toPi(messages))` is `messages`, whatever they hold. pi sees what its types can say; what they cannot
 *       (signatures, the exact text of arguments, addresses of files, which results came in one message) rides along.
 *   P2. pi finds a call by its id, and a provider's ids repeat. So pi's id of a call is its place in the answer, a colon
 *       and the provider's id.
 */
import type { AssistantMessage, Message as PiMessage, TextContent, ToolResultMessage, UserMessage } from '@mariozechner/pi-ai';
import {
  textBlocks,
  toolUsesOf,
  type Block,
  type ContentBlock,
  type Message,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../machines/messages.ts';
import type { FinishReason } from '../../machines/records.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import type { LoopModelAnswer } from './agent-loop.ts';
import { isEmpty } from './model-answer.ts';

/** What rides along: the message that this one stands for, or null where it adds nothing to what stands before it. */
interface Carrier {
  readonly brain: Message | null;
}

export function toPi(messages: readonly Message[]): readonly PiMessage[] {
  const found: PiMessage[] = [];
  let calls: readonly ToolUseBlock[] = [];
  let answered = 0;
  for (const message of messages) {
    if (message.role === 'assistant') {
      calls = toolUsesOf(message);
      answered = 0;
      found.push(assistantMessage(message, calls.length === 0 ? 'stop' : 'toolUse', message));
      continue;
    }
    // The first piece stands for the whole message.
    let brain: Message | null = message;
    for (const block of message.content) {
      if (block.type !== 'tool_result') continue;
      found.push(resultMessage(block, answered, calls, brain));
      answered += 1;
      brain = null;
    }
    const said = message.content.filter(isContent);
    if (brain !== null || said.length > 0) found.push(userMessage(said, brain));
  }
  return found;
}

/** The messages that pi's stand for. What pi keeps of a call of a model without an answer stands for none. */
export function fromPi(messages: readonly PiMessage[]): readonly Message[] {
  const found: Message[] = [];
  let results: readonly ToolResultBlock[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined) continue;
    if (isCarrier(message)) {
      if (message.brain !== null) found.push(message.brain);
    } else if (message.role === 'toolResult') {
      results = [...results, resultBlockOf(message)];
      const next = messages[index + 1];
      if (next?.role === 'toolResult' && !isCarrier(next)) continue;
      found.push({ role: 'user', content: results });
      results = [];
    }
  }
  return found;
}

/** A model's answer, as pi takes it. */
export function answerToPi(answer: LoopModelAnswer): AssistantMessage {
  switch (answer.outcome) {
    case 'ended':
      return assistantMessage(answer.message, STOP_REASONS[answer.finish_reason], isEmpty(answer.message) ? null : answer.message);
    case 'failed':
    case 'unknown':
      return { role: 'assistant', content: [], stopReason: 'error', errorMessage: answer.message };
    case 'cancelled':
    case 'refused':
      return { role: 'assistant', content: [], stopReason: 'aborted', errorMessage: answer.message };
  }
}

/** How a call ended, as pi takes it from a tool. That it was an error is in `details`, and read back from there. */
export function resultToPi(block: ToolResultBlock) {
  return { content: textsOf(block.content), details: block };
}

/** The place in its answer of the call that pi names so. */
export function placeOfCall(piId: string): number {
  return Number(piId.slice(0, piId.indexOf(':')));
}

function piIdOf(place: number, id: string): string {
  return `${place}:${id}`;
}

function providerIdOf(piId: string): string {
  return piId.slice(piId.indexOf(':') + 1);
}

function isCarrier(message: PiMessage): message is PiMessage & Carrier {
  return 'brain' in message;
}

const STOP_REASONS: Readonly<Record<FinishReason, AssistantMessage['stopReason']>> = {
  stop: 'stop',
  tool_calls: 'toolUse',
  // pi has one word for an answer that was cut off.
  length: 'length',
  content_filter: 'length',
};

function assistantMessage(message: Message, stopReason: AssistantMessage['stopReason'], brain: Message | null): AssistantMessage & Carrier {
  const content: AssistantMessage['content'][number][] = [];
  let place = 0;
  for (const block of message.content) {
    switch (block.type) {
      case 'text':
        content.push({ type: 'text', text: block.text });
        break;
      case 'reasoning':
        content.push({ type: 'thinking', thinking: block.text });
        break;
      case 'tool_use':
        content.push({ type: 'toolCall', id: piIdOf(place, block.id), name: block.name, arguments: argumentsOf(block) });
        place += 1;
        break;
      default:
    }
  }
  return { role: 'assistant', content, stopReason, brain };
}

function userMessage(said: readonly ContentBlock[], brain: Message | null): UserMessage & Carrier {
  return { role: 'user', content: textsOf(said), brain };
}

/** What is no JSON is never repaired: pi is told of no arguments, and the call is refused where it would be sent. */
function argumentsOf({ input_text }: ToolUseBlock): unknown {
  const parsed = parseToolArguments(input_text);
  return parsed.kind === 'parsed' ? parsed.value : {};
}

function resultMessage(block: ToolResultBlock, place: number, calls: readonly ToolUseBlock[], brain: Message | null): ToolResultMessage & Carrier {
  return {
    role: 'toolResult',
    toolCallId: piIdOf(place, block.tool_use_id),
    toolName: calls[place]?.name ?? '',
    isError: block.is_error,
    ...resultToPi(block),
    brain,
  };
}

function isContent(block: Block): block is ContentBlock {
  return block.type === 'text' || block.type === 'image' || block.type === 'file';
}

function textsOf(content: readonly ContentBlock[]): TextContent[] {
  const texts: TextContent[] = [];
  for (const block of content) if (block.type === 'text') texts.push({ type: 'text', text: block.text });
  return texts;
}

/** pi itself answers a call of a tool that is not there. */
function resultBlockOf({ toolCallId, content, details, isError }: ToolResultMessage): ToolResultBlock {
  if (isResultBlock(details)) return details;
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const tool_use_id = providerIdOf(toolCallId);
  return { type: 'tool_result', tool_use_id, content: textBlocks(text), is_error: isError, outcome: isError ? 'error' : 'ok' };
}

function isResultBlock(details: unknown): details is ToolResultBlock {
  return typeof details === 'object' && details !== null && 'type' in details && details.type === 'tool_result';
}
