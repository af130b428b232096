import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message, ToolResultBlock } from '../../../../machines/messages.ts';
import type { ModelRequest } from '../../../../services/models/model-provider.ts';
import { readAnthropicRequest } from '../../../support/anthropic-request.ts';
import { anyConversation, argumentText } from './conversations.ts';
import { ANTHROPIC, anthropicBlock, anthropicEnd, anthropicStart, typedStream } from '../../../support/provider-protocols.ts';
import { messageOf, ProviderStage } from './provider-stage.ts';

let stage = new ProviderStage(ANTHROPIC);
afterEach(async () => {
  await stage.close();
  stage = new ProviderStage(ANTHROPIC);
});

const user: Message = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };
const use = (input_text: string, id = 'x') => ({ type: 'tool_use', id, name: 'add', input_text }) as const;
const result = (more: Partial<ToolResultBlock> = {}) => ({ type: 'tool_result', tool_use_id: 'x', content: [], is_error: false, outcome: 'ok', ...more }) as const;
const assistant = (...content: Message['content']): Message => ({ role: 'assistant', content });
const said = (...content: Message['content']): Message => ({ role: 'user', content });
const model = (name: string): Partial<ModelRequest> => ({ model: { provider: 'some', name, protocol: 'anthropic', base_url: '' } });

async function turns(messages: readonly Message[]) {
  return (await stage.sent({ messages }))['messages'];
}

