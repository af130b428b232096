import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelOutcome } from '../../../../services/models/model-provider.ts';
import type { StreamStep } from '../../../support/stream-server.ts';
import { ANTHROPIC, anthropicBlock, anthropicEnd, anthropicStart, typedStream, type TypedEvent } from '../../../support/provider-protocols.ts';
import { joined, messageOf, ProviderStage } from './provider-stage.ts';

let stage = new ProviderStage(ANTHROPIC);
afterEach(async () => {
  await stage.close();
  stage = new ProviderStage(ANTHROPIC);
});

const text = (...pieces: readonly string[]) => pieces.map((piece) => ({ type: 'text_delta', text: piece }));
const thinking = (...pieces: readonly string[]) => pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece }));
const signature = (signed: string) => ({ type: 'signature_delta', signature: signed });
const input = (...pieces: readonly string[]) => pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
const use = (id: string, name = 'say') => ({ type: 'tool_use', id, name, input: {} });
const answerOf = (...blocks: readonly (readonly TypedEvent[])[]) => typedStream([anthropicStart(), ...blocks.flat(), ...anthropicEnd('end_turn')]);

describe('a whole answer', () => {
  const blocks = [
    anthropicBlock(0, { type: 'thinking', thinking: '', signature: '' }, [...thinking('A greeting: ', '你好🦀é.'), signature('c2ln/+=')]),
    anthropicBlock(1, { type: 'redacted_thinking', data: 'ZW5j' }),
    anthropicBlock(2, { type: 'text', text: '' }, text('你好', '🦀é')),
    anthropicBlock(3, use('toolu_a'), input('', '{ "text":"你好', '🦀é" }')),
    anthropicBlock(4, { type: 'thinking', thinking: '' }, [signature('b25seQ')]),
    anthropicBlock(5, { type: 'text', text: '' }, text(' Then')),
    anthropicBlock(6, use('toolu_b'), input('{"n":', '1.0}')),
  ];
  const stream = typedStream([anthropicStart(), { type: 'ping' }, ...blocks.flat(), ...anthropicEnd('tool_use')]);
  const whole: ModelOutcome = {
    outcome: 'ended',
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'A greeting: 你好🦀é.', provider: { signature: 'c2ln/+=' } },
        { type: 'reasoning', text: '', provider: { redacted_data: 'ZW5j' } },
        { type: 'text', text: '你好🦀é' },
        { type: 'tool_use', id: 'toolu_a', name: 'say', input: { text: '你好🦀é' }, input_text: '{ "text":"你好🦀é" }' },
        { type: 'reasoning', text: '', provider: { signature: 'b25seQ' } },
        { type: 'text', text: ' Then' },
        { type: 'tool_use', id: 'toolu_b', name: 'say', input: { n: 1 }, input_text: '{"n":1.0}' },
      ],
    },
    finish_reason: 'tool_calls',
    usage: { input_tokens: 7, output_tokens: 3 },
  };

  it.each([1, 2, 3, 7, 64, undefined])('S-083: is the same, block by block, in writes of %s bytes', async (bytesPerWrite) => {
    const step: StreamStep = { send: stream, ...(bytesPerWrite === undefined ? {} : { bytesPerWrite }) };
    const { outcome, deltas } = await stage.call({ steps: [step] });

    expect(outcome).toEqual(whole);
    expect(joined(deltas)).toEqual({
      reasoning: 'A greeting: 你好🦀é.',
      text: '你好🦀é Then',
      tool_input: '{ "text":"你好🦀é" }{"n":1.0}',
    });
  });

  it('is over with its last event, whether the connection closes or not', async () => {
    const never = new Promise(() => undefined);

    expect((await stage.call({ steps: [{ send: stream }, { hold: never }] })).outcome).toEqual(whole);
    expect((await stage.call({ steps: [{ send: stream }, { end: 'mid_chunk' }] })).outcome).toEqual(whole);
  });

  it('keeps arguments that are no JSON as they are, without a value, and takes none for {}', async () => {
    const { outcome } = await stage.call({
      steps: [{ send: answerOf(anthropicBlock(0, use('x'), input('{"a":2,"b":')), anthropicBlock(1, use('y'), input('')), anthropicBlock(2, use('z'))) }],
    });

    expect(messageOf(outcome).content).toEqual([
      { type: 'tool_use', id: 'x', name: 'say', input_text: '{"a":2,"b":' },
      { type: 'tool_use', id: 'y', name: 'say', input: {}, input_text: '' },
      { type: 'tool_use', id: 'z', name: 'say', input: {}, input_text: '' },
    ]);
  });

  it('takes arguments that a server gives at once', async () => {
    const { outcome } = await stage.call({ steps: [{ send: answerOf(anthropicBlock(0, { ...use('x'), input: { a: 1 } })) }] });

    expect(messageOf(outcome).content).toEqual([{ type: 'tool_use', id: 'x', name: 'say', input: { a: 1 }, input_text: '{"a":1}' }]);
  });

  it('S-083: keeps reasoning without what belongs to it where that did not come, or not unharmed', async () => {
    const { outcome } = await stage.call({
      steps: [
        {
          send: answerOf(
            anthropicBlock(0, { type: 'thinking', thinking: '' }, thinking('Cut')),
            anthropicBlock(1, { type: 'thinking', thinking: '' }, [...thinking('half \ud83e', ' of one'), signature('c2ln')]),
            anthropicBlock(2, { type: 'thinking', thinking: '' }, [...thinking('two \ud83e', '\udd80 halves'), signature('c2ln')]),
            anthropicBlock(3, { type: 'thinking', thinking: '' }, [...thinking('odd'), signature('c2\u0000ln')]),
          ),
        },
      ],
    });

    expect(messageOf(outcome).content).toEqual([
      { type: 'reasoning', text: 'Cut' },
      { type: 'reasoning', text: 'half \ufffd of one' },
      { type: 'reasoning', text: 'two 🦀 halves', provider: { signature: 'c2ln' } },
      { type: 'reasoning', text: 'odd' },
    ]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['tool_use', 'tool_calls'],
  ])('says of %s that it is %s', async (raw, reason) => {
    const { outcome } = await stage.call({ steps: [{ send: typedStream([anthropicStart(), ...anthropicEnd(raw)]) }] });

    expect(outcome).toMatchObject({ outcome: 'ended', finish_reason: reason, message: { content: [] } });
  });

  it('S-083: leaves a counter out that the provider did not give, keeps its zero, and counts what was cached as input', async () => {
    const counted = async (start: object, end: object) => {
      const { outcome } = await stage.call({ steps: [{ send: typedStream([anthropicStart(start), ...anthropicEnd('end_turn', end)]) }] });
      return outcome.outcome === 'ended' ? outcome.usage : 'no answer';
    };

    expect(await counted({ input_tokens: 7, cache_read_input_tokens: 0 }, { output_tokens: 0 })).toEqual({
      input_tokens: 7,
      input_tokens_cache_read: 0,
      output_tokens: 0,
    });
    expect(
      await counted(
        { input_tokens: 7, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 },
        { output_tokens: 30, cache_read_input_tokens: null, output_tokens_details: { thinking_tokens: 12 } },
      ),
    ).toEqual({
      input_tokens: 127,
      input_tokens_cache_read: 100,
      input_tokens_cache_write: 20,
      output_tokens: 30,
      output_tokens_reasoning: 12,
    });
    expect(await counted({ input_tokens: 7 }, { output_tokens: -1 })).toEqual({ input_tokens: 7 });
  });

  it('passes over events of types that nobody knows', async () => {
    const odd: TypedEvent = { type: 'weather', index: 'none' };

    const { outcome } = await stage.call({
      steps: [{ send: typedStream([anthropicStart(), odd, ...anthropicBlock(0, { type: 'text', text: 'a' }, text('b')), odd, ...anthropicEnd('end_turn')]) }],
    });

    expect(messageOf(outcome).content).toEqual([{ type: 'text', text: 'ab' }]);
  });
});

