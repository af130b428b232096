/** What every loop of this server does, whichever policy it has. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentOf, toolUsesOf, userMessage, type Block, type Message, type ToolResultBlock } from '../../../../machines/messages.ts';
import type { ToolCallEnd } from '../../../../machines/open-tool-calls.ts';
import type { FinishReason } from '../../../../machines/records.ts';
import type { AgentLoop, LoopToolCall } from '../../../../services/loops/agent-loop.ts';
import { strictRefusal } from '../../../support/strict-messages.ts';
import { FakeSession, UNKNOWN_OUTPUT, type ScriptedAnswer } from './fake-session.ts';

const TOOLS = ['add', 'wait'];

export function describeLoop(loop: AgentLoop): void {
  describe(`the loop ${loop.name}`, () => {
    it('answers with the model’s message and saves both', async () => {
      const session = new FakeSession(scripted([said('Hello.')]), { tools: TOOLS });

      const result = await session.turn(loop, 'Hi');

      const answered = session.events.find(({ type }) => type === 'model_call_ended');
      expect(result).toEqual({ kind: 'returned', result: { sequence: answered?.sequence } });
      expect(session.transcript).toEqual([userMessage('Hi'), assistant({ type: 'text', text: 'Hello.' })]);
    });

    it('sends what the session is configured with, and nothing where it is not', async () => {
      const session = new FakeSession(scripted([said('a'), said('b')]), { tools: TOOLS });

      await session.turn(loop, 'Hi');
      await session.turn(loop, 'Hi', { more: { configuration: { temperature: 0, max_output_tokens: 5 } } });

      expect(session.requests[0]).toEqual({ messages: [userMessage('Hi')] });
      expect(session.requests[1]).toMatchObject({ parameters: { temperature: 0, max_output_tokens: 5 } });
    });

    it('calls the tools of an answer in one dispatch and puts their results into one message, in the order of the calls', async () => {
      const asked = [use('x', 'add', '{"a":1}'), use('x', 'wait', '{}'), use('y', 'add', '{"a":2}')];
      const session = new FakeSession(scripted([calls(...asked), said('Done.')]), { tools: TOOLS });

      await session.turn(loop, 'Go');

      expect(session.dispatched.map(({ input_text }) => input_text)).toEqual(['{"a":1}', '{}', '{"a":2}']);
      expect(session.requests[1]?.messages).toEqual([
        userMessage('Go'),
        assistant(...asked),
        { role: 'user', content: [result('x', 'end 0'), result('x', 'end 1'), result('y', 'end 2')] },
      ]);
    });

    it('gives an answer back as it came: signatures, ids that repeat, arguments to the letter, whoever asks next (case 35)', async () => {
      const answer: Message['content'] = [
        { type: 'reasoning', text: 'Hm.', provider: { signature: 'c2ln', order: [2, 1] } },
        { type: 'text', text: 'I see.', provider: { id: 'msg_1' } },
        { ...use('x', 'add', '{"b": 1e0, "a":"\\u00e9"}'), input: { b: 1, a: 'é' }, provider: { item: 'fc_1' } },
        use('x', 'add', '{ }'),
      ];
      const session = new FakeSession(scripted([calls(...answer), said('Done.'), said('Again.')]), { tools: TOOLS });

      await session.turn(loop, 'Go');
      await session.turn(loop, 'And?');

      expect(session.dispatched.map(({ tool_use_id, input_text }) => [tool_use_id, input_text])).toEqual([
        ['x', '{"b": 1e0, "a":"\\u00e9"}'],
        ['x', '{ }'],
      ]);
      for (const { messages } of session.requests.slice(1)) expect(messages[1]).toStrictEqual(assistant(...answer));
    });

    it('fails where the model failed, and where nobody knows, and leaves no trace of it in the transcript', async () => {
      const session = new FakeSession(
        scripted([
          { outcome: 'failed', code: 'http_429', message: 'the provider answered 429' },
          { outcome: 'unknown', code: 'connection_lost', message: 'lost' },
          said('Well.'),
        ]),
        { tools: TOOLS },
      );

      expect(await session.turn(loop, 'a')).toEqual({ kind: 'failed', code: 'model_error', message: 'the provider answered 429' });
      expect(await session.turn(loop, 'b')).toEqual({ kind: 'failed', code: 'model_unknown', message: 'lost' });
      expect(await session.turn(loop, 'c')).toMatchObject({ kind: 'returned' });
      expect(session.transcript).toEqual([...['a', 'b', 'c'].map(userMessage), assistant({ type: 'text', text: 'Well.' })]);
    });

    it.each([
      { outcome: 'cancelled', code: 'cancelled', message: '' },
      { outcome: 'refused', code: 'turn_cancelled', message: '' },
      { outcome: 'refused', code: 'model_call_limit', message: '' },
    ] as const)('returns without a result where a call is $outcome ($code): Brain knows why', async (answer) => {
      const session = new FakeSession(scripted([answer]), { tools: TOOLS });

      expect(await session.turn(loop, 'Hi')).toEqual({ kind: 'returned' });
    });

    it('never sends a call whose arguments are no JSON, and tells the model; the others are sent (case 36)', async () => {
      const asked = [use('x', 'add', '{"a":2,"b":'), use('y', 'add', '{"a":1}'), use('z', 'wait', '')];
      const session = new FakeSession(scripted([calls(...asked), said('Done.')]), { tools: TOOLS });

      await session.turn(loop, 'Go');

      expect(session.dispatched.map(({ tool_use_id }) => tool_use_id)).toEqual(['y', 'z']);
      expect(resultsIn(session.transcript[2])).toMatchObject([
        { tool_use_id: 'x', is_error: true, outcome: 'error', content: [{ text: expect.stringContaining('not valid JSON') as string }] },
        { tool_use_id: 'y', outcome: 'ok', content: [{ text: 'end 0' }] },
        { tool_use_id: 'z', outcome: 'ok', content: [{ text: 'end 1' }] },
      ]);
      expect(session.transcript[1]).toEqual(assistant(...asked));
    });

    it('never sends a call of a tool that is not offered, and dispatches nothing where nothing is left', async () => {
      const session = new FakeSession(scripted([calls(use('x', 'rm', '{}')), said('Done.')]), { tools: TOOLS });

      await session.turn(loop, 'Go');

      expect(session.events.map(({ type }) => type)).not.toContain('tool_call_started');
      expect(resultsIn(session.transcript[2])).toMatchObject([{ is_error: true, content: [{ text: expect.stringContaining('rm') as string }] }]);
    });

    it.each(['length', 'content_filter'] as const)('sends no call of an answer that ends by %s, and ends the turn with it', async (finish_reason) => {
      const answer = { content: [{ type: 'text', text: 'So' }, use('x', 'add', '{}'), use('y', 'add', '{"a":')], finish_reason } as const;
      const session = new FakeSession(scripted([answer, said('Done.')]), { tools: TOOLS });

      const ended = await session.turn(loop, 'Go');
      await session.turn(loop, 'And?');

      expect(ended).toEqual({ kind: 'returned', result: { sequence: session.events.find(({ type }) => type === 'model_call_ended')?.sequence } });
      expect(session.dispatched).toEqual([]);
      expect(session.requests.map(({ messages }) => strictRefusal(messages))).toEqual([null, null]);
      expect(resultsIn(session.transcript[2])).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'cancelled' }]);
    });

    it('sends the calls of an answer that says that it stops', async () => {
      const session = new FakeSession(scripted([{ content: [use('x', 'add', '{}')], finish_reason: 'stop' }, said('Done.')]), { tools: TOOLS });

      await session.turn(loop, 'Go');

      expect(session.dispatched).toHaveLength(1);
    });

    it('keeps an answer without text and without a call out of the transcript', async () => {
      const nothing: ScriptedAnswer = { content: [{ type: 'reasoning', text: 'Hm.' }], finish_reason: 'length' };
      const session = new FakeSession(scripted([nothing, said('Yes.')]), { tools: TOOLS });

      expect(await session.turn(loop, 'a')).toMatchObject({ kind: 'returned', result: {} });
      await session.turn(loop, 'b');

      expect(session.requests[1]?.messages).toEqual([userMessage('a'), userMessage('b')]);
    });

    it('tells of three calls, one of which hung when the process died, two results and one unknown, in their order (case 37)', async () => {
      const asked = [use('x', 'add', '{"a":1}'), use('y', 'wait', '{}'), use('z', 'add', '{"a":2}')];
      const script = scripted([calls(...asked), said('I see.')]);
      const session = new FakeSession({ ...script, tool: (call, index) => (call.tool === 'wait' ? 'never' : ok(index)) }, { tools: TOOLS });

      expect(await session.turn(loop, 'Go')).toBe('died');
      expect(await session.turn(loop, 'What now?')).toMatchObject({ kind: 'returned' });

      expect(session.requests[1]?.messages).toEqual([
        userMessage('Go'),
        assistant(...asked),
        {
          role: 'user',
          content: [result('x', 'end 0'), { ...result('y', UNKNOWN_OUTPUT), is_error: true, outcome: 'unknown' }, result('z', 'end 2')],
        },
        userMessage('What now?'),
      ]);
      expect(session.dispatched).toHaveLength(3);
    });

    it('makes only requests that a strict provider accepts, whatever the model says, and wherever it dies (case 10)', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyAnswer, { minLength: 1, maxLength: 12 }),
          fc.array(anyTurn, { minLength: 1, maxLength: 6 }),
          fc.array(anyEnd, { minLength: 40, maxLength: 40 }),
          anySeed,
          async (answers, turns, ends, seed) => {
            let isOver = false;
            const script = {
              model: (index: number) => (isOver ? said('Enough.') : (answers[index] ?? said('Enough.'))),
              tool: (call: LoopToolCall, index: number) => {
                const end = ends[index] ?? 'never';
                return end === 'never' ? end : { ...end, output: `#${index} ${traceOf(call.tool_use_id, call.tool, call.input_text)}` };
              },
            };
            const session = new FakeSession(script, { tools: TOOLS, seed });

            for (const [index, stepsUntilDeath] of turns.entries()) {
              await session.turn(loop, `message ${index}`, { stepsUntilDeath: stepsUntilDeath ?? Infinity });
            }
            isOver = true;
            await session.turn(loop, 'Are we done?');

            expect(session.requests.map(({ messages }) => strictRefusal(messages)).filter((refusal) => refusal !== null)).toEqual([]);
            expect(toldEnds(session)).toEqual(recordedEnds(session));
            expect(misplacedEnds(session)).toEqual([]);
          },
        ),
        { numRuns: 500 },
      );
    });
  });
}

const anyUse = fc.record({
  type: fc.constant('tool_use' as const),
  id: fc.constantFrom('x', 'y'),
  name: fc.constantFrom('add', 'wait', 'rm'),
  input_text: fc.constantFrom('{}', '', '{"a":1}', '{"a":'),
});

const anyText = fc.constantFrom('Well', '').map((text): Block => ({ type: 'text', text }));

const anyAnswer: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
  { weight: 6, arbitrary: fc.record({
    content: fc.tuple(fc.array(anyText, { maxLength: 1 }), fc.array(anyUse, { maxLength: 3 })).map((parts) => parts.flat()),
    finish_reason: fc.constantFrom<FinishReason>('stop', 'tool_calls', 'tool_calls', 'length', 'content_filter'),
  }) },
  { weight: 1, arbitrary: fc.constantFrom<ScriptedAnswer>({ outcome: 'failed', code: 'c', message: '' }, { outcome: 'unknown', code: 'c', message: '' }) },
);

const anyEnd: fc.Arbitrary<ToolCallEnd | 'never'> = fc.oneof(
  { weight: 5, arbitrary: fc.nat().map((index): ToolCallEnd => ok(index)) },
  { weight: 1, arbitrary: fc.constant({ outcome: 'timeout', output: 'late', is_error: true } as const) },
  { weight: 1, arbitrary: fc.constant('never' as const) },
);

const anyTurn = fc.option(fc.nat({ max: 14 }), { freq: 2 });

const anySeed: fc.Arbitrary<readonly Message[]> = fc.array(
  fc.oneof(
    fc.constant(userMessage('seed')),
    fc.array(anyUse, { minLength: 1, maxLength: 2 }).map((uses) => assistant(...uses)),
    fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 2 }).map((ids): Message => ({ role: 'user', content: ids.map((id) => result(id, 'seeded')) })),
  ),
  { maxLength: 4 },
);

/** What the journal has of the calls that ran, by the sequence of their start. */
function recordedEnds({ events }: FakeSession): readonly string[] {
  return events
    .filter(({ type }) => type === 'tool_call_ended')
    .map(({ data }) => JSON.stringify(contentOf((data as { readonly output: string }).output)))
    .toSorted();
}

