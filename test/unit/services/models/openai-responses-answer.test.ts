import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelOutcome } from '../../../../services/models/model-provider.ts';
import type { StreamStep } from '../../../support/stream-server.ts';
import { OPENAI_RESPONSES, responsesCall, responsesEnd, responsesItem, responsesMessage, responsesStart, typedStream, type TypedEvent } from '../../../support/provider-protocols.ts';
import { joined, messageOf, ProviderStage } from './provider-stage.ts';

let stage = new ProviderStage(OPENAI_RESPONSES);
afterEach(async () => {
  await stage.close();
  stage = new ProviderStage(OPENAI_RESPONSES);
});

const summary = (summary_index: number, delta: string): TypedEvent => ({ type: 'response.reasoning_summary_text.delta', summary_index, delta });
const streamOf = (...events: readonly (TypedEvent | readonly TypedEvent[])[]) => typedStream(events.flat(), responsesStart());

const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'A greeting: 你好🦀é.' },
    { type: 'summary_text', text: 'And?' },
  ],
  encrypted_content: 'ZW5j/+=',
  status: null,
  later: { field: [1.5] },
};

describe('a whole answer', () => {
  const items = [
    responsesItem(0, reasoning, [summary(0, 'A greeting: '), summary(0, '你好🦀é.'), summary(1, 'And?')]),
    responsesItem(
      1,
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: '你好🦀é', annotations: [] }, { type: 'output_text', text: 'b' }],
      },
      [
        { type: 'response.content_part.added', content_index: 0, part: { type: 'output_text', text: '' } },
        { type: 'response.output_text.delta', content_index: 0, delta: '你好\ud83e' },
        { type: 'response.output_text.delta', content_index: 0, delta: '\udd80é' },
        { type: 'response.output_text.delta', content_index: 1, delta: 'b' },
      ],
    ),
    responsesCall(2, '{ "text":"你好🦀é" }', { name: 'say' }),
    responsesItem(3, { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'eA' }, []),
    responsesCall(4, '{"n":1.0}'),
  ];
  const usage = {
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 10,
  };
  const stream = streamOf(...items, responsesEnd({ usage }));
  const tie = { id: 'msg_1', phase: 'commentary' };
  const whole: ModelOutcome = {
    outcome: 'ended',
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'A greeting: 你好🦀é.\n\nAnd?', provider: { item: reasoning } },
        { type: 'text', text: '你好🦀é', provider: tie },
        { type: 'text', text: 'b', provider: tie },
        { type: 'tool_use', id: 'call_2', name: 'say', input: { text: '你好🦀é' }, input_text: '{ "text":"你好🦀é" }' },
        { type: 'reasoning', text: '', provider: { item: { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'eA' } } },
        { type: 'tool_use', id: 'call_4', name: 'add', input: { n: 1 }, input_text: '{"n":1.0}' },
      ],
    },
    finish_reason: 'tool_calls',
    usage: { input_tokens: 7, input_tokens_cache_read: 0, output_tokens: 3, output_tokens_reasoning: 2 },
  };

  it.each([1, 2, 3, 7, 64, undefined])('S-083: is the same, block by block, in writes of %s bytes', async (bytesPerWrite) => {
    const step: StreamStep = { send: stream, ...(bytesPerWrite === undefined ? {} : { bytesPerWrite }) };
    const { outcome, deltas } = await stage.call({ steps: [step] });

    expect(outcome).toEqual(whole);
    expect(joined(deltas)).toEqual({
      reasoning: 'A greeting: 你好🦀é.\n\nAnd?',
      text: '你好🦀éb',
      tool_input: '{ "text":"你好🦀é" }{"n":1.0}',
    });
    expect(deltas.every((delta) => Object.values(delta).every((text) => text.isWellFormed()))).toBe(true);
  });

  it('is over with its last event, whether the connection closes or not', async () => {
    const never = new Promise(() => undefined);

    expect((await stage.call({ steps: [{ send: stream }, { hold: never }] })).outcome).toEqual(whole);
    expect((await stage.call({ steps: [{ send: stream }, { end: 'mid_chunk' }] })).outcome).toEqual(whole);
  });

  it('is the same where a server gives the items at the end alone', async () => {
    const output = items.flatMap((events) => (events.at(-1) as { readonly item?: unknown }).item);

    expect((await stage.call({ steps: [{ send: streamOf(responsesEnd({ usage, output })) }] })).outcome).toEqual(whole);
  });

  it('is what the pieces made where the end of an item leaves it out', async () => {
    const short = responsesItem(0, { type: 'message' }, [{ type: 'response.output_text.delta', content_index: 0, delta: 'short' }]);
    const end: TypedEvent = { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'item_0' } };

    const { outcome } = await stage.call({ steps: [{ send: streamOf(short.slice(0, -1), end, responsesEnd()) }] });

    expect(messageOf(outcome).content).toEqual([{ type: 'text', text: 'short', provider: { id: 'item_0' } }]);
  });

  it('keeps arguments that are no JSON as they are, without a value, and takes none for {}', async () => {
    const { outcome } = await stage.call({ steps: [{ send: streamOf(responsesCall(0, '{"a":2,"b":'), responsesCall(1, ''), responsesEnd()) }] });

    expect(messageOf(outcome).content).toEqual([
      { type: 'tool_use', id: 'call_0', name: 'add', input_text: '{"a":2,"b":' },
      { type: 'tool_use', id: 'call_1', name: 'add', input: {}, input_text: '' },
    ]);
  });

  it('S-083: keeps reasoning without its item where that cannot be read by anybody, or did not come unharmed', async () => {
    const told = [{ type: 'summary_text', text: 'Hm' }];
    const { outcome } = await stage.call({
      steps: [
        {
          send: streamOf(
            responsesItem(0, { type: 'reasoning', id: 'rs_1', summary: told }, []),
            responsesItem(1, { type: 'reasoning', id: 'rs_2', summary: told, encrypted_content: null }, []),
            responsesItem(2, { type: 'reasoning', id: 'rs_3', summary: [{ type: 'summary_text', text: 'h\ud83e' }], encrypted_content: 'eA' }, []),
            responsesEnd(),
          ),
        },
      ],
    });

    expect(messageOf(outcome).content).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: 'h\ufffd' },
    ]);
  });

  const refusal = responsesItem(0, { type: 'message', id: 'msg_0', content: [{ type: 'refusal', refusal: 'No.' }] }, [
    { type: 'response.refusal.delta', content_index: 0, delta: 'No.' },
  ]);

  it.each<readonly [string, readonly TypedEvent[], string]>([
    ['a completed response', [...responsesMessage(0, 'x'), responsesEnd()], 'stop'],
    ['one with calls', [...responsesCall(0, '{}'), responsesEnd()], 'tool_calls'],
    ['one that reached its bound', [...responsesMessage(0, 'x'), responsesEnd({ incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete')], 'length'],
    ['a call that reached its bound', [...responsesCall(0, '{"a'), responsesEnd({ incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete')], 'length'],
    ['a filtered one', [responsesEnd({ incomplete_details: { reason: 'content_filter' } }, 'response.incomplete')], 'content_filter'],
    ['a refusal', [...refusal, responsesEnd()], 'content_filter'],
    ['a refusal beside a call', [...refusal, ...responsesCall(1, '{}'), responsesEnd()], 'tool_calls'],
  ])('says how %s finished', async (_what, events, reason) => {
    const { outcome } = await stage.call({ steps: [{ send: streamOf(events) }] });

    expect(outcome).toMatchObject({ outcome: 'ended', finish_reason: reason });
  });

  it('S-083: leaves a counter out that the provider did not give, and keeps its zero', async () => {
    const counted = async (told: object | null | undefined) => {
      const { outcome } = await stage.call({ steps: [{ send: streamOf(responsesMessage(0, 'x'), responsesEnd({ usage: told })) }] });
      return outcome.outcome === 'ended' ? outcome.usage : 'no answer';
    };

    expect(await counted(undefined)).toBeUndefined();
    expect(await counted(null)).toBeUndefined();
    expect(await counted({ input_tokens: 1, output_tokens: 0 })).toEqual({ input_tokens: 1, output_tokens: 0 });
    expect(await counted({ input_tokens: 9, output_tokens: 0, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 } })).toEqual({
      input_tokens: 9,
      input_tokens_cache_read: 4,
      input_tokens_cache_write: 0,
      output_tokens: 0,
    });
  });
});

describe('an answer that is not whole', () => {
  const complete = streamOf(
    responsesItem(0, reasoning, [summary(0, 'x')]),
    responsesMessage(1, 'Hello'),
    responsesCall(2, '{"a":1}'),
    responsesEnd({ usage: { input_tokens: 1, output_tokens: 1 } }),
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

  const message = responsesMessage(0, 'x');
  const incomplete = (reason: string) => responsesEnd({ incomplete_details: { reason } }, 'response.incomplete');

  it.each<readonly [string, readonly TypedEvent[], string]>([
    ['a finish that nobody knows', [...message, incomplete('tired')], 'incomplete_answer'],
    ['a finish that says nothing', [...message, responsesEnd({}, 'response.incomplete')], 'incomplete_answer'],
    ['no end', [...message], 'incomplete_answer'],
    ['no event at all', [], 'incomplete_answer'],
    ['an item that does not end', [...message.slice(0, -1), responsesEnd()], 'malformed_stream'],
    ['two items at one place', [...message, ...message, responsesEnd()], 'malformed_stream'],
    ['a piece without its item', [...message.slice(1), responsesEnd()], 'malformed_stream'],
    ['a piece after its item', [...message, ...message.slice(1), responsesEnd()], 'malformed_stream'],
    ['an item that nobody knows', [...responsesItem(0, { type: 'smell' }, []), responsesEnd()], 'malformed_stream'],
    ['an item that ends as another', [...message.slice(0, -1), ...responsesCall(0, '{}').slice(-1), responsesEnd()], 'malformed_stream'],
    ['a call without a name', [...responsesCall(0, '{}', { name: null }), responsesEnd()], 'malformed_stream'],
    ['a part that nobody knows', [...responsesItem(0, { type: 'message', content: [{ type: 'smell' }] }, []), responsesEnd()], 'malformed_stream'],
  ])('is unknown with %s', async (_what, events, code) => {
    const { outcome } = await stage.call({ steps: [{ send: streamOf(events) }] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code });
  });

  it('is failed where the provider says so, with a reason or without', async () => {
    const failures: readonly TypedEvent[] = [
      { type: 'error', code: 'rate_limit_exceeded', message: 'slow down', param: null, sequence_number: 1 },
      { type: 'error', error: { type: 'x', message: 'slow down' } },
      { type: 'response.failed', sequence_number: 1, response: { error: { code: 'server_error', message: 'slow down' } } },
    ];
    for (const failure of failures) {
      for (const before of [[], message]) {
        expect((await stage.call({ steps: [{ send: streamOf(before, failure) }] })).outcome).toEqual({
          outcome: 'failed',
          code: 'provider_error',
          message: 'the model provider failed: slow down',
        });
      }
    }
    const silent: TypedEvent = { type: 'response.failed', sequence_number: 1, response: { error: null } };
    expect((await stage.call({ steps: [{ send: streamOf(silent) }] })).outcome).toMatchObject({ outcome: 'failed', code: 'provider_error' });
  });
});
