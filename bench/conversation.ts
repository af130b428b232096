/**
 * The conversation whose journal is weighed: recorded ones of an airline's agent, where `BRAIN_TEST_DATA` names the folder
 * that has them, else a short one that is made up here.
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

export interface Conversations {
  readonly source: string;
  readonly system: string;
  readonly conversations: readonly Conversation[];
}

const recording = z.object({
  messages: z.array(
    z.object({
      role: z.enum(['user', 'assistant', 'tool']),
      content: z.string().nullable(),
      tool_calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })).optional(),
    }),
  ),
});

const ORDER = { id: 'call_1', name: 'find_order', arguments: '{"order":"K-20417"}', output: '{"order":"K-20417","items":[{"article":"desk lamp, brass","count":1,"price":79}],"status":"delivered","delivered_on":"2026-03-02"}' };
const REFUND = { id: 'call_2', name: 'refund_order', arguments: '{"order":"K-20417","reason":"arrived broken"}', output: '{"refund":"R-5512","amount":79,"to":"the card that paid","days":5}' };
const MADE_UP: Conversations = {
  source: 'a conversation that is made up',
  system: 'You help the customers of a shop for lamps. Look an order up before you say anything of it, and ask before you refund one.',
  conversations: [
    {
      turns: [
        { input: 'Hello. The lamp that I ordered came with a broken shade. What can you do?', steps: [{ text: 'I am sorry to hear that. Please tell me the number of your order, and I will look it up.', toolCalls: [] }] },
        { input: 'It is K-20417.', steps: [{ text: '', toolCalls: [ORDER] }, { text: 'I have found it: one desk lamp in brass, delivered on the second of March. I can refund the 79 to the card that paid. Shall I?', toolCalls: [] }] },
        { input: 'Yes, please.', steps: [{ text: '', toolCalls: [REFUND] }, { text: 'Done. The refund is R-5512, and the money is with you in about five days. Keep the lamp, or recycle it, as you like.', toolCalls: [] }] },
      ],
    },
  ],
};

export const CONVERSATIONS = readConversations(process.env['BRAIN_TEST_DATA']);

export const RECORDED_TOOLS: readonly string[] = [
  ...new Set(CONVERSATIONS.conversations.flatMap(({ turns }) => turns.flatMap(({ steps }) => steps.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name))))),
];

/** What is said in it, in bytes of UTF-8: the measure for what it may cost on the disk. */
export function spokenBytes({ turns }: Conversation): number {
  const texts = turns.flatMap(({ input, steps }) => [
    input,
    ...steps.flatMap(({ text, toolCalls }) => [text, ...toolCalls.flatMap((call) => [call.name, call.arguments, call.output])]),
  ]);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function readConversations(folder: string | undefined): Conversations {
  const file = folder === undefined ? undefined : path.join(folder, 'airline-conversations.jsonl');
  if (folder === undefined || file === undefined || !existsSync(file)) return MADE_UP;
  const lines = readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');
  return {
    source: 'recorded conversations of an airline’s agent',
    system: readFileSync(path.join(folder, 'airline-system-prompt.txt'), 'utf8'),
    conversations: lines.map((line) => conversationOf(recording.parse(JSON.parse(line)))),
  };
}

function conversationOf({ messages }: z.infer<typeof recording>): Conversation {
  const turns: { readonly input: string; readonly steps: Step[] }[] = [];
  for (const [index, { role, content, tool_calls = [] }] of messages.entries()) {
    if (role === 'user') turns.push({ input: content ?? '', steps: [] });
    if (role !== 'assistant') continue;
    const toolCalls = tool_calls.map((call, offset) => ({ ...call, output: messages[index + 1 + offset]?.content ?? '' }));
    turns.at(-1)?.steps.push({ text: content ?? '', toolCalls });
  }
  // A recording may break off after a tool's result, where a model would go on.
  const last = turns.at(-1)?.steps;
  if ((last?.at(-1)?.toolCalls.length ?? 0) > 0) last?.push({ text: '(end)', toolCalls: [] });
  return { turns: turns.filter(({ steps }) => steps.length > 0) };
}
