import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/messages.ts';
import type { ModelDelta, ModelOutcome, ModelRequest } from '../../../../services/models/model-provider.ts';
import { openAiChatProvider } from '../../../../services/models/openai-chat-provider.ts';
import { providerConnections } from '../../../../services/models/provider-fetch.ts';
import { loadOpenAiCompatible } from '../../../../services/models/provider-library.ts';
import { chatChunk, eventStream, StreamServer, type StreamAnswer, type StreamStep } from '../../../support/stream-server.ts';

const API_KEY = 'sk-test-0123456789';
const STREAMS_FOLDER = path.join(path.resolve(process.env['BRAIN_TEST_DATA'] ?? '../shared/data'), 'provider-streams', 'openai-chat');

const connections = providerConnections();
const servers: StreamServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
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
    const { outcome, deltas } = await call({ steps: [step] });

    expect(outcome).toEqual(whole);
    expect(joined(deltas)).toEqual({ reasoning: 'A greeting: 你好🦀é.', text: '你好🦀é', tool_input: '{ "text":"你好🦀é" }' });
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

    const { outcome, deltas } = await call({ steps: [{ send: eventStream(halves) }] });

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

    const { outcome } = await call({ steps: [{ send: eventStream(cut) }] });

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
      const { outcome } = await call({ steps: [{ send: eventStream(chunksOfCalls) }] });
      return messageOf(outcome).content.map((block) => (block.type === 'tool_use' ? [block.id, block.input_text] : block));
    };

    expect(await callsOf(same)).toEqual([['x', '{"n":1}'], ['x', '{"n":2}']]);
    expect(await callsOf(shared)).toEqual([['x', '{"n":1}'], ['y', '{"n":2}']]);
    expect(await callsOf(without)).toEqual([['call_0', '{"n":1}'], ['call_1', '{"n":2}']]);
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
  ])('says %s where the provider does', async (raw, reason) => {
    const { outcome } = await call({ steps: [{ send: eventStream([chatChunk({ content: 'x' }), chatChunk({}, raw)]) }] });

    expect(outcome).toMatchObject({ outcome: 'ended', finish_reason: reason });
  });

  it('S-083: leaves a counter out that the provider did not give, and keeps its zero', async () => {
    const counted = async (usage: object | undefined) => {
      const end = chatChunk({}, 'stop', usage === undefined ? {} : { usage });
      const { outcome } = await call({ steps: [{ send: eventStream([chatChunk({ content: 'x' }), end]) }] });
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
          const { outcome, requests } = await call({ framing, steps: [{ send: complete.slice(0, length) }, { end }] });

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
    ['a call without a name', [chatChunk({ tool_calls: [{ index: 0, id: 'x', function: { arguments: '{}' } }] }), chatChunk({}, 'tool_calls')], null],
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
    const { outcome } = await call({ steps: [{ send: eventStream(chunks) }] });

    expect(outcome).toMatchObject({ outcome: 'unknown', ...(code === null ? {} : { code }) });
  });

  it('is failed where the provider says in the stream that it failed, and does not wait for more', async () => {
    const never = new Promise(() => undefined);
    const failing = (error: unknown): StreamAnswer => ({
      steps: [{ send: `data: ${JSON.stringify(chatChunk({ content: 'x' }))}\n\ndata: ${JSON.stringify({ error })}\n\n` }, { hold: never }],
    });

    const { outcome } = await call(failing({ message: 'overloaded', type: 'server_error' }));

    expect(outcome).toEqual({ outcome: 'failed', code: 'provider_error', message: 'the model provider failed: overloaded' });
    expect((await call(failing('overloaded'))).outcome).toMatchObject({ outcome: 'failed', code: 'provider_error' });
  });
});

