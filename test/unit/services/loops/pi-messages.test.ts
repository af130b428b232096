import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { userMessage, type Block, type Message } from '../../../../machines/messages.ts';
import { answerToPi, fromPi, placeOfCall, toPi } from '../../../../services/loops/pi-messages.ts';

const provider = fc.option(fc.dictionary(fc.string(), fc.jsonValue().map(asPlain)).map(asPlain), { nil: undefined });
const text = fc.string({ unit: 'binary' });
const id = fc.constantFrom('', 'call_1', '0:call_1', '💡');
const media = fc.record({ type: fc.constantFrom('image' as const, 'file' as const), url: text, media_type: text });
const said = fc.record({ type: fc.constant('text' as const), text, provider }, { requiredKeys: ['type', 'text'] });
const content = fc.oneof(said, media);

const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  content,
  fc.record({ type: fc.constant('reasoning' as const), text, provider }, { requiredKeys: ['type', 'text'] }),
  fc.record(
    { type: fc.constant('tool_use' as const), id, name: text, input: fc.jsonValue().map(asPlain), input_text: fc.oneof(text, fc.json()), provider },
    { requiredKeys: ['type', 'id', 'name', 'input_text'] },
  ),
  fc.record({
    type: fc.constant('tool_result' as const),
    tool_use_id: id,
    content: fc.array(content, { maxLength: 2 }),
    is_error: fc.boolean(),
    outcome: fc.constantFrom('ok', 'error', 'timeout', 'cancelled', 'unknown'),
  }),
) as fc.Arbitrary<Block>;

const anyMessage: fc.Arbitrary<Message> = fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(anyBlock, { maxLength: 4 }) });

const asking: Message = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'Hm.', provider: { signature: 'c2ln' } },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'call_1', name: 'look', input_text: '{"a": 1}', input: { a: 1 } },
    { type: 'tool_use', id: 'call_1', name: 'act', input_text: '{"a":' },
  ],
};

describe('the messages of pi', () => {
  it('stand for the very messages that they were made of, signatures, ids and arguments to the letter (S-062, S-065)', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 8 }), (messages) => {
        expect(fromPi(toPi(messages))).toStrictEqual(messages);
      }),
    );
  });

  it('say what pi’s types can say: texts, reasoning, calls by their place, and their results', () => {
    const answered: Message = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'seen' }], is_error: false, outcome: 'ok' },
        { type: 'tool_result', tool_use_id: 'call_1', content: [], is_error: true, outcome: 'unknown' },
        { type: 'text', text: 'And?' },
      ],
    };

    expect(toPi([userMessage('Go'), asking, answered])).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      {
        role: 'assistant',
        stopReason: 'toolUse',
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'I look.' },
          { type: 'toolCall', id: '0:call_1', name: 'look', arguments: { a: 1 } },
          { type: 'toolCall', id: '1:call_1', name: 'act', arguments: {} },
        ],
      },
      { role: 'toolResult', toolCallId: '0:call_1', toolName: 'look', content: [{ type: 'text', text: 'seen' }], isError: false },
      { role: 'toolResult', toolCallId: '1:call_1', toolName: 'act', content: [], isError: true },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    ]);
    expect(placeOfCall('1:call_1')).toBe(1);
  });

  it('find the calls of results that came in several messages', () => {
    const resultOf = (tool_use_id: string): Message => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id, content: [], is_error: false, outcome: 'ok' }],
    });

    expect(toPi([asking, resultOf('call_1'), resultOf('call_1')]).slice(1)).toMatchObject([
      { toolCallId: '0:call_1', toolName: 'look' },
      { toolCallId: '1:call_1', toolName: 'act' },
    ]);
  });

  it.each([
    ['failed', 'error'],
    ['unknown', 'error'],
    ['cancelled', 'aborted'],
  ] as const)('of a call that is %s say %s, and stand for nothing', (outcome, stopReason) => {
    const message = answerToPi({ outcome, code: 'why', message: 'so' });

    expect(message).toEqual({ role: 'assistant', content: [], stopReason, errorMessage: 'so' });
    expect(fromPi([...toPi([asking]), message])).toEqual([asking]);
  });

  it('put the results that pi made itself into one message, under the provider’s ids', () => {
    const results = ['0:call_1', '1:call_1'].map((toolCallId) => ({
      role: 'toolResult' as const,
      toolCallId,
      toolName: 'gone',
      content: [{ type: 'text' as const, text: 'Tool gone not found' }],
      details: {},
      isError: true,
    }));

    const told = { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'Tool gone not found' }], is_error: true, outcome: 'error' };
    expect(fromPi([...toPi([asking]), ...results])).toEqual([asking, { role: 'user', content: [told, told] }]);
  });
});

/** `-0` and `__proto__` are not what these tests are about. */
function asPlain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
