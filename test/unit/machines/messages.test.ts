import { describe, expect, it } from 'vitest';
import { contentOf, textOf, toolUsesOf, userMessage, type Block, type JsonValue } from '../../../machines/messages.ts';

describe('contentOf', () => {
  it.each<readonly [string, JsonValue, readonly Block[]]>([
    ['nothing for null', null, []],
    ['nothing for the empty text', '', []],
    ['text as it is', 'a\n', [{ type: 'text', text: 'a\n' }]],
    ['a number as its JSON', 0, [{ type: 'text', text: '0' }]],
    ['false as its JSON', false, [{ type: 'text', text: 'false' }]],
    ['an object as its JSON', { a: [1] }, [{ type: 'text', text: '{"a":[1]}' }]],
    ['an empty list as its JSON', [], [{ type: 'text', text: '[]' }]],
    ['blocks as they are', [{ type: 'text', text: 'a' }], [{ type: 'text', text: 'a' }]],
    [
      'images and files as they are',
      [
        { type: 'image', url: 'u', media_type: 'image/png' },
        { type: 'file', url: 'u', media_type: 'text/plain' },
      ],
      [
        { type: 'image', url: 'u', media_type: 'image/png' },
        { type: 'file', url: 'u', media_type: 'text/plain' },
      ],
    ],
    [
      'a list of which one is no block as the JSON of all',
      [{ type: 'text', text: 'a' }, 1],
      [{ type: 'text', text: '[{"type":"text","text":"a"},1]' }],
    ],
    ['a text block without text as its JSON', [{ type: 'text', text: '' }], [{ type: 'text', text: '[{"type":"text","text":""}]' }]],
    ['an image without its type as its JSON', [{ type: 'image', url: 'u' }], [{ type: 'text', text: '[{"type":"image","url":"u"}]' }]],
    [
      'what only a model may say as its JSON',
      [{ type: 'reasoning', text: 'hm' }],
      [{ type: 'text', text: '[{"type":"reasoning","text":"hm"}]' }],
    ],
    ['a single block as its JSON, for it is no list', { type: 'text', text: 'a' }, [{ type: 'text', text: '{"type":"text","text":"a"}' }]],
  ])('is %s', (_name, output, content) => {
    expect(contentOf(output)).toEqual(content);
  });
});

describe('messages', () => {
  it('take a user input as text or as blocks, and make no block of the empty text', () => {
    expect(userMessage('a')).toEqual({ role: 'user', content: [{ type: 'text', text: 'a' }] });
    expect(userMessage('')).toEqual({ role: 'user', content: [] });
    expect(userMessage([{ type: 'text', text: '' }])).toEqual({ role: 'user', content: [{ type: 'text', text: '' }] });
  });

  it('have a text without reasoning, and their tool calls in order', () => {
    const use = (id: string): Block => ({ type: 'tool_use', id, name: 'clock', input_text: '' });
    const content: readonly Block[] = [
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'hm' },
      use('2'),
      { type: 'text', text: 'b' },
      use('1'),
    ];

    expect(textOf({ role: 'assistant', content })).toBe('ab');
    expect(toolUsesOf({ role: 'assistant', content }).map(({ id }) => id)).toEqual(['2', '1']);
  });
});
