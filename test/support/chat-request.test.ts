import { describe, expect, it } from 'vitest';
import { readChatRequest } from './chat-request.ts';

const user = { role: 'user', content: 'hello' };
const call = (...ids: readonly string[]): object => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'add', arguments: '{' } })),
});
const result = (id: string): object => ({ role: 'tool', tool_call_id: id, content: '' });

describe('a strict provider', () => {
  it('accepts calls that are answered at once and in order, even where their ids come again', () => {
    expect(refusalOf([user, call('a', 'b'), result('a'), result('b'), call('a'), result('a'), user])).toBeNull();
    expect(refusalOf([user, call('a', 'a'), result('a'), result('a')])).toBeNull();
  });

  it('refuses a call without an answer, with two, out of order, or with something in between', () => {
    expect(refusalOf([user, call('a')])).toContain('no answer to a');
    expect(refusalOf([user, call('a'), user])).toContain('before the answer to a');
    expect(refusalOf([user, call('a'), result('a'), result('a')])).toContain('answers no call');
    expect(refusalOf([user, call('a', 'b'), result('b'), result('a')])).toContain('answers no call');
    expect(refusalOf([user, result('a')])).toContain('answers no call');
  });

  it('refuses what no provider knows: other roles and fields, a message that says nothing, half a character', () => {
    expect(refusalOf([{ role: 'robot', content: 'hello' }])).not.toBeNull();
    expect(refusalOf([{ ...user, sequence: 1 }])).not.toBeNull();
    expect(refusalOf([user, { role: 'assistant', content: null }])).not.toBeNull();
    expect(refusalOf([{ role: 'user', content: '\ud83e' }])).toBe('a lone surrogate');
    expect(refusalOf([{ role: 'user', content: '🦀' }])).toBeNull();
  });
});

function refusalOf(messages: readonly object[]): string | null {
  const read = readChatRequest(JSON.stringify({ model: 'm', messages, stream: true }));
  return 'refusal' in read ? read.refusal : null;
}
