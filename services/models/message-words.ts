/**
 * Messages in the words of a protocol, each put into them once: a long conversation is sent again with every call, and all
 * of it but the end is the same. What was made of a message is kept as long as the message is, which never changes.
 */
import type { Message } from '../../machines/messages.ts';

// A short conversation is written faster than its words would be worth the memory: one message takes about a microsecond.
const MESSAGES_KEPT_MIN = 32;

export type MessageWords<Words> = (messages: readonly Message[]) => readonly Words[];

/** `wordsOf` tells them by the message alone. */
export function keptWords<Words extends string | object>(wordsOf: (message: Message) => Words): MessageWords<Words> {
  const kept = new WeakMap<Message, Words>();
  const keptOf = (message: Message): Words => {
    const known = kept.get(message);
    if (known !== undefined) return known;
    const words = wordsOf(message);
    kept.set(message, words);
    return words;
  };
  return (messages) => messages.map(messages.length < MESSAGES_KEPT_MIN ? wordsOf : keptOf);
}
