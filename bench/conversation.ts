/**
 * The conversation whose journal is weighed: recorded ones of an airline's agent, where the folder is there that
 * `BRAIN_TEST_DATA` names, else a short one that is made up here.
 */
import { readRecordings, textsOf, toolNamesOf, type Conversation } from './recordings.ts';

export interface Conversations {
  readonly source: string;
  readonly system: string;
  readonly conversations: readonly Conversation[];
}

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

export const CONVERSATIONS = readConversations(process.env['BRAIN_TEST_DATA'] ?? '../shared/data');

export const RECORDED_TOOLS = toolNamesOf(CONVERSATIONS.conversations);

/** What is said in it, in bytes of UTF-8: the measure for what it may cost on the disk. */
export function spokenBytes({ turns }: Conversation): number {
  return turns.flatMap(textsOf).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function readConversations(folder: string): Conversations {
  const recorded = readRecordings(folder);
  return recorded === null ? MADE_UP : { source: 'recorded conversations of an airline’s agent', ...recorded };
}
