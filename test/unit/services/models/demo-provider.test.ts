import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { userMessage, type Message, type ToolOutcome } from '../../../../machines/messages.ts';
import { demoProvider } from '../../../../services/models/demo-provider.ts';
import { demoCallsIn } from '../../../../services/models/demo-requests.ts';
import type { ModelDelta, ModelOutcome, ModelRequest } from '../../../../services/models/model-provider.ts';

const ALL = ['current_time', 'add', 'wait'];

describe('demo/echo', () => {
  it('repeats what it was told, in words that put together are the answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const { outcome, deltas } = await ask([userMessage(text)], []);

        expect(outcome).toMatchObject({ outcome: 'ended', finish_reason: 'stop', message: { content: [{ type: 'text', text: `You said: ${text}` }] } });
        expect(deltas.map((delta) => ('text' in delta ? delta.text : '')).join('')).toBe(`You said: ${text}`);
        expect(deltas.every((delta) => 'text' in delta && /^\s*\S*\s*$/.test(delta.text))).toBe(true);
      }),
    );
  });

  it('answers the last message', async () => {
    const { outcome } = await ask([userMessage('a'), assistant({ type: 'text', text: 'b' }), userMessage('c')], ALL);

    expect(textIn(outcome)).toBe('You said: c');
  });

  it.each<[string, readonly [string, object][]]>([
    ['What time is it?', [['current_time', {}]]],
    ['Tell me the time, please.', [['current_time', {}]]],
    ['what is 2 + 3', [['add', { numbers: [2, 3] }]]],
    ['2+3+4?', [['add', { numbers: [2, 3, 4] }]]],
    ['add 2 and 3', [['add', { numbers: [2, 3] }]]],
    ['What is the sum of 1, 2 and 3?', [['add', { numbers: [1, 2, 3] }]]],
    ['add -1.5 to 2', [['add', { numbers: [-1.5, 2] }]]],
    ['wait 3 seconds', [['wait', { seconds: 3 }]]],
    ['Wait for 2s', [['wait', { seconds: 2 }]]],
    ['wait 200 ms, then wait a minute', [['wait', { seconds: 0.2 }], ['wait', { seconds: 60 }]]],
    [
      'What time is it, and what is 2 + 3? Then wait 2 seconds.',
      [['current_time', {}], ['add', { numbers: [2, 3] }], ['wait', { seconds: 2 }]],
    ],
    ['wait 1 second and add 1 and 2', [['wait', { seconds: 1 }], ['add', { numbers: [1, 2] }]]],
    ['I had no time to add anything, so please wait.', []],
    [`add ${'9'.repeat(400)} and 1`, []],
  ])('hears in %j what it is asked for', (text, calls) => {
    expect(demoCallsIn(text, ALL).map(({ tool, input_text }) => [tool, JSON.parse(input_text) as object])).toEqual(calls);
  });

  it.each<[string, readonly [string, string][]]>([
    ['call look', [['look', '{}']]],
    ['Please use the tool `look`.', [['look', '{}']]],
    ['call look {"at": "2 + 3, and what time is it"}', [['look', '{"at": "2 + 3, and what time is it"}']]],
    ['use act with {"a": {"b": "}"}} and call look {"c": "\\"}"}', [['act', '{"a": {"b": "}"}}'], ['look', '{"c": "\\"}"}']]],
    ['What time is it? Call act {}, then use look, then wait 2 s.', [['current_time', '{}'], ['act', '{}'], ['look', '{}'], ['wait', '{"seconds":2}']]],
    ['call add 2 and 3', [['add', '{"numbers":[2,3]}']]],
    ['call add {"numbers": [2, 3]}', [['add', '{"numbers": [2, 3]}']]],
    ['call act {a: 1}', [['act', '{a: 1}']]],
    ['call act {"a": [1, and call look', [['act', '{"a": [1, and call look']]],
    ['call me, use other {"a": 1}, recall act', []],
  ])('hears in %j the tools that it names', (text, calls) => {
    expect(demoCallsIn(text, [...ALL, 'look', 'act']).map(({ tool, input_text }) => [tool, input_text])).toEqual(calls);
  });

  it('calls any tool that it is offered, as it is told to, and leaves what is no JSON as it is', async () => {
    const { outcome } = await ask([userMessage('call look, use act with {"a": 1} and call act {a: 1}')], ['look', 'act']);

    expect(messageOf(outcome).content).toEqual([
      { type: 'tool_use', id: 'call_1', name: 'look', input: {}, input_text: '{}' },
      { type: 'tool_use', id: 'call_2', name: 'act', input: { a: 1 }, input_text: '{"a": 1}' },
      { type: 'tool_use', id: 'call_3', name: 'act', input_text: '{a: 1}' },
    ]);
  });

  it('tells what a tool that it does not know answered', async () => {
    const asked = messageOf((await ask([userMessage('call look, call look, call act')], ['look', 'act'])).outcome);

    expect(textIn((await ask([asked, results(['{"sky":"blue"}', 'ok'], ['no light.', 'error'], ['who knows', 'unknown'])], ALL)).outcome)).toBe(
      'The tool look answered: {"sky":"blue"}. The tool look failed: no light. The outcome of the tool act is unknown: it may have run.',
    );
  });

  it('asks for all tools of a message in one answer, with ids that are the same every time and new in the conversation', async () => {
    const told = userMessage('What is 2 + 3, and what time is it?');
    const { outcome, deltas } = await ask([told], ALL);
    const again = await ask([told], ALL);
    const message = messageOf(outcome);
    const next = await ask([told, message, results(['5', 'ok'], ['12:00', 'ok']), userMessage('add 1 and 1')], ALL);

    expect(outcome).toMatchObject({ finish_reason: 'tool_calls' });
    expect(message.content).toEqual([
      { type: 'tool_use', id: 'call_1', name: 'add', input: { numbers: [2, 3] }, input_text: '{"numbers":[2,3]}' },
      { type: 'tool_use', id: 'call_2', name: 'current_time', input: {}, input_text: '{}' },
    ]);
    expect(deltas).toEqual([{ tool_input: '{"numbers":[2,3]}' }, { tool_input: '{}' }]);
    expect(again.outcome).toEqual(outcome);
    expect(messageOf(next.outcome).content).toMatchObject([{ id: 'call_3' }]);
  });

  it('asks for no tool that it is not offered', async () => {
    const { outcome } = await ask([userMessage('What is 2 + 3, and what time is it?')], ['current_time']);

    expect(messageOf(outcome).content).toMatchObject([{ name: 'current_time' }]);
    expect(textIn((await ask([userMessage('add 2 and 3')], [])).outcome)).toBe('You said: add 2 and 3');
  });

  it('tells each result, and says plainly what is not known', async () => {
    const asked = messageOf((await ask([userMessage('add 2 and 3, tell me the time, wait 1 s, wait 2 s, wait 3 s, wait 4 s')], ALL)).outcome);
    const told = results(['5', 'ok'], ['2026-01-01T12:00:00Z', 'ok'], ['', 'unknown'], ['', 'cancelled'], ['', 'timeout'], ['no', 'error']);

    expect(textIn((await ask([asked, told], ALL)).outcome)).toBe(
      'The sum is 5. The time is 2026-01-01T12:00:00Z. The outcome of the tool wait is unknown: it may have run. ' +
        'The call of the tool wait was cancelled. The tool wait timed out. The tool wait failed: no.',
    );
  });

  it('answers what is said after results that it was given late', async () => {
    const asked = messageOf((await ask([userMessage('wait 5 seconds')], ALL)).outcome);

    expect(textIn((await ask([asked, results(['', 'unknown']), userMessage('Hello')], ALL)).outcome)).toBe('You said: Hello');
  });

  it('counts words', async () => {
    const { outcome } = await ask([userMessage('one two three')], []);

    expect(outcome).toMatchObject({ usage: { input_tokens: 3, output_tokens: 5 } });
  });

  it('S-118: says no more once it is cancelled', async () => {
    const stop = new AbortController();
    const deltas: ModelDelta[] = [];
    const outcome = await demoProvider.call(request([userMessage('one two three')], []), {
      signal: stop.signal,
      onDelta: (delta) => {
        deltas.push(delta);
        if (deltas.length === 2) stop.abort();
      },
    });

    expect(outcome).toMatchObject({ outcome: 'cancelled' });
    expect(deltas).toHaveLength(2);
  });
});

function request(messages: readonly Message[], tools: readonly string[]): ModelRequest {
  return {
    model: { provider: 'demo', name: 'echo', protocol: 'demo' },
    messages,
    tools: tools.map((name) => ({ name, description: '', input_schema: {} })),
  };
}

async function ask(messages: readonly Message[], tools: readonly string[]) {
  const deltas: ModelDelta[] = [];
  const context = { signal: new AbortController().signal, onDelta: (delta: ModelDelta) => deltas.push(delta) };
  return { outcome: await demoProvider.call(request(messages, tools), context), deltas };
}

function assistant(...content: Message['content']): Message {
  return { role: 'assistant', content };
}

function results(...ends: readonly (readonly [string, ToolOutcome])[]): Message {
  return {
    role: 'user',
    content: ends.map(([text, outcome]) => ({
      type: 'tool_result',
      tool_use_id: 'x',
      content: text === '' ? [] : [{ type: 'text', text }],
      is_error: outcome !== 'ok',
      outcome,
    })),
  };
}

function messageOf(outcome: ModelOutcome): Message {
  if (outcome.outcome !== 'ended') throw new Error(outcome.message);
  return outcome.message;
}

function textIn(outcome: ModelOutcome): string {
  return messageOf(outcome).content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
