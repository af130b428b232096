import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { userMessage, type Message, type ToolResultBlock, type ToolUseBlock } from '../../../machines/messages.ts';
import { closeOpenToolCalls, hasOpenToolCalls, toolResultBlock } from '../../../machines/open-tool-calls.ts';
import type { PublicEvent } from '../../../machines/projections/public-events.ts';
import { strictRefusal } from '../../support/strict-messages.ts';

describe('a transcript whose calls are all answered', () => {
  it('comes back as it is, results in one message or in several, with or without words after them', () => {
    const transcripts: readonly (readonly Message[])[] = [
      [],
      [userMessage('a'), userMessage('b')],
      [asks(use('x'), use('y')), tells(result('x'), result('y')), userMessage('a')],
      [asks(use('x'), use('y')), tells(result('x')), tells(result('y')), userMessage('a')],
      [asks(use('x')), { role: 'user', content: [result('x'), { type: 'text', text: 'And?' }] }],
      [asks(use('x')), tells(result('x')), asks(use('x')), tells(result('x'))],
    ];

    for (const transcript of transcripts) {
      expect(hasOpenToolCalls(transcript)).toBe(false);
      expect(closeOpenToolCalls(transcript, [])).toBe(transcript);
    }
  });
});

describe('an unanswered call', () => {
  it('gets the end that is recorded, whatever the order of the ends', () => {
    const transcript = [asks(use('x', '1'), use('y', '2'))];
    const events = journal([asked('x', '1'), asked('y', '2')], [ended('y', 'two', 'ok'), ended('x', 'one', 'error')]);

    expect(closeOpenToolCalls(transcript, events)).toEqual([
      ...transcript,
      tells({ ...result('x', 'one'), is_error: true, outcome: 'error' }, result('y', 'two')),
    ]);
  });

  it('that was asked for and never started is cancelled, and says so', () => {
    const closed = closeOpenToolCalls([asks(use('x'))], journal([{ ...asked('x', '{}'), isStarted: false }], []));

    expect(closed[1]?.content).toMatchObject([{ outcome: 'cancelled', is_error: true, content: [{ text: expect.stringContaining('not started') as string }] }]);
  });

  it('without a recorded end, or of which the journal knows nothing, is unknown and says that it may have run', () => {
    const known = closeOpenToolCalls([asks(use('x'))], journal([asked('x', '{}')], []));
    const seeded = closeOpenToolCalls([asks(use('x'))], []);

    for (const closed of [known, seeded]) {
      expect(closed[1]?.content).toMatchObject([{ outcome: 'unknown', is_error: true, content: [{ text: expect.stringContaining('may have run') as string }] }]);
    }
  });

  it('is not given the end of an older call that reads the same', () => {
    const call = use('x', '{}');
    const first = journal([asked('x', '{}')], [ended('x', 'old', 'ok')]);
    const second = journal([{ ...asked('x', '{}'), isStarted: false }], [], first.length);

    const closed = closeOpenToolCalls([asks(call), tells(result('x', 'old')), asks(call)], [...first, ...second]);

    expect(closed[3]?.content).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('is given its own end where an older call that reads the same was never started', () => {
    const call = use('x', '{}');
    const first = journal([{ ...asked('x', '{}'), isStarted: false }], []);
    const second = journal([asked('x', '{}')], [ended('x', 'new', 'ok')], first.length);

    const closed = closeOpenToolCalls([asks(call), asks(call)], [...first, ...second]);

    expect(closed[1]?.content).toMatchObject([{ outcome: 'cancelled' }]);
    expect(closed[3]).toEqual(tells(result('x', 'new')));
  });

  it('keeps the results that its siblings have, by place where ids repeat', () => {
    const transcript = [asks(use('x', '1'), use('x', '2'), use('x', '3')), tells(result('x', 'one'), result('x', 'two')), userMessage('a')];

    expect(closeOpenToolCalls(transcript, [])).toEqual([
      transcript[0],
      tells(result('x', 'one'), result('x', 'two'), expect.objectContaining({ outcome: 'unknown' }) as ToolResultBlock),
      transcript[2],
    ]);
  });
});

describe('a transcript in any disorder', () => {
  it('becomes one that a strict provider accepts, which stays as it is, and loses no word and no call', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 8 }), (transcript) => {
        const closed = closeOpenToolCalls(transcript, []);

        expect(strictRefusal(closed)).toBeNull();
        expect(closeOpenToolCalls(closed, [])).toBe(closed);
        expect(wordsAndCalls(closed)).toEqual(wordsAndCalls(transcript));
      }),
    );
  });

  it('has a result put in its place, and one that answers nothing left out', () => {
    const transcript = [tells(result('z')), asks(use('x'), use('y')), userMessage('a'), tells(result('y'), result('x'), result('x'))];

    expect(closeOpenToolCalls(transcript, [])).toEqual([transcript[1], tells(result('x'), result('y')), transcript[2]]);
  });
});