describe('an answer that is not whole', () => {
  const complete = answerOf(
    anthropicBlock(0, { type: 'thinking', thinking: '' }, [...thinking('Well'), signature('c2ln')]),
    anthropicBlock(1, { type: 'text', text: '' }, text('Hel', 'lo')),
    anthropicBlock(2, use('x'), input('{"a":', '1}')),
  );

  it('S-037: is unknown, whole or not at all, wherever the stream breaks off, and is asked for once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: complete.length - 3 }),
        fc.constantFrom('chunked', 'until_close'),
        fc.constantFrom('complete', 'lost', 'reset', 'mid_chunk'),
        async (length, framing, end) => {
          const { outcome, requests } = await stage.call({ framing, steps: [{ send: complete.slice(0, length) }, { end }] });

          expect(outcome.outcome).toBe('unknown');
          expect(requests()).toBe(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  const ended = anthropicEnd('end_turn');
  const block = anthropicBlock(0, { type: 'text', text: '' }, text('x'));
  const other = { ...anthropicStart(), message: { id: 'msg_2', content: [], usage: { input_tokens: 1 } } };

  it.each<readonly [string, readonly TypedEvent[], string]>([
    ['a finish that nobody knows', [anthropicStart(), ...block, ...anthropicEnd('tired')], 'incomplete_answer'],
    ['a turn that the provider paused', [anthropicStart(), ...block, ...anthropicEnd('pause_turn')], 'incomplete_answer'],
    ['no finish', [anthropicStart(), ...block, ...anthropicEnd(null)], 'incomplete_answer'],
    ['no end', [anthropicStart(), ...block, ...ended.slice(0, 1)], 'incomplete_answer'],
    ['no event at all', [], 'incomplete_answer'],
    ['no beginning', [{ type: 'ping' }, ...block, ...ended], 'malformed_stream'],
    ['two messages in one', [anthropicStart(), ...block, other, ...ended], 'malformed_stream'],
    ['a block that does not end', [anthropicStart(), ...block.slice(0, -1), ...ended], 'malformed_stream'],
    ['two blocks at one place', [anthropicStart(), ...block, ...block, ...ended], 'malformed_stream'],
    ['a piece without its block', [anthropicStart(), ...block.slice(1), ...ended], 'malformed_stream'],
    ['a piece after its block', [anthropicStart(), ...block, ...block.slice(1), ...ended], 'malformed_stream'],
    ['a piece of another kind', [anthropicStart(), ...anthropicBlock(0, { type: 'text', text: '' }, input('{}')), ...ended], 'malformed_stream'],
    ['a piece that nobody knows', [anthropicStart(), ...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'smell_delta' }]), ...ended], 'malformed_stream'],
    ['a block that nobody knows', [anthropicStart(), ...anthropicBlock(0, { type: 'smell' }), ...ended], 'malformed_stream'],
    ['a call without a name', [anthropicStart(), ...anthropicBlock(0, { type: 'tool_use', id: 'x' }), ...ended], 'malformed_stream'],
  ])('is unknown with %s', async (_what, events, code) => {
    const { outcome } = await stage.call({ steps: [{ send: typedStream(events) }] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code });
  });
});
