/**
 * Recorded conversations of an airline's agent, as turns: what the user said, and what the model and the tools answered.
 * They are not part of the project; `BRAIN_TEST_DATA` names the folder that has them.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TranscriptMessage } from './brain-api.ts';
import type { ScriptedToolCall } from './openai-server.ts';

const DATA_FOLDER = path.resolve(process.env['BRAIN_TEST_DATA'] ?? '../shared/data');
const CONVERSATIONS_FILE = path.join(DATA_FOLDER, 'airline-conversations.jsonl');
const SYSTEM_PROMPT_FILE = path.join(DATA_FOLDER, 'airline-system-prompt.txt');

/** What the scripted model says where a recording breaks off after a tool's result. */
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

/** One answer of the model, with what each tool call of it gave. */
export interface Step {
  readonly text: string;
  readonly toolCalls: readonly (ScriptedToolCall & { readonly output: string })[];
}

export interface Turn {
  readonly input: string;
  readonly steps: readonly Step[];
}

export interface Conversation {
  readonly id: string;
  readonly turns: readonly Turn[];
}

export interface Airline {
  readonly systemPrompt: string;
  readonly conversations: readonly Conversation[];
  readonly toolNames: readonly string[];
}

/** Null where the recordings are not there, which is then said. */
export function readAirline(): Airline | null {
  if (!existsSync(CONVERSATIONS_FILE)) {
    console.warn(`skipped: no recorded conversations in ${DATA_FOLDER} (BRAIN_TEST_DATA)`);
    return null;
  }
  const lines = readFileSync(CONVERSATIONS_FILE, 'utf8').split('\n').filter((line) => line !== '');
  const conversations = lines.map((line) => conversationOf(recording.parse(JSON.parse(line))));
  const steps = conversations.flatMap(({ turns }) => turns.flatMap((turn) => turn.steps));
  return {
    systemPrompt: readFileSync(SYSTEM_PROMPT_FILE, 'utf8'),
    conversations,
    toolNames: [...new Set(steps.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)))],
  };
}

/** A turn as the transcript has it. */
export function transcriptOf(turn: Turn): readonly TranscriptMessage[] {
  return [{ role: 'user', content: textBlocks(turn.input) }, ...turn.steps.flatMap((step) => messagesOf(step))];
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

function messagesOf({ text, toolCalls }: Step): readonly TranscriptMessage[] {
  const uses = toolCalls.map(({ id, name, arguments: input_text }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(input_text) as unknown,
    input_text,
  }));
  const said: TranscriptMessage = { role: 'assistant', content: [...textBlocks(text), ...uses] };
  if (toolCalls.length === 0) return [said];
  const results = toolCalls.map(({ id, output }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: textBlocks(output),
    is_error: false,
    outcome: 'ok',
  }));
  return [said, { role: 'user', content: results }];
}

function textBlocks(text: string): readonly { readonly type: 'text'; readonly text: string }[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function conversationOf({ id, messages }: z.infer<typeof recording>): Conversation {
  const turns: { input: string; steps: { text: string; toolCalls: (ScriptedToolCall & { output: string })[] }[] }[] = [];
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
