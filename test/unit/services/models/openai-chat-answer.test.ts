import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelOutcome } from '../../../../services/models/model-provider.ts';
import { chatChunk, eventStream, type StreamAnswer, type StreamStep } from '../../../support/stream-server.ts';
import { joined, messageOf, ProviderStage } from './provider-stage.ts';

let stage = new ProviderStage();
afterEach(async () => {
  await stage.close();
  stage = new ProviderStage();
});

describe('a whole answer', () => {
  const chunks = [
    chatChunk({ role: 'assistant', content: '' }),
    chatChunk({ reasoning_content: 'A greeting: ' }),
    chatChunk({ reasoning_content: '你好🦀é.' }),
    chatChunk({ content: '你好' }),
    chatChunk({ content: '🦀é' }),
    chatChunk({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'say', arguments: '' } }] }),
    chatChunk({ tool_calls: [{ index: 0, function: { arguments: '{ "text":"你好' } }] }),
    chatChunk({ tool_calls: [{ index: 0, function: { arguments: '🦀é" }' } }] }),
    chatChunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 0 } } },
  ];
  const whole: ModelOutcome = {
    outcome: 'ended',
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'A greeting: 你好🦀é.' },
        { type: 'text', text: '你好🦀é' },
        { type: 'tool_use', id: 'call_a', name: 'say', input: { text: '你好🦀é' }, input_text: '{ "text":"你好🦀é" }' },
      ],
    },
    finish_reason: 'tool_calls',
    usage: { input_tokens: 7, input_tokens_cache_read: 0, output_tokens: 3 },
  };

  it.each([1, 2, 3, 7, 64, undefined])('S-083: is the same, character by character, in writes of %s bytes', async (bytesPerWrite) => {
    const step: StreamStep = { send: eventStream(chunks), ...(bytesPerWrite === undefined ? {} : { bytesPerWrite }) };
    const { outcome, deltas } = await stage.call({ steps: [step] });

    expect(outcome).toEqual(whole);
    expect(joined(deltas)).toEqual({ reasoning: 'A greeting: 你好🦀é.', text: '你好🦀é', tool_input: '{ "text":"你好🦀é" }' });
  });

  it('ends with a last word that has something behind it, which is no JSON', async () => {
    const { outcome } = await stage.call({ steps: [{ send: eventStream(chunks).replace('[DONE]', '[DONE] ') }, { hold: new Promise(() => undefined) }] });

    expect(outcome).toEqual(whole);
  });

  it('puts a character together whose halves come in two pieces, and replaces a half that stays alone', async () => {
    const halves = [
      chatChunk({ content: 'a\ud83e' }),
      chatChunk({ content: '\udd80b\ud83e' }),
      chatChunk({ content: 'c\u0000d' }),
      chatChunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'say', arguments: '{"t":"\ud83e' } }] }),
      chatChunk({ tool_calls: [{ index: 0, function: { arguments: '\udd80"}' } }] }),
      chatChunk({}, 'tool_calls'),
    ];

    const { outcome, deltas } = await stage.call({ steps: [{ send: eventStream(halves) }] });

    expect(messageOf(outcome).content).toEqual([
      { type: 'text', text: 'a🦀b\ufffdcd' },
      { type: 'tool_use', id: 'x', name: 'say', input: { t: '🦀' }, input_text: '{"t":"🦀"}' },
    ]);
    expect(joined(deltas)).toEqual({ text: 'a🦀b\ufffdcd', tool_input: '{"t":"🦀"}' });
    expect(deltas.every((delta) => Object.values(delta).every((text) => text.isWellFormed()))).toBe(true);
  });

  it('keeps arguments that are no JSON as they are, without a value', async () => {
    const cut = [
      chatChunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'add', arguments: '{"a":2,"b":' } }] }),
      chatChunk({ tool_calls: [{ index: 1, id: 'y', function: { name: 'now', arguments: '' } }] }),
      chatChunk({}, 'tool_calls'),
    ];

    const { outcome } = await stage.call({ steps: [{ send: eventStream(cut) }] });

    expect(messageOf(outcome).content).toEqual([
      { type: 'tool_use', id: 'x', name: 'add', input_text: '{"a":2,"b":' },
      { type: 'tool_use', id: 'y', name: 'now', input: {}, input_text: '' },
    ]);
  });

  it('keeps ids that repeat, and tells calls apart that share an index or have none', async () => {
    const piece = (more: object, text: string) => ({ ...more, function: { name: 'add', arguments: text } });
    const same = [
      chatChunk({ tool_calls: [piece({ index: 0, id: 'x' }, '{"n":1}'), piece({ index: 1, id: 'x' }, '{"n":2}')] }),
      chatChunk({}, 'tool_calls'),
    ];
    const shared = [
      chatChunk({ tool_calls: [piece({ index: 0, id: 'x' }, '{"n":1}')] }),
      chatChunk({ tool_calls: [piece({ index: 0, id: 'y' }, '{"n":'), { index: 0, id: 'y', function: { arguments: '2}' } }] }),
      chatChunk({}, 'tool_calls'),
    ];
    const without = [chatChunk({ tool_calls: [piece({}, '{"n":1}'), piece({}, '{"n":2}')] }), chatChunk({}, 'stop')];

    const callsOf = async (chunksOfCalls: readonly unknown[]) => {
      const { outcome } = await stage.call({ steps: [{ send: eventStream(chunksOfCalls) }] });
      return messageOf(outcome).content.map((block) => (block.type === 'tool_use' ? [block.id, block.input_text] : block));
    };

    expect(await callsOf(same)).toEqual([['x', '{"n":1}'], ['x', '{"n":2}']]);
    expect(await callsOf(shared)).toEqual([['x', '{"n":1}'], ['y', '{"n":2}']]);
    expect(await callsOf(without)).toEqual([['call_0', '{"n":1}'], ['call_1', '{"n":2}']]);
  });

  it('takes a content in parts, with what the model thought among them', async () => {
    const thinking = [{ type: 'text', text: 'Let ' }, { type: 'text', text: 'me see.' }, { type: 'other' }];
    const parts = [
      chatChunk({ content: [{ type: 'thinking', thinking }, { type: 'text', text: 'It' }, { type: 'reference', reference_ids: [1] }] }),
      chatChunk({ content: [{ type: 'text', text: ' is.' }] }, 'stop'),
    ];

    const { outcome, deltas } = await stage.call({ steps: [{ send: eventStream(parts) }] });

    expect(messageOf(outcome).content).toEqual([
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'It is.' },
    ]);
    expect(joined(deltas)).toEqual({ reasoning: 'Let me see.', text: 'It is.' });
  });

  it('keeps words and reasoning apart that take turns, and begins anew after a call', async () => {
    const call = { tool_calls: [{ index: 0, id: 'x', function: { name: 'add', arguments: '{}' } }] };
    const chunks = [{ reasoning: 'a' }, { content: 'b' }, { reasoning: 'c', content: 'd' }, { content: 'e' }, { reasoning: 'f' }, call, { reasoning: 'g' }];

    const { outcome } = await stage.call({ steps: [{ send: eventStream([...chunks.map((delta) => chatChunk(delta)), chatChunk({}, 'tool_calls')]) }] });

    const provider = { field: 'reasoning' };
    expect(messageOf(outcome).content).toEqual([
      { type: 'reasoning', text: 'a', provider },
      { type: 'text', text: 'b' },
      { type: 'reasoning', text: 'c', provider },
      { type: 'text', text: 'de' },
      { type: 'reasoning', text: 'f', provider },
      { type: 'reasoning', text: 'g', provider },
      { type: 'tool_use', id: 'x', name: 'add', input: {}, input_text: '{}' },
    ]);
  });

  it('shows a refusal as words, and says that it is one', async () => {
    const refused = [chatChunk({ refusal: null, content: null }), chatChunk({ refusal: 'I will ' }), chatChunk({ refusal: 'not.' }), chatChunk({ refusal: false }, 'stop')];

    const { outcome } = await stage.call({ steps: [{ send: eventStream(refused) }] });

    expect(outcome).toMatchObject({ outcome: 'ended', finish_reason: 'content_filter', message: { content: [{ type: 'text', text: 'I will not.' }] } });
  });

  it('is over with its last word, whether the connection closes or not, and without it where the body ends', async () => {
    const never = new Promise(() => undefined);
    const said = [chatChunk({ content: 'x' }, 'stop')];
    const withoutLast = said.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

    for (const steps of [[{ send: eventStream(said) }, { hold: never }], [{ send: eventStream(said) }, { end: 'mid_chunk' as const }], [{ send: withoutLast }]]) {
      expect((await stage.call({ steps })).outcome).toMatchObject({ outcome: 'ended', finish_reason: 'stop' });
    }
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
  ])('says %s where the provider does', async (raw, reason) => {
    const { outcome } = await stage.call({ steps: [{ send: eventStream([chatChunk({ content: 'x' }), chatChunk({}, raw)]) }] });

    expect(outcome).toMatchObject({ outcome: 'ended', finish_reason: reason });
  });

  it('S-083: leaves a counter out that the provider did not give, and keeps its zero', async () => {
    const counted = async (usage: object | undefined) => {
      const end = chatChunk({}, 'stop', usage === undefined ? {} : { usage });
      const { outcome } = await stage.call({ steps: [{ send: eventStream([chatChunk({ content: 'x' }), end]) }] });
      return outcome.outcome === 'ended' ? outcome.usage : 'no answer';
    };

    expect(await counted(undefined)).toBeUndefined();
    expect(await counted({ total_tokens: 3 })).toBeUndefined();
    expect(await counted({ prompt_tokens: 3 })).toEqual({ input_tokens: 3 });
    expect(await counted({ completion_tokens: 0, completion_tokens_details: { reasoning_tokens: 0 } })).toEqual({
      output_tokens: 0,
      output_tokens_reasoning: 0,
    });
  });
});

