/** One operation of a host's: whatever a tool does there is a receipt. */
import { describe, expect, it } from 'vitest';
import { tool, ToolError } from '../../client/index.ts';
import { carryOut } from '../../client/host-operation.ts';
import type { HostReceipt } from '../../client/host-wire.ts';

async function receiptOf(run: () => unknown): Promise<HostReceipt> {
  const operation = { session_id: 's', sequence: 3, environment: 'box', request: { type: 'invoke', tool: 'odd', input: {} } } as const;
  const odd = tool({ name: 'odd', description: 'Is odd.', input: { type: 'object' }, run });
  return carryOut(operation, { tools: [odd] }, { signal: new AbortController().signal, emit: () => Promise.resolve(), progress: () => undefined });
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

function withMessage(message: PropertyDescriptor): Error {
  return Object.defineProperty(new Error('x'), 'message', message);
}

describe('a tool that throws', () => {
  it.each([
    ['a ToolError whose code is no text', new ToolError('x', { code: 404 as unknown as string }), 'x'],
    ['an error whose message is no text', withMessage({ value: 42 }), '42'],
    ['an error whose message throws', withMessage({ get: throwing(new Error('again')) }), 'the tool threw what cannot be put into words'],
    ['an object without a prototype', Object.create(null), 'the tool threw what cannot be put into words'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('%s has failed, in plain words', async (_, error, message) => {
    expect(await receiptOf(throwing(error))).toEqual({ type: 'failure', code: 'tool_failed', message, retryable: false });
  });

  it('has details only where they are an object that can be said', async () => {
    for (const [details, said] of [[{ seat: 4 }, { details: { seat: 4 } }], ['four', {}], [{ seat: 4n }, {}]]) {
      const error = new ToolError('full', { code: 'sold_out', details: details as Record<string, unknown> });
      expect(await receiptOf(throwing(error))).toEqual({ type: 'failure', code: 'sold_out', message: 'full', retryable: false, ...(said as object) });
    }
  });
});

describe('an input', () => {
  it('is waited for, where its type takes its time', async () => {
    const inputs: unknown[] = [];
    const parse = async (value: unknown): Promise<unknown> => {
      if (value === 1) throw new Error('not one');
      return 'parsed';
    };
    const slow = tool({ name: 'slow', description: 'Waits.', input: { schema: {}, parse }, run: (input) => void inputs.push(input) });
    const voice = { signal: new AbortController().signal, emit: () => Promise.resolve(), progress: () => undefined };
    const receipt = (input: unknown): Promise<HostReceipt> =>
      carryOut({ session_id: 's', sequence: 3, environment: 'box', request: { type: 'invoke', tool: 'slow', input } }, { tools: [slow] }, voice);

    expect(await receipt(1)).toMatchObject({ code: 'invalid_input', message: 'not one' });
    expect(await receipt(2)).toMatchObject({ type: 'result' });
    expect(inputs).toEqual(['parsed']);
  });
});

describe('a result', () => {
  it('is asked for its JSON once', async () => {
    let asked = 0;
    const output = {
      toJSON() {
        asked += 1;
        if (asked > 1) throw new Error('only once');
        return 'said';
      },
    };
    const receipt = await receiptOf(() => output);

    expect(JSON.stringify(receipt)).toBe('{"type":"result","output":"said"}');
  });

  it('that is nothing is null, and one that cannot be said is a failure', async () => {
    expect(await receiptOf(() => undefined)).toEqual({ type: 'result', output: null });
    for (const output of [7n, () => 1, Symbol('s')]) expect(await receiptOf(() => output)).toMatchObject({ code: 'result_not_json' });
  });
});