describe('a result', () => {
  it.each(['unknown', 'cancelled', 'timeout'] as const)('that is %s never reads as if nothing had happened', (outcome) => {
    const block = toolResultBlock({ id: 'x' }, { outcome, output: null, is_error: true });

    expect(block.content).toHaveLength(1);
  });

  it('of a tool that said nothing has no content', () => {
    expect(toolResultBlock({ id: 'x' }, { outcome: 'ok', output: null, is_error: false }).content).toEqual([]);
  });
});

const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.constantFrom('a', 'b').map(userMessage),
  fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 3 }).map((ids) => asks(...ids.map((id) => use(id)))),
  fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 1, maxLength: 3 }).map((ids) => tells(...ids.map((id) => result(id)))),
  fc.constant<Message>({ role: 'user', content: [{ type: 'text', text: 'c' }, result('x')] }),
  fc.constant<Message>({ role: 'assistant', content: [{ type: 'text', text: 'd' }] }),
);

function wordsAndCalls(transcript: readonly Message[]): readonly string[] {
  return transcript.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [] : [JSON.stringify(block)])),
  );
}

interface Asked {
  readonly use: ToolUseBlock;
  readonly isStarted: boolean;
}

interface Ended {
  readonly id: string;
  readonly output: string;
  readonly outcome: 'ok' | 'error';
}

/** One answer of a model with what became of its calls. Sequences go on after `after`. */
function journal(askedFor: readonly Asked[], ends: readonly Ended[], after = 0): readonly PublicEvent[] {
  const events: PublicEvent[] = [];
  const add = (type: string, data: object): number => {
    const sequence = after + events.length + 1;
    events.push({ sequence, recorded_at: 0, type, data });
    return sequence;
  };
  add('model_call_ended', { message: asks(...askedFor.map((one) => one.use)), finish_reason: 'tool_calls' });
  const started = new Map<string, number>();
  for (const { use: call, isStarted } of askedFor) {
    if (!isStarted) continue;
    started.set(call.id, add('tool_call_started', { tool: call.name, tool_use_id: call.id, input_text: call.input_text }));
  }
  for (const { id, output, outcome } of ends) {
    add('tool_call_ended', { started_sequence: started.get(id), outcome, output, is_error: outcome !== 'ok' });
  }
  return events;
}

function asked(id: string, input_text: string): Asked {
  return { use: use(id, input_text), isStarted: true };
}

function ended(id: string, output: string, outcome: 'ok' | 'error'): Ended {
  return { id, output, outcome };
}

function use(id: string, input_text = '{}'): ToolUseBlock {
  return { type: 'tool_use', id, name: 'add', input_text };
}

function asks(...content: Message['content']): Message {
  return { role: 'assistant', content };
}

function tells(...content: readonly ToolResultBlock[]): Message {
  return { role: 'user', content };
}

function result(tool_use_id: string, text = 'done'): ToolResultBlock {
  return { type: 'tool_result', tool_use_id, content: [{ type: 'text', text }], is_error: false, outcome: 'ok' };
}
