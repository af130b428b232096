import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/messages.ts';
import { closeOpenToolCalls } from '../../../../machines/open-tool-calls.ts';
import { openAiChat } from '../../../../services/models/openai-chat-provider.ts';
import { modelProvider } from '../../../../services/models/provider-call.ts';
import { readChatRequest } from '../../../support/chat-request.ts';
import { chatChunk, eventStream } from '../../../support/stream-server.ts';
import { API_KEY, messageOf, ProviderStage, requestTo } from './provider-stage.ts';

let stage = new ProviderStage();
afterEach(async () => {
  await stage.close();
  stage = new ProviderStage();
});

describe('a request', () => {
  const user: Message = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };

  it('says what a loop set, and offers the tools with schemas of objects', async () => {
    const body = await stage.sent({
      system: 'Be brief.',
      tools: [{ name: 'now', description: 'Tells the time', input_schema: {} }],
      parameters: { max_output_tokens: 9, temperature: 0, reasoning_effort: 'low' },
    });

    expect(body).toEqual({
      model: 'some/model',
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'now', description: 'Tells the time', parameters: { type: 'object', properties: {} } } }],
      max_tokens: 9,
      temperature: 0,
      reasoning_effort: 'low',
    });
  });

  it('bounds an answer of OpenAI itself by the name that its newer models take', async () => {
    const bodies: unknown[] = [];
    const provider = modelProvider(openAiChat(), {
      apiKey: API_KEY,
      post: async ({ body }, listener) => {
        bodies.push(JSON.parse(body));
        listener.onConnected();
        listener.onStatus(200, 'OK');
        listener.onText(eventStream([chatChunk({ content: 'x' }, 'stop')]));
        await Promise.resolve();
      },
    });

    await provider.call(requestTo('https://api.openai.com/v1', { parameters: { max_output_tokens: 9 } }), {
      signal: new AbortController().signal,
      onDelta: () => undefined,
    });

    expect(bodies).toMatchObject([{ max_completion_tokens: 9 }]);
    expect(bodies[0]).not.toHaveProperty('max_tokens');
  });

  it('gives back the arguments of every call byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(argumentTexts, async (texts) => {
        const calls = texts.map((input_text, index) => ({ type: 'tool_use', id: `c${index}`, name: 'add', input_text }) as const);
        const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: [], is_error: false, outcome: 'ok' }) as const);

        const body = await stage.sent({ messages: [user, { role: 'assistant', content: calls }, { role: 'user', content: results }] });

        expect(body).toMatchObject({
          messages: [
            { role: 'user' },
            { role: 'assistant', content: null, tool_calls: calls.map(({ id, input_text }) => ({ id, type: 'function', function: { name: 'add', arguments: input_text } })) },
            ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '' })),
          ],
        });
      }),
      { numRuns: 30 },
    );
  });

  it('S-083: gives back what it was given: reasoning under its name, and the fields beside a call', async () => {
    const extra_content = { google: { thought_signature: 'c2ln' }, other: [1] };
    const thought = [
      chatChunk({ reasoning_content: 'Think. ' }),
      chatChunk({ content: 'Well' }),
      chatChunk({ tool_calls: [{ index: 0, id: 'x', extra_content, function: { name: 'add', arguments: '{ }' } }] }),
      chatChunk({}, 'tool_calls'),
    ];
    const elsewhere = [chatChunk({ reasoning: 'Hm.' }), chatChunk({ content: 'Yes' }, 'stop')];

    const roundTrip = async (chunks: readonly unknown[]) => {
      const message = messageOf((await stage.call({ steps: [{ send: eventStream(chunks) }] })).outcome);
      return (await stage.sent({ messages: [message] }))['messages'];
    };

    expect(await roundTrip(thought)).toEqual([
      {
        role: 'assistant',
        content: 'Well',
        reasoning_content: 'Think. ',
        tool_calls: [{ id: 'x', type: 'function', function: { name: 'add', arguments: '{ }' }, extra_content }],
      },
    ]);
    expect(await roundTrip(elsewhere)).toEqual([{ role: 'assistant', content: 'Yes', reasoning: 'Hm.' }]);
  });

  it('puts the results of tools before what the user says in the same message, and their images after them', async () => {
    const image = { type: 'image', url: 'data:image/png;base64,AAAA', media_type: 'image/png' } as const;
    const results: Message = {
      role: 'user',
      content: [
        { type: 'text', text: 'And?' },
        { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }, image], is_error: true, outcome: 'error' },
      ],
    };

    expect((await stage.sent({ messages: [results] }))['messages']).toEqual([
      { role: 'tool', tool_call_id: 'x', content: 'one\ntwo' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What the tools returned besides:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('shows images by their URL and files by their content', async () => {
    const content: Message['content'] = [
      { type: 'image', url: 'https://example.test/a.png', media_type: 'image/png' },
      { type: 'file', url: 'data:text/plain,a%20b', media_type: 'text/plain' },
      { type: 'file', url: 'data:application/pdf;base64,AAAA', media_type: 'application/pdf' },
      { type: 'file', url: 'data:audio/mpeg;base64,AAAA', media_type: 'audio/mpeg' },
      { type: 'image', url: 'data:image/*;base64,AAAA', media_type: 'image/*' },
    ];

    expect((await stage.sent({ messages: [{ role: 'user', content }] }))['messages']).toMatchObject([
      {
        content: [
          { type: 'image_url', image_url: { url: 'https://example.test/a.png' } },
          { type: 'text', text: 'a b' },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'input_audio', input_audio: { format: 'mp3', data: 'AAAA' } },
          { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } },
        ],
      },
    ]);
  });

  it('is not sent where the protocol cannot say it', async () => {
    const server = await stage.serve({ steps: [] });
    const unsayable: readonly Message['content'][] = [
      [{ type: 'file', url: 'https://example.test/a.pdf', media_type: 'application/pdf' }],
      [{ type: 'image', url: 'nowhere', media_type: 'image/png' }],
      [{ type: 'file', url: 'data:application/zip;base64,AAAA', media_type: 'application/zip' }],
    ];

    for (const content of unsayable) {
      expect(await stage.ask(`${server.url}/v1`, { messages: [{ role: 'user', content }] })).toMatchObject({ outcome: 'failed' });
    }
    expect(await stage.ask(`${server.url}/v1`, { parameters: { top_p: 1 } })).toMatchObject({ outcome: 'failed' });
    expect(server.requests).toEqual([]);
  });

  it('is one that a strict provider accepts, for every conversation that is in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 6 }), async (messages) => {
        const body = await stage.bodySent({ messages: closeOpenToolCalls(messages, []) });

        expect(readChatRequest(body)).toHaveProperty('request');
      }),
      { numRuns: 60 },
    );
  });

  it('names a tool in a way that the protocol takes, whatever the model called it', async () => {
    const use = { type: 'tool_use', id: 'x', name: 'functions.add(🦀)', input_text: '{}' } as const;

    expect(await stage.sent({ messages: [{ role: 'assistant', content: [use] }] })).toMatchObject({
      messages: [{ tool_calls: [{ function: { name: 'functions_add____' } }] }],
    });
  });
});


const argumentTexts = fc.array(
  fc.oneof(
    fc.json(),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', '{}', ' { "a" : 1.0 }\n', '{"a":2,"b":', '{"b":1,"a":"\\u00e9🦀"}', 'null', '{"__proto__":{"a":1}}', '1e2'),
  ),
  { minLength: 1, maxLength: 3 },
);

const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.constantFrom('a', '').map((text): Message => ({ role: 'user', content: [{ type: 'text', text }] })),
  fc.constant<Message>({
    role: 'user',
    content: [{ type: 'text', text: '' }, { type: 'image', url: 'data:image/png;base64,AAAA', media_type: 'image/png' }],
  }),
  fc
    .tuple(
      fc.constantFrom('', 'b', 'c'),
      fc.array(fc.record({ type: fc.constant('tool_use' as const), id: fc.constantFrom('x', 'y', ''), name: fc.constantFrom('add', 'a b', ''), input_text: fc.constantFrom('', '{}', '{') }), { maxLength: 2 }),
    )
    .filter(([text, uses]) => text !== '' || uses.length > 0)
    .map(([text, uses]): Message => ({ role: 'assistant', content: [{ type: 'reasoning', text: 'r' }, { type: 'text', text }, ...uses] })),
);