describe('a request', () => {
  it('says what a loop set, and offers the tools with schemas of objects', async () => {
    const body = await stage.sent({
      system: 'Be brief.',
      tools: [{ name: 'now', description: 'Tells the time', input_schema: {} }],
      parameters: { max_output_tokens: 9, temperature: 0 },
    });

    expect(body).toEqual({
      model: 'some/model',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      stream: true,
      tools: [{ name: 'now', description: 'Tells the time', input_schema: { type: 'object', properties: {} } }],
      max_tokens: 9,
      temperature: 0,
    });
  });

  it('is one that a strict provider accepts, for every conversation that is in order', async () => {
    await fc.assert(
      fc.asyncProperty(anyConversation, async (messages) => {
        expect(readAnthropicRequest(await stage.bodySent({ messages }))).toHaveProperty('request');
      }),
      { numRuns: 200 },
    );
  });

  it('gives back the arguments of every call byte for byte, where they are an object', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.object().map((value) => JSON.stringify(value)), argumentText), { minLength: 1, maxLength: 3 }), async (texts) => {
        const calls = texts.map((text, index) => use(text, `c${index}`));
        const body = await stage.bodySent({ messages: [user, assistant(...calls), said(...calls.map(({ id }) => result({ tool_use_id: id })))] });

        for (const text of texts.filter(isUsualObject)) expect(body).toContain(`"name":"add","input":${text}}`);
      }),
      { numRuns: 60 },
    );
  });

  it('gives back arguments that are no object as text in one, none as {}, and half characters as what they were taken for', async () => {
    const inputs = ['{"a":2,"b":', '[1]', 'null', '', '{"a":"\\ud83e"}'].map((text, index) => use(text, `c${index}`));

    expect(await turns([user, assistant(...inputs), said(...inputs.map(({ id }) => result({ tool_use_id: id })))])).toMatchObject([
      {},
      {
        content: [
          { input: { INVALID_JSON: '{"a":2,"b":' } },
          { input: { INVALID_JSON: '[1]' } },
          { input: { INVALID_JSON: 'null' } },
          { input: {} },
          { input: { a: '\ufffd' } },
        ],
      },
      {},
    ]);
  });

  it('S-083: gives back reasoning with its signature exactly as it came, in its place, and none without', async () => {
    const blocks = [
      anthropicBlock(0, { type: 'thinking', thinking: '' }, [{ type: 'thinking_delta', thinking: ' Well,\n🦀 ' }, { type: 'signature_delta', signature: 'c2ln/+==' }]),
      anthropicBlock(1, { type: 'redacted_thinking', data: 'ZW5j/+==' }),
      anthropicBlock(2, { type: 'text', text: 'First ' }),
      anthropicBlock(3, { type: 'thinking', thinking: '' }, [{ type: 'signature_delta', signature: 'b25s' }]),
      anthropicBlock(4, { type: 'thinking', thinking: 'cut off' }),
      anthropicBlock(5, { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} }, [{ type: 'input_json_delta', partial_json: '{ "n" : 1.0 }' }]),
      anthropicBlock(6, { type: 'text', text: 'between' }),
      anthropicBlock(7, { type: 'tool_use', id: 'toolu_2', name: 'add', input: {} }),
    ];
    const stream = typedStream([anthropicStart(), ...blocks.flat(), ...anthropicEnd('tool_use')]);
    const message = messageOf((await stage.call({ steps: [{ send: stream }] })).outcome);
    const answers = said(result({ tool_use_id: 'toolu_1' }), result({ tool_use_id: 'toolu_2' }));

    expect(await turns([user, message, answers])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: ' Well,\n🦀 ', signature: 'c2ln/+==' },
          { type: 'redacted_thinking', data: 'ZW5j/+==' },
          { type: 'text', text: 'First ' },
          { type: 'thinking', thinking: '', signature: 'b25s' },
          { type: 'tool_use', id: 'toolu_1', name: 'add', input: { n: 1 } },
          { type: 'text', text: 'between' },
          { type: 'tool_use', id: 'toolu_2', name: 'add', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1' },
          { type: 'tool_result', tool_use_id: 'toolu_2' },
        ],
      },
    ]);
  });

  it('makes one turn of what one side says in several messages, with the results first', async () => {
    const failed = result({ content: [{ type: 'text', text: 'no' }], is_error: true, outcome: 'error' });
    const silent = result({ tool_use_id: 'y', is_error: true, outcome: 'error' });

    expect(await turns([user, assistant(use('{}'), use('{}', 'y')), said({ type: 'text', text: 'And?' }, failed, silent), user])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'x', name: 'add', input: {} },
          { type: 'tool_use', id: 'y', name: 'add', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x', is_error: true, content: [{ type: 'text', text: 'no' }] },
          { type: 'tool_result', tool_use_id: 'y', is_error: true, content: [{ type: 'text', text: 'The tool failed and said nothing more.' }] },
          { type: 'text', text: 'And?' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ]);
  });

  it('tells calls apart whose ids repeat, by their places', async () => {
    const answer = (text: string) => said(result({ content: [{ type: 'text', text }] }));

    expect(await turns([user, assistant(use('{}')), answer('one'), assistant(use('{}')), answer('two')])).toMatchObject([
      {},
      { content: [{ id: 'x' }] },
      { content: [{ tool_use_id: 'x', content: [{ text: 'one' }] }] },
      { content: [{ id: 'x_2' }] },
      { content: [{ tool_use_id: 'x_2', content: [{ text: 'two' }] }] },
    ]);
  });

  it('offers the tools of earlier calls, and lets none be called, where there are none any more', async () => {
    expect(await stage.sent({ messages: [user, assistant(use('{}')), said(result())] })).toMatchObject({
      tools: [{ name: 'add', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
    expect(await stage.sent({})).not.toHaveProperty('tools');
  });

  it('shows images and files, in what is said and in results', async () => {
    const png = { type: 'image', url: 'DATA:image/png;base64,AAAA', media_type: 'image/png' } as const;
    const pdf = { type: 'file', url: 'https://example.test/a.pdf', media_type: 'application/pdf' } as const;
    const csv = { type: 'file', url: 'data:text/csv,a%2C🦀', media_type: 'text/csv' } as const;

    expect(await turns([user, assistant(use('{}')), said(result({ content: [png, pdf] }), csv)])).toMatchObject([
      {},
      {},
      {
        content: [
          {
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
              { type: 'document', source: { type: 'url', url: 'https://example.test/a.pdf' } },
            ],
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,🦀' } },
        ],
      },
    ]);
  });

  it('is not sent where the protocol cannot say it', async () => {
    const server = await stage.serve({ steps: [] });
    const ask = (more: Partial<ModelRequest>) => stage.ask(`${server.url}/v1`, more);
    const unsayable: readonly Message['content'][] = [
      [{ type: 'image', url: 'nowhere', media_type: 'image/png' }],
      [{ type: 'file', url: 'data:application/zip;base64,AAAA', media_type: 'application/zip' }],
      [{ type: 'file', url: 'https://example.test/a.txt', media_type: 'text/plain' }],
    ];

    for (const content of unsayable) {
      expect(await ask({ messages: [said(...content)] })).toMatchObject({ outcome: 'failed', code: 'unsupported_content' });
    }
    expect(await ask({ parameters: { top_p: 1 } })).toMatchObject({ outcome: 'failed', code: 'unsupported_content' });
    expect(await ask({ parameters: { temperature: 1.5 } })).toMatchObject({ outcome: 'failed', code: 'unsupported_content' });
    expect(await ask({ parameters: { reasoning_effort: 'endless' } })).toMatchObject({ outcome: 'failed', code: 'unsupported_content' });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['claude-3-7-sonnet-latest', 'low', { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['claude-sonnet-4-20250514', 'high', { thinking: { type: 'enabled', budget_tokens: 16_384 } }],
    ['claude-sonnet-4-5', 'minimal', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['some-other/model', 'medium', { thinking: { type: 'enabled', budget_tokens: 8192 } }],
    ['claude-opus-4-6', 'minimal', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['claude-sonnet-5', 'high', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ])('asks %s for an effort of %s in the words that it knows', async (name, reasoning_effort, expected) => {
    const server = await stage.serve({ steps: [{ send: ANTHROPIC.answer('x') }] });
    const request = { ...model(name).model, provider: 'some', name, protocol: 'anthropic', base_url: `${server.url}/v1` };

    expect(await stage.ask('', { model: request, parameters: { reasoning_effort, max_output_tokens: 100 } })).toMatchObject({ outcome: 'ended' });

    const { thinking, output_config, max_tokens } = JSON.parse(server.requests[0]?.body ?? '') as Record<string, unknown>;
    expect({ thinking, ...(output_config === undefined ? {} : { output_config }) }).toEqual(expected);
    expect(max_tokens).toBe(100 + ('budget_tokens' in expected.thinking ? (expected.thinking.budget_tokens ?? 0) : 0));
    expect(readAnthropicRequest(server.requests[0]?.body ?? '')).toHaveProperty('request');
  });
});

describe('the parameters of a request', () => {
  it.each([
    ['claude-opus-4-6', {}, { max_tokens: 128_000, temperature: 0.5 }],
    ['claude-opus-4-6', { max_output_tokens: 10 }, { max_tokens: 10, temperature: 0.5 }],
    ['claude-opus-4-6', { reasoning_effort: 'high' }, { max_tokens: 128_000, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['claude-sonnet-4-5', { reasoning_effort: 'low', max_output_tokens: 10 }, { max_tokens: 2058, thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['claude-sonnet-5', {}, { max_tokens: 128_000 }],
    ['another/model', {}, { max_tokens: 4096, temperature: 0.5 }],
  ])('are for %s and a temperature, with %j besides, what it takes', (name, parameters, expected) => {
    const request: ModelRequest = {
      model: { provider: 'some', name, protocol: 'anthropic', base_url: 'http://a.test/v1' },
      messages: [],
      tools: [],
      parameters: { temperature: 0.5, ...parameters },
    };

    const { model: _model, messages: _messages, stream: _stream, ...rest } = JSON.parse(ANTHROPIC.client.body(request)) as Record<string, unknown>;

    expect(rest).toEqual(expected);
  });
});

function isUsualObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !/\\u/.test(JSON.stringify(value));
  } catch {
    return false;
  }
}