/** What the transcript tells of calls that ran, less what it tells of those that did not. */
function toldEnds({ transcript }: FakeSession): readonly string[] {
  return transcript
    .flatMap((message) => resultsIn(message))
    .filter(({ content }) => !/not started|Tool \w+ not found|"seeded"|not known/.test(JSON.stringify(content)))
    .map(({ content }) => JSON.stringify(content))
    .toSorted();
}

/** The results that stand at the place of another call than the one that they are of. */
function misplacedEnds({ transcript }: FakeSession): readonly string[] {
  return transcript.flatMap((message, index) => {
    const results = resultsIn(transcript[index + 1]);
    return toolUsesOf(message).flatMap(({ id, name, input_text }, place) => {
      const told = results[place]?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '';
      return !told.startsWith('#') || told.endsWith(traceOf(id, name, input_text)) ? [] : [told];
    });
  });
}

function traceOf(id: string, tool: string, input: string): string {
  return `${id} ${tool} ${input}`;
}

function scripted(answers: readonly ScriptedAnswer[]) {
  return { model: (index: number) => answers[index] ?? said('Enough.'), tool: (_call: unknown, index: number) => ok(index) };
}

function ok(index: number): ToolCallEnd {
  return { outcome: 'ok', output: `end ${index}`, is_error: false };
}

function said(text: string): ScriptedAnswer {
  return { content: [{ type: 'text', text }], finish_reason: 'stop' };
}

function calls(...content: Message['content']): ScriptedAnswer {
  return { content, finish_reason: 'tool_calls' };
}

function use(id: string, name: string, input_text: string) {
  return { type: 'tool_use', id, name, input_text } as const;
}

function assistant(...content: Message['content']): Message {
  return { role: 'assistant', content };
}

function result(tool_use_id: string, text: string): ToolResultBlock {
  return { type: 'tool_result', tool_use_id, content: [{ type: 'text', text }], is_error: false, outcome: 'ok' };
}

function resultsIn(message: Message | undefined): readonly ToolResultBlock[] {
  return (message?.content ?? []).filter((block) => block.type === 'tool_result');
}