describe('an answer that is not whole', () => {
  const complete = eventStream([
    chatChunk({ content: 'Hel' }),
    chatChunk({ content: 'lo' }),
    chatChunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'add', arguments: '{"a":1}' } }] }),
    chatChunk({}, 'tool_calls'),
  ]);
  const finishAt = complete.lastIndexOf('\n\n', complete.indexOf('[DONE]')) + 2;

  it('S-037: is unknown, whole or not at all, wherever the stream breaks off, and is asked for once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: finishAt - 3 }),
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

  it.each([
    ['a finish that nobody knows', [chatChunk({ content: 'x' }), chatChunk({}, 'tired')], 'incomplete_answer'],
    ['no finish', [chatChunk({ content: 'x' })], 'incomplete_answer'],
    ['no chunk at all', [], 'incomplete_answer'],
    ['a chunk that is no JSON', [chatChunk({ content: 'x' }), '{"choices":[', chatChunk({}, 'stop')], 'malformed_stream'],
    ['a chunk of another shape', [chatChunk({ content: 5 }), chatChunk({}, 'stop')], 'malformed_stream'],
    ['a chunk of another role', [chatChunk({ role: 'user', content: 'x' }), chatChunk({}, 'stop')], 'malformed_stream'],
    ['a chunk without choices', [{ id: 'x' }, chatChunk({}, 'stop')], 'malformed_stream'],
    ['a call that is none', [chatChunk({ tool_calls: [5] }), chatChunk({}, 'tool_calls')], 'malformed_stream'],
    ['a finish that is no word', [chatChunk({ content: 'x' }), { choices: [{ delta: {}, finish_reason: 5 }] }, chatChunk({}, 'stop')], 'malformed_stream'],
    ['a call without a name', [chatChunk({ tool_calls: [{ index: 0, id: 'x', function: { arguments: '{}' } }] }), chatChunk({}, 'tool_calls')], 'malformed_stream'],
    [
      'a piece that belongs to no call',
      [
        chatChunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'add', arguments: '{"a"' } }] }),
        chatChunk({ tool_calls: [{ index: 0, id: 'z', function: { arguments: ':1}' } }] }),
        chatChunk({}, 'tool_calls'),
      ],
      'malformed_stream',
    ],
  ])('is unknown with %s', async (_what, chunks, code) => {
    const { outcome } = await stage.call({ steps: [{ send: eventStream(chunks) }] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code });
  });

  it('is failed where the provider says in the stream that it failed, and does not wait for more', async () => {
    const never = new Promise(() => undefined);
    const failing = (error: unknown): StreamAnswer => ({
      steps: [{ send: `data: ${JSON.stringify(chatChunk({ content: 'x' }))}\n\ndata: ${JSON.stringify({ error })}\n\n` }, { hold: never }],
    });

    const { outcome } = await stage.call(failing({ message: 'overloaded', type: 'server_error' }));

    expect(outcome).toEqual({ outcome: 'failed', code: 'provider_error', message: 'the model provider failed: overloaded' });
    expect((await stage.call(failing('overloaded'))).outcome).toMatchObject({ outcome: 'failed', code: 'provider_error' });
  });
});
