import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/messages.ts';
import { keptWords } from '../../../../services/models/message-words.ts';
import { anthropic } from '../../../../services/models/anthropic-provider.ts';
import { openAiChat } from '../../../../services/models/openai-chat-provider.ts';
import { openAiResponses } from '../../../../services/models/openai-responses-provider.ts';
import { anyConversation } from './conversations.ts';
import { requestTo } from './provider-stage.ts';

describe.each([
  { name: 'openai-chat', clientOf: openAiChat },
  { name: 'openai-responses', clientOf: openAiResponses },
  { name: 'anthropic', clientOf: anthropic },
])('the words of messages over $name', ({ name, clientOf }) => {
  it('are the same whatever was sent before: one conversation that grows, and others with the same messages', () => {
    fc.assert(
      fc.property(fc.array(anyConversation, { minLength: 40, maxLength: 60 }), fc.nat({ max: 30 }), (conversations, start) => {
        const messages = conversations.flat();
        const used = clientOf();
        const bodyOf = (client: typeof used, said: readonly Message[]) => client.body(requestTo('http://a.test/v1', { messages: said }, name));

        for (const said of [messages.slice(0, -3), messages, messages.slice(start), messages]) expect(bodyOf(used, said)).toBe(bodyOf(clientOf(), said));
      }),
      { numRuns: 30 },
    );
  });
});

describe('kept words', () => {
  it('are made once for each message of a long conversation', () => {
    let count = 0;
    const words = keptWords(({ role }) => `${role} ${(count += 1)}`);
    const messages = Array.from({ length: 100 }, (): Message => ({ role: 'user', content: [] }));

    const first = words(messages);
    const more = words([...messages, { role: 'assistant', content: [] }]);

    expect(more).toEqual([...first, 'assistant 101']);
  });
});