describe('a call', () => {
  it.each([400, 401, 404, 429, 500, 503])('S-034: is one request and failed where the provider answers %i', async (status) => {
    const error = { error: { message: `no: ${API_KEY}\nand more`, type: 't' } };
    const { outcome, requests } = await call({
      status,
      headers: { 'content-type': 'application/json', 'retry-after': '0', 'x-secret': 'header-text' },
      steps: [{ send: JSON.stringify(error) }],
    });

    expect(requests()).toBe(1);
    expect(outcome).toEqual({
      outcome: 'failed',
      code: `http_${status}`,
      message: `the model provider answered ${status}: no: [key] and more`,
    });
  });

  it('tells nothing of an error body but a short message', async () => {
    const long = await call({ status: 500, steps: [{ send: JSON.stringify({ error: { message: '🦀'.repeat(10_000) } }) }] });
    const page = await call({ status: 502, steps: [{ send: `<html>${'x'.repeat(5000)}</html>` }] });

    expect(failureOf(long.outcome).message.length).toBeLessThan(400);
    expect(failureOf(long.outcome).message.isWellFormed()).toBe(true);
    expect(failureOf(page.outcome)).toMatchObject({ code: 'http_502', message: 'the model provider answered 502: Scripted' });
  });

  it.each([301, 302, 303, 307, 308])('S-034: follows no redirect (%i)', async (status) => {
    const target = await serve({ steps: [{ send: eventStream([chatChunk({}, 'stop')]) }] });
    const { outcome, requests } = await call({ status, headers: { location: `${target.url}/v1/chat/completions` }, steps: [] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code: 'redirect_refused' });
    expect(requests()).toBe(1);
    expect(target.requests).toEqual([]);
  });

  it('S-034: is one request where the connection is reset before a byte of the answer', async () => {
    const lost = await StreamServer.start(() => ({ steps: [] }));
    servers.push(lost);
    const { outcome, requests } = await call({ steps: [{ end: 'reset' }] });

    expect(outcome).toMatchObject({ outcome: 'unknown', code: 'connection_lost' });
    expect(requests()).toBe(1);
  });

  it('is failed where nobody listens, and where the name does not resolve', async () => {
    const gone = await StreamServer.start(() => ({ steps: [] }));
    await gone.close();

    expect(await ask(`${gone.url}/v1`)).toMatchObject({ outcome: 'failed', code: 'connection_refused' });
    expect(await ask('http://no-such-host.invalid/v1')).toMatchObject({ outcome: 'failed', code: 'name_not_resolved' });
  });

  it('S-118: closes its connection and is cancelled as soon as it is told to, while it waits and while it streams', async () => {
    const never = new Promise(() => undefined);
    const waiting = await serve({ steps: [{ hold: never }] });
    const streaming = await serve({ steps: [{ send: `data: ${JSON.stringify(chatChunk({ content: 'one ' }))}\n\n` }, { hold: never }] });

    const first = new AbortController();
    const asked = ask(`${waiting.url}/v1`, {}, { signal: first.signal });
    await until(() => waiting.requests.length === 1);
    first.abort();
    expect(await asked).toEqual({ outcome: 'cancelled', code: 'cancelled', message: 'the call was cancelled' });
    await waiting.requests[0]?.closed;

    const second = new AbortController();
    const answer = ask(`${streaming.url}/v1`, {}, { signal: second.signal, onDelta: () => second.abort() });
    expect(await answer).toMatchObject({ outcome: 'cancelled' });
    await streaming.requests[0]?.closed;
  });

  it('sends nothing where it was cancelled before', async () => {
    const server = await serve({ steps: [] });

    expect(await ask(`${server.url}/v1`, {}, { signal: AbortSignal.abort() })).toMatchObject({ outcome: 'cancelled' });
    expect(server.requests).toEqual([]);
  });

  it('S-034: never shares a connection with another, however soon it comes', async () => {
    const server = await serve({ steps: [{ send: eventStream([chatChunk({ content: 'x' }, 'stop')]) }] });

    for (let count = 0; count < 3; count += 1) expect(await ask(`${server.url}/v1`)).toMatchObject({ outcome: 'ended' });

    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1, 2]);
  });
});

