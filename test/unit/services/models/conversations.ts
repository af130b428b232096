/** Conversations as a loop can come to have them, in order: what a strict provider must accept. */
import fc from 'fast-check';
import type { Block, ContentBlock, Message } from '../../../../machines/messages.ts';
import { closeOpenToolCalls } from '../../../../machines/open-tool-calls.ts';

const words = fc.constantFrom('a', 'b\n', '', ' ', '\n\n', '你🦀');
const image: ContentBlock = { type: 'image', url: 'data:image/png;base64,AAAA', media_type: 'image/png' };
const content: fc.Arbitrary<ContentBlock> = fc.oneof(words.map((text): ContentBlock => ({ type: 'text', text })), fc.constant(image));

export const argumentText: fc.Arbitrary<string> = fc.oneof(
  fc.json(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '{}', ' { "a" : 1.0 }\n', '{"a":2,"b":', '{"b":1,"a":"\\u00e9🦀"}', 'null', '[1]', '{"__proto__":{"a":1}}', '1e2', '{"a":"\\ud83e"}', '{"n":12345678901234567890}'),
);

const reasoning: fc.Arbitrary<Block> = fc
  .constantFrom(
    undefined,
    null,
    { signature: 'c2ln' },
    { redacted_data: 'ZW5j' },
    { field: 'reasoning' },
    { item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'eA' } },
    { item: { type: 'reasoning', id: 'rs_1', summary: [] } },
  )
  .chain((provider) => words.map((text): Block => ({ type: 'reasoning', text, ...(provider === undefined ? {} : { provider }) })));

const use: fc.Arbitrary<Block> = fc.record({
  type: fc.constant('tool_use' as const),
  id: fc.constantFrom('x', 'y', 'functions.add:0', '', 'z'.repeat(90)),
  name: fc.constantFrom('add', 'a b', '', '名', 'n'.repeat(90)),
  input_text: argumentText,
});

const said: fc.Arbitrary<Block> = fc.oneof(
  words.map((text): Block => ({ type: 'text', text })),
  fc.constantFrom<Block>(
    { type: 'text', text: 'with its id', provider: { id: 'msg_1', phase: 'final_answer' } },
    { type: 'text', text: 'no', provider: { id: 'msg_1', refusal: true } },
  ),
);

const message: fc.Arbitrary<Message> = fc.oneof(
  fc.array(content, { maxLength: 3 }).map((blocks): Message => ({ role: 'user', content: blocks })),
  fc.array(fc.oneof(reasoning, said, use), { maxLength: 5 }).map((blocks): Message => ({ role: 'assistant', content: blocks })),
);

/** Every call has its result, and some of the results are errors, or say nothing, or both. */
export const anyConversation: fc.Arbitrary<readonly Message[]> = fc
  .tuple(fc.array(message, { maxLength: 6 }), fc.array(fc.tuple(fc.array(content, { maxLength: 2 }), fc.boolean()), { maxLength: 8 }))
  .map(([messages, ends]) => {
    const left = [...ends];
    return closeOpenToolCalls(messages, []).map(({ role, content: blocks }): Message => ({
      role,
      content: blocks.map((block): Block => {
        const end = block.type === 'tool_result' ? left.shift() : undefined;
        if (block.type !== 'tool_result' || end === undefined) return block;
        const [output, isError] = end;
        return { ...block, content: output, is_error: isError, outcome: isError ? 'error' : 'ok' };
      }),
    }));
  });
