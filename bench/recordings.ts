/**
 * Recorded conversations of an airline's agent, as turns: what the user said, and what the model and the tools answered.
 * They are not part of the project, but lie in a folder of whoever has them.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The text of the arguments. */
  readonly arguments: string;
  readonly output: string;
}

/** One answer of the model, with what each tool call of it gave. */
export interface Step {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

export interface Turn {
  readonly input: string;
  readonly steps: readonly Step[];
}

export interface Conversation {
  readonly turns: readonly Turn[];
}

export interface Recording extends Conversation {
  readonly id: string;
}

export interface Recordings {
  readonly system: string;
  readonly conversations: readonly Recording[];
}

/** What the model says where a recording breaks off after a tool's result. */
const END_OF_RECORDING = '(end)';

const recording = z.object({
  id: z.string(),
  messages: z.array(
    z.discriminatedUnion('role', [
      z.object({ role: z.literal('user'), content: z.string() }),
      z.object({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        tool_calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).optional(),
      }),
      z.object({ role: z.literal('tool'), content: z.string(), tool_call_id: z.string(), name: z.string() }),
    ]),
  ),
});

/** Null where the folder has none. */
export function readRecordings(folder: string): Recordings | null {
  const file = path.join(folder, 'airline-conversations.jsonl');
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
  return {
    system: readFileSync(path.join(folder, 'airline-system-prompt.txt'), 'utf8'),
    conversations: lines.map((line) => conversationOf(recording.parse(JSON.parse(line)))),
  };
}

/** The names of all tools that they call. */
export function toolNamesOf(conversations: readonly Conversation[]): readonly string[] {
  const steps = conversations.flatMap(({ turns }) => turns.flatMap((turn) => turn.steps));
  return [...new Set(steps.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)))];
}

/** What the turn says, as text: the measure for what it may cost on the disk. */
export function textsOf(turn: Turn): readonly string[] {
  return [
    turn.input,
    ...turn.steps.flatMap(({ text, toolCalls }) => [
      text,
      ...toolCalls.flatMap(({ name, arguments: input, output }) => [name, input, output]),
    ]),
  ];
}

function conversationOf({ id, messages }: z.infer<typeof recording>): Recording {
  const turns: { readonly input: string; readonly steps: Step[] }[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      turns.push({ input: message.content, steps: [] });
    } else if (message.role === 'assistant') {
      const toolCalls = (message.tool_calls ?? []).map((call, offset) => {
        const result = messages[index + 1 + offset];
        if (result?.role !== 'tool' || result.tool_call_id !== call.id) throw new Error(`${id}: message ${index} has no result`);
        return { ...call, output: result.content };
      });
      turns.at(-1)?.steps.push({ text: message.content ?? '', toolCalls });
    }
  }
  const answered = turns.filter(({ steps }) => steps.length > 0);
  const last = answered.at(-1)?.steps;
  if (last !== undefined && (last.at(-1)?.toolCalls.length ?? 0) > 0) last.push({ text: END_OF_RECORDING, toolCalls: [] });
  return { id, turns: answered };
}