describe('a request', () => {
  const user: Message = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };

  it('goes to the address of the model, with the key as a bearer token and without one where there is none', async () => {
    const server = await serve({ steps: [{ send: eventStream([chatChunk({ content: 'x' }, 'stop')]) }] });

    await ask(`${server.url}/v1`);
    await ask(`${server.url}/v1`, {}, { apiKey: undefined });

    expect(server.requests.map(({ path: at }) => at)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${API_KEY}`, undefined]);
  });

  it('says what a loop set, and offers the tools with schemas of objects', async () => {
    const body = await sent({
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
    const provider = openAiChatProvider({
      apiKey: API_KEY,
      loadLibrary: loadOpenAiCompatible,
      fetch: async (_url, init) => {
        bodies.push(await new Request('http://a.test', { ...init, signal: null }).json());
        return new Response(eventStream([chatChunk({ content: 'x' }, 'stop')]));
      },
    });

    await provider.call(requestTo('https://api.openai.com/v1', { parameters: { max_output_tokens: 9 } }), context());

    expect(bodies).toMatchObject([{ max_completion_tokens: 9 }]);
    expect(bodies[0]).not.toHaveProperty('max_tokens');
  });

  it('gives back the arguments of every call byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(argumentTexts, async (texts) => {
        const calls = texts.map((input_text, index) => ({ type: 'tool_use', id: `c${index}`, name: 'add', input_text }) as const);
        const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: [], is_error: false, outcome: 'ok' }) as const);

        const body = await sent({ messages: [user, { role: 'assistant', content: calls }, { role: 'user', content: results }] });

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
      const message = messageOf((await call({ steps: [{ send: eventStream(chunks) }] })).outcome);
      return (await sent({ messages: [message] }))['messages'];
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

    expect((await sent({ messages: [results] }))['messages']).toEqual([
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
    ];

    expect((await sent({ messages: [{ role: 'user', content }] }))['messages']).toMatchObject([
      {
        content: [
          { type: 'image_url', image_url: { url: 'https://example.test/a.png' } },
          { type: 'text', text: 'a b' },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } },
        ],
      },
    ]);
  });

  it('is not sent where the protocol cannot say it', async () => {
    const server = await serve({ steps: [] });
    const unsayable: readonly Message['content'][] = [
      [{ type: 'file', url: 'https://example.test/a.pdf', media_type: 'application/pdf' }],
      [{ type: 'image', url: 'nowhere', media_type: 'image/png' }],
      [{ type: 'file', url: 'data:application/zip;base64,AAAA', media_type: 'application/zip' }],
    ];

    for (const content of unsayable) {
      expect(await ask(`${server.url}/v1`, { messages: [{ role: 'user', content }] })).toMatchObject({ outcome: 'failed' });
    }
    expect(await ask(`${server.url}/v1`, { parameters: { top_p: 1 } })).toMatchObject({ outcome: 'failed' });
    expect(server.requests).toEqual([]);
  });
});

describe.skipIf(!hasRecordings())('recorded streams (skipped where BRAIN_TEST_DATA names no folder that has them)', () => {
  const recordings = hasRecordings() ? readdirSync(STREAMS_FOLDER).filter((name) => name.endsWith('.jsonl')) : [];

  it.each(recordings)('%s comes out as what its chunks say, in writes of any size', async (name) => {
    const chunks = readFileSync(path.join(STREAMS_FOLDER, name), 'utf8').split('\n').filter((line) => line !== '');
    const deltas = chunks.map(parseDelta);
    const text = deltas.map(({ content }) => content ?? '').join('');
    const reasoning = deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('');
    const input = deltas.map(({ tool_calls }) => tool_calls?.[0]?.function?.arguments ?? '').join('');

    for (const bytesPerWrite of [997, 100_000]) {
      const { outcome } = await call({ steps: [{ send: eventStream(chunks), bytesPerWrite }] });
      const { content } = messageOf(outcome);

      const textsOf = (type: 'text' | 'reasoning') => content.map((block) => (block.type === type ? block.text : '')).join('');
      expect({ text: textsOf('text'), reasoning: textsOf('reasoning') }).toEqual({ text, reasoning });
      expect(content.map((block) => (block.type === 'tool_use' ? block.input_text : '')).join('')).toBe(input);
    }
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

interface Given {
  readonly signal?: AbortSignal;
  readonly onDelta?: (delta: ModelDelta) => void;
  readonly apiKey?: string | undefined;
}

function context({ signal = new AbortController().signal, onDelta = () => undefined }: Given = {}) {
  return { signal, onDelta };
}

function requestTo(base_url: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: { provider: 'openai', name: 'some/model', protocol: 'openai-chat', base_url },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    ...more,
  };
}

async function ask(base_url: string, more: Partial<ModelRequest> = {}, given: Given = {}): Promise<ModelOutcome> {
  const apiKey = 'apiKey' in given ? given.apiKey : API_KEY;
  const provider = openAiChatProvider({ apiKey, fetch: connections.fetch, loadLibrary: loadOpenAiCompatible });
  return await provider.call(requestTo(base_url, more), context(given));
}

async function serve(answer: StreamAnswer): Promise<StreamServer> {
  const server = await StreamServer.start(() => answer);
  servers.push(server);
  return server;
}

/** One call of a server that answers so. */
async function call(answer: StreamAnswer) {
  const server = await serve(answer);
  const deltas: ModelDelta[] = [];
  const outcome = await ask(`${server.url}/v1`, {}, { onDelta: (delta) => deltas.push(delta) });
  return { outcome, deltas, requests: () => server.requests.length };
}

/** The body of the request that is made. */
async function sent(more: Partial<ModelRequest>): Promise<Record<string, unknown>> {
  const server = await serve({ steps: [{ send: eventStream([chatChunk({ content: 'x' }, 'stop')]) }] });
  expect(await ask(`${server.url}/v1`, more)).toMatchObject({ outcome: 'ended' });
  await server.close();
  return JSON.parse(server.requests[0]?.body ?? '') as Record<string, unknown>;
}

function messageOf(outcome: ModelOutcome): Message {
  if (outcome.outcome !== 'ended') throw new Error(`${outcome.outcome}: ${outcome.message}`);
  return outcome.message;
}

function failureOf(outcome: ModelOutcome) {
  if (outcome.outcome === 'ended') throw new Error('an answer');
  return outcome;
}

function joined(deltas: readonly ModelDelta[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [kind, text] of deltas.flatMap((delta) => Object.entries(delta))) texts[kind] = (texts[kind] ?? '') + text;
  return texts;
}

interface RecordedDelta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly { readonly function?: { readonly arguments?: string } }[];
}

function parseDelta(chunk: string): RecordedDelta {
  const { choices } = JSON.parse(chunk) as { readonly choices: readonly { readonly delta?: RecordedDelta }[] };
  return choices[0]?.delta ?? {};
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

function hasRecordings(): boolean {
  return existsSync(STREAMS_FOLDER);
}
