/**
 * The built-in model `demo/echo`: no network, and the same answer to the same request every time. It repeats what it was
 * told, word by word, calls the tools that a message names or asks for in words, and tells what they answered.
 */
import {
  textOf,
  toolUsesOf,
  type Block,
  type JsonValue,
  type Message,
  type ToolResultBlock,
  type ToolUseBlock,
} from '../../machines/messages.ts';
import type { Usage } from '../../machines/records.ts';
import { parseToolArguments } from '../tools/tool-arguments.ts';
import { demoCallsIn } from './demo-requests.ts';
import type { ModelDelta, ModelOutcome, ModelProvider, ModelRequest } from './model-provider.ts';

export const DEMO_MODEL = { provider: 'demo', name: 'echo', protocol: 'demo' } as const;

export const demoProvider: ModelProvider = {
  call: async (request, { signal, onDelta }) => {
    const content = answerTo(request);
    for (const delta of content.flatMap(deltasOf)) {
      if (signal.aborted) return CANCELLED;
      onDelta(delta);
    }
    if (signal.aborted) return CANCELLED;
    return {
      outcome: 'ended',
      message: { role: 'assistant', content },
      finish_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_calls' : 'stop',
      usage: usageOf(request, content),
    };
  },
};

const CANCELLED: ModelOutcome = { outcome: 'cancelled', code: 'cancelled', message: 'the call was cancelled' };

function answerTo({ messages, tools }: ModelRequest): readonly Block[] {
  const told = messages.findLast(({ role }) => role === 'user');
  const text = told === undefined ? '' : textOf(told);
  const results = text === '' ? resultsIn(told) : [];
  if (results.length > 0) return [{ type: 'text', text: reportOf(messages, results) }];
  const calls = demoCallsIn(text, tools.map(({ name }) => name));
  if (calls.length === 0) return [{ type: 'text', text: `You said: ${text}` }];
  const asked = messages.flatMap(toolUsesOf).length;
  return calls.map(
    ({ tool, input_text }, index): ToolUseBlock => ({
      type: 'tool_use',
      id: `call_${asked + index + 1}`,
      name: tool,
      ...inputOf(input_text),
      input_text,
    }),
  );
}

function inputOf(text: string): { readonly input?: JsonValue } {
  const parsed = parseToolArguments(text);
  return parsed.kind === 'parsed' ? { input: parsed.value } : {};
}

function resultsIn(message: Message | undefined): readonly ToolResultBlock[] {
  return message === undefined ? [] : message.content.filter((block) => block.type === 'tool_result');
}

/** Each result in words. A result belongs to the call at its place, as ids repeat. */
function reportOf(messages: readonly Message[], results: readonly ToolResultBlock[]): string {
  const asking = messages.findLast((message) => toolUsesOf(message).length > 0);
  const calls = asking === undefined ? [] : toolUsesOf(asking);
  return results.map((result, index) => sentenceOn(calls[index]?.name ?? 'the tool', result)).join(' ');
}

function sentenceOn(tool: string, result: ToolResultBlock): string {
  const output = textOf({ role: 'user', content: result.content });
  switch (result.outcome) {
    case 'ok':
      return output === '' ? `The tool ${tool} is done.` : successOf(tool, output);
    case 'error':
      return `The tool ${tool} failed: ${sentence(output === '' ? 'it said nothing more' : output)}`;
    case 'timeout':
      return `The tool ${tool} timed out.`;
    case 'cancelled':
      return `The call of the tool ${tool} was cancelled.`;
    case 'unknown':
      return `The outcome of the tool ${tool} is unknown: it may have run.`;
  }
}

function successOf(tool: string, output: string): string {
  switch (tool) {
    case 'current_time':
      return `The time is ${output}.`;
    case 'add':
      return `The sum is ${output}.`;
    case 'wait':
      return `I ${output}.`;
    default:
      return `The tool ${tool} answered: ${sentence(output)}`;
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function deltasOf(block: Block): readonly ModelDelta[] {
  if (block.type === 'tool_use') return [{ tool_input: block.input_text }];
  if (block.type !== 'text') return [];
  return (block.text.match(/\S+\s*|\s+/g) ?? []).map((text) => ({ text }));
}

/** Words stand for tokens: what counts is that the same request costs the same. */
function usageOf({ system = '', messages }: ModelRequest, answer: readonly Block[]): Usage {
  return {
    input_tokens: wordsIn(system) + wordsOf(messages.flatMap(({ content }) => content)),
    output_tokens: wordsOf(answer),
  };
}

function wordsOf(blocks: readonly Block[]): number {
  return blocks.reduce((count, block) => count + wordsOfBlock(block), 0);
}

function wordsOfBlock(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return wordsIn(block.text);
    case 'tool_use':
      return 1 + wordsIn(block.input_text);
    case 'tool_result':
      return wordsOf(block.content);
    case 'image':
    case 'file':
      return 1;
  }
}

function wordsIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
