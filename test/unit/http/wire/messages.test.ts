import { describe, expect, it } from 'vitest';
import { transcriptSchema } from '../../../../http/wire/messages.ts';

function seeded(role: 'user' | 'assistant', block: unknown): unknown {
  return transcriptSchema.parse([{ role, content: [block] }])[0]?.content[0];
}

describe('a seed', () => {
  it('takes what the transcript shows as it is, reasoning and signatures too', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: '' }, { type: 'image', url: 'https://x/a.png', media_type: 'image/png' }] },
      { role: 'user', content: [] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', provider: { signature: 'c2ln', nested: [null, { a: 1.5 }] } },
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: '', name: 'add', input: { a: 2 }, input_text: ' {"a" : 2.0}', provider: { id: 'x' } },
          { type: 'tool_use', id: '', name: 'no such tool!', input_text: '{"a":' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: '', content: [], is_error: false, outcome: 'ok' },
          { type: 'tool_result', tool_use_id: '', content: [{ type: 'text', text: 'lost' }], is_error: true, outcome: 'unknown' },
        ],
      },
    ];
    expect(transcriptSchema.parse(messages)).toEqual(messages);
  });

  it('finishes a tool call that is written by hand', () => {
    const call = { type: 'tool_use', id: '1', name: 'add' };
    expect(seeded('assistant', { ...call, input: { a: [1, 'é'] } })).toEqual({ ...call, input: { a: [1, 'é'] }, input_text: '{"a":[1,"é"]}' });
    expect(seeded('assistant', { ...call, input: null })).toEqual({ ...call, input: null, input_text: 'null' });
    expect(seeded('assistant', { ...call, input_text: '{"a":1}' })).toEqual({ ...call, input: { a: 1 }, input_text: '{"a":1}' });
    expect(seeded('assistant', { ...call, input_text: '' })).toEqual({ ...call, input: {}, input_text: '' });
  });

  it('shows no input that could not be kept, and keeps the text that the provider wrote', () => {
    const call = { type: 'tool_use', id: '1', name: 'add', input_text: '{"a":"\\ud800"}' };
    expect(seeded('assistant', call)).toEqual(call);
  });

  it('finishes a tool result that is written by hand', () => {
    const result = { type: 'tool_result', tool_use_id: '1', content: [] };
    expect(seeded('user', result)).toEqual({ ...result, is_error: false, outcome: 'ok' });
    expect(seeded('user', { ...result, is_error: true })).toEqual({ ...result, is_error: true, outcome: 'error' });
    expect(seeded('user', { ...result, outcome: 'timeout' })).toEqual({ ...result, is_error: true, outcome: 'timeout' });
  });
});
