import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/messages.ts';
import { folded, snapshotOf, startTurn, storyAtWork, type Story } from '../../../support/session-story.ts';

const say = (text: string, role: Message['role'] = 'user'): Message => ({ role, content: [{ type: 'text', text }] });

function set(story: Story, messages: readonly Message[]): unknown {
  const message_sequence = story.state.context.turn?.message_sequence ?? 0;
  const decision = story.command({ kind: 'set_transcript', message_sequence, messages });
  return decision.kind === 'records' ? story.records.at(-1)?.data : decision.kind;
}

/** A model answers with these tool calls, and each call ends with its output; answers what a loop then saves. */
function answeredCalls(story: Story, outputs: readonly string[]): readonly Message[] {
  const message_sequence = story.state.context.turn?.message_sequence ?? 0;
  story.command({
    kind: 'start_model_call',
    message_sequence,
    provider: 'demo',
    model: 'echo',
    messages: story.state.transcript.messages(),
    difference: {},
  });
  // Both calls have the one id: a provider's ids repeat.
  const use = { type: 'tool_use', id: 'same', name: 'clock', input_text: '{ }', input: {} } as const;
  const answer: Message = {
    role: 'assistant',
    content: [{ type: 'reasoning', text: 'hm', provider: { signature: 'é' } }, ...outputs.map(() => use)],
  };
  const started_sequence = story.state.lastSequence;
  story.command({ kind: 'end_model_call', message_sequence, started_sequence, message: answer, finish_reason: 'tool_calls' });
  const calls = outputs.map(
    () => ({ tool: 'clock', tool_use_id: 'same', input_text: '{ }', deadline: null, effect: 'read' }) as const,
  );
  story.command({ kind: 'start_tool_calls', message_sequence, calls });
  const first = story.state.lastSequence - outputs.length + 1;
  for (const [index, output] of [...outputs.entries()].reverse()) {
    story.command({ kind: 'end_tool_call', message_sequence, started_sequence: first + index, outcome: 'ok', output });
  }
  const results = outputs.map(
    (text) =>
      ({
        type: 'tool_result',
        tool_use_id: 'same',
        content: [{ type: 'text', text }],
        is_error: false,
        outcome: 'ok',
      }) as const,
  );
  return [answer, { role: 'user', content: results }];
}

describe('Transcript', () => {
  it('S-065: stores only the new tail of an append', () => {
    const { story } = storyAtWork();
    set(story, [say('a'), say('b')]);

    expect(set(story, [say('a'), say('b'), say('c')])).toEqual({ message_sequence: 3, from: 2, messages: [say('c')] });
  });

  it('S-066: stores everything from the first changed message on, be it an edit, a reorder or a summary', () => {
    const { story } = storyAtWork();
    const deltas = [
      set(story, [say('a'), say('b'), say('c')]),
      set(story, [say('a'), say('B'), say('c')]),
      set(story, [say('B'), say('a'), say('c')]),
      set(story, [say('summary')]),
      set(story, []),
    ];

    expect(deltas).toMatchObject([
      { from: 0, messages: [say('a'), say('b'), say('c')] },
      { from: 1, messages: [say('B'), say('c')], replaces: 2 },
      { from: 0, messages: [say('B'), say('a'), say('c')], replaces: 3 },
      { from: 0, messages: [say('summary')], replaces: 3 },
      { from: 0, messages: [], replaces: 1 },
    ]);
  });

  it('S-066: sees a change deep inside, and none in an equal value whose keys stand in another order', () => {
    const { story } = storyAtWork();
    const reasoning = (signature: string): Message => ({
      role: 'assistant',
      content: [{ type: 'reasoning', text: 'hm', provider: { kind: 'x', signature } }],
    });
    set(story, [reasoning('s')]);
    const reordered: Message = {
      content: [{ provider: { signature: 's', kind: 'x' }, text: 'hm', type: 'reasoning' }],
      role: 'assistant',
    };

    expect(set(story, [reordered])).toBe('nothing');
    expect(set(story, [reasoning('t')])).toMatchObject({ from: 0, replaces: 1 });
  });

  it('S-055: refers to answers and results by the records that hold them, in the order of the message', () => {
    const { story } = storyAtWork();
    const saved = answeredCalls(story, ['first', 'second']);
    const data = set(story, saved);

    // The second call ended first: its record stands before the first call's.
    expect(data).toEqual({ message_sequence: 3, from: 0, messages: [{ sequences: [7] }, { sequences: [11, 10] }] });
    expect(story.state.transcript.messages()).toEqual(saved);
    expect(folded(story.records).transcript.messages()).toEqual(saved);
  });

  it('writes a message out where a loop changed one word of what a record holds', () => {
    const { story } = storyAtWork();
    const [answer, results] = answeredCalls(story, ['first']);
    if (answer === undefined || results === undefined) throw new Error('two messages were expected');
    const edited: Message = { ...results, content: [...results.content, { type: 'text', text: 'note' }] };
    set(story, [answer, edited]);

    expect(story.records.at(-1)?.data).toMatchObject({ messages: [{ sequences: [7] }, edited] });
    expect(story.state.transcript.messages()).toEqual([answer, edited]);
  });

  it('refers to what the turn before held, and no longer to what an older one did', () => {
    const { story } = storyAtWork();
    story.recover();
    startTurn(story, 'second');
    const afterOne = set(story, [say('hello')]);
    story.recover();
    startTurn(story, 'third');
    const afterTwo = set(story, [say('hello'), say('hello')]);

    expect(afterOne).toMatchObject({ messages: [{ sequences: [3] }] });
    expect(afterTwo).toMatchObject({ messages: [say('hello')] });
  });

  it('keeps as much after a hundred failed turns as after two', () => {
    const sizeAfter = (turns: number): number => {
      const { story } = storyAtWork();
      for (let turn = 0; turn < turns; turn += 1) {
        story.recover();
        startTurn(story, 'x'.repeat(100));
      }
      return JSON.stringify(snapshotOf(story.state).transcript).length;
    };

    expect(sizeAfter(100)).toBeLessThan(sizeAfter(2) + 50);
  });

  it('shows nobody a message that could be changed in place', () => {
    const { story } = storyAtWork();
    set(story, [say('a')]);
    const [first] = story.state.transcript.messages();

    expect(() => {
      (first as { role: string }).role = 'assistant';
    }).toThrow(TypeError);
    expect(() => (first?.content as Message['content'][number][]).pop()).toThrow(TypeError);
    (story.state.transcript.messages() as Message[]).pop();
    expect(story.state.transcript.length).toBe(1);
  });

  it('S-062, S-077: is changed by nothing but a loop: not by a message, an answer, a result, a failure or a recovery', () => {
    const { story } = storyAtWork();
    answeredCalls(story, ['first']);
    story.recover();

    expect(story.state.transcript.messages()).toEqual([]);
  });
});
