import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message, ToolResultBlock } from '../../../../machines/messages.ts';
import type { ModelRequest } from '../../../../services/models/model-provider.ts';
import { readResponsesRequest } from '../../../support/responses-request.ts';
import { anyConversation, argumentText } from './conversations.ts';
import { OPENAI_RESPONSES, responsesCall, responsesEnd, responsesItem, responsesStart, typedStream } from '../../../support/provider-protocols.ts';
import { messageOf, ProviderStage } from './provider-stage.ts';

let stage = new ProviderStage(OPENAI_RESPONSES);
afterEach(async () => {
  await stage.close();
  stage = new ProviderStage(OPENAI_RESPONSES);
});

const user: Message = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };
const hi = { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
const use = (input_text: string, id = 'x') => ({ type: 'tool_use', id, name: 'add', input_text }) as const;
const result = (more: Partial<ToolResultBlock> = {}) => ({ type: 'tool_result', tool_use_id: 'x', content: [], is_error: false, outcome: 'ok', ...more }) as const;
const assistant = (...content: Message['content']): Message => ({ role: 'assistant', content });
const said = (...content: Message['content']): Message => ({ role: 'user', content });

async function input(messages: readonly Message[]) {
  return (await stage.sent({ messages }))['input'];
}

describe('a request', () => {
  it('says what a loop set, offers the tools as they are, and asks to keep nothing', async () => {
    const body = await stage.sent({
      system: 'Be brief.',
      tools: [{ name: 'now', description: 'Tells the time', input_schema: {} }],
      parameters: { max_output_tokens: 99, temperature: 0 },
    });

    expect(body).toEqual({
      model: 'some/model',
      instructions: 'Be brief.',
      input: [hi],
      store: false,
      stream: true,
      tools: [{ type: 'function', name: 'now', description: 'Tells the time', parameters: { type: 'object', properties: {} }, strict: false }],
      max_output_tokens: 99,
      temperature: 0,
    });
  });

  it('asks for reasoning that can be given back where the model reasons, or is asked to', async () => {
    const encrypted = { include: ['reasoning.encrypted_content'] };

    expect(await stage.sent({ parameters: { reasoning_effort: 'low' } })).toMatchObject({ ...encrypted, reasoning: { effort: 'low' } });
    expect(await stage.sent({})).not.toHaveProperty('include');
  });

  it('is one that a strict provider accepts, for every conversation that is in order', async () => {
    await fc.assert(
      fc.asyncProperty(anyConversation, async (messages) => {
        expect(readResponsesRequest(await stage.bodySent({ messages }))).toHaveProperty('request');
      }),
      { numRuns: 200 },
    );
  });

  it('gives back the arguments of every call byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(argumentText, { minLength: 1, maxLength: 3 }), async (texts) => {
        const calls = texts.map((text, index) => use(text, `c${index}`));

        expect(await input([user, assistant(...calls), said(...calls.map(({ id }) => result({ tool_use_id: id })))])).toEqual([
          hi,
          ...calls.map(({ id, input_text }) => ({ type: 'function_call', call_id: id, name: 'add', arguments: input_text })),
          ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: '' })),
        ]);
      }),
      { numRuns: 30 },
    );
  });

  it('S-083: gives back reasoning as the item that came, in its place, and none of which half came', async () => {
    const whole = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm 🦀' }], encrypted_content: 'ZW5j/+==', status: null };
    const half = { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 'Half' }] };
    const content = [
      { type: 'output_text', text: 'Well', annotations: [] },
      { type: 'refusal', refusal: 'no' },
    ];
    const events = [
      responsesStart(),
      ...responsesItem(0, whole, []),
      ...responsesItem(1, { type: 'message', id: 'msg_1', role: 'assistant', phase: 'commentary', content }, []),
      ...responsesItem(2, half, []),
      ...responsesCall(3, '{ "n" : 1.0 }'),
      ...responsesItem(4, { ...whole, id: 'rs_3' }, []),
      responsesEnd(),
    ];
    const message = messageOf((await stage.call({ steps: [{ send: typedStream(events) }] })).outcome);

    expect(await input([user, message, said(result({ tool_use_id: 'call_3' }))])).toEqual([
      hi,
      whole,
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'Well' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'function_call', call_id: 'call_3', name: 'add', arguments: '{ "n" : 1.0 }' },
      { type: 'function_call_output', call_id: 'call_3', output: '' },
    ]);
  });

  it('names no message whose reasoning is not with it', async () => {
    const text = { type: 'text', text: 'Well', provider: { id: 'msg_1' } } as const;

    expect(await input([user, assistant({ type: 'reasoning', text: 'Hm' }, text)])).toEqual([
      hi,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Well' }] },
    ]);
  });

  it('puts the outputs of tools before what the user says in the same message, with their images', async () => {
    const image = { type: 'image', url: 'data:image/png;base64,AAAA', media_type: 'image/png' } as const;
    const results = said({ type: 'text', text: 'And?' }, result({ content: [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }] }), result({ content: [{ type: 'text', text: 'see' }, image] }));

    expect(await input([user, assistant(use('{}'), use('{}')), results])).toEqual([
      hi,
      { type: 'function_call', call_id: 'x', name: 'add', arguments: '{}' },
      { type: 'function_call', call_id: 'x_2', name: 'add', arguments: '{}' },
      { type: 'function_call_output', call_id: 'x', output: 'one\ntwo' },
      {
        type: 'function_call_output',
        call_id: 'x_2',
        output: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ]);
  });

  it('shows files by their address or their content', async () => {
    const files: Message['content'] = [
      { type: 'file', url: 'https://example.test/a.pdf', media_type: 'application/pdf' },
      { type: 'file', url: 'data:text/csv,a%2Cb', media_type: 'text/csv' },
    ];

    expect(await input([said(...files)])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_file', file_url: 'https://example.test/a.pdf' },
          { type: 'input_file', filename: 'file.csv', file_data: `data:text/csv;base64,${Buffer.from('a,b').toString('base64')}` },
        ],
      },
    ]);
  });

  it('is not sent where the protocol cannot say it', async () => {
    const server = await stage.serve({ steps: [] });
    const ask = (more: Partial<ModelRequest>) => stage.ask(`${server.url}/v1`, more);

    expect(await ask({ messages: [said({ type: 'image', url: 'nowhere', media_type: 'image/png' })] })).toMatchObject({ outcome: 'failed' });
    expect(await ask({ messages: [said({ type: 'file', url: 'data:x/y,a', media_type: 'x/y' })] })).toMatchObject({ outcome: 'failed' });
    expect(await ask({ parameters: { top_p: 1 } })).toMatchObject({ outcome: 'failed', code: 'unsupported_content' });
    expect(server.requests).toEqual([]);
  });
});

describe('the parameters of a request', () => {
  const encrypted = ['reasoning.encrypted_content'];

  it.each([
    ['gpt-4o', {}, { temperature: 0.5 }],
    ['gpt-4o', { reasoning_effort: 'low' }, { include: encrypted, reasoning: { effort: 'low' } }],
    ['o3', {}, { include: encrypted }],
    ['gpt-5.1', { reasoning_effort: 'none' }, { include: encrypted, reasoning: { effort: 'none' }, temperature: 0.5 }],
    ['gpt-6', { reasoning_effort: 'minimal' }, { include: encrypted }],
  ])('are for %s and a temperature, with %j besides, what it takes', (name, parameters, expected) => {
    const request: ModelRequest = {
      model: { provider: 'some', name, protocol: 'openai-responses', base_url: 'http://a.test/v1' },
      messages: [],
      tools: [],
      parameters: { temperature: 0.5, ...parameters },
    };

    const { model: _model, input: _input, stream: _stream, store: _store, ...rest } = JSON.parse(OPENAI_RESPONSES.client.body(request)) as Record<string, unknown>;

    expect(rest).toEqual(expected);
  });
});
