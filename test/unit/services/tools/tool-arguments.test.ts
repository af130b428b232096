import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseToolArguments } from '../../../../services/tools/tool-arguments.ts';

describe('the arguments of a tool call', () => {
  it('are what their text says', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json: unknown = JSON.parse(JSON.stringify(value));
        fc.pre(JSON.stringify(json).isWellFormed() && !JSON.stringify(json).includes('\\u0000') && !/\\ud[89a-f]/.test(JSON.stringify(json)));

        expect(parseToolArguments(JSON.stringify(value))).toEqual({ kind: 'parsed', value: json });
      }),
    );
  });

  it('are {} where there is no text', () => {
    expect(parseToolArguments('')).toEqual({ kind: 'parsed', value: {} });
  });

  it.each(['{"a":2,"b":', '{"a":2}}', "{'a':2}", '{"a":2,}', ' ', 'undefined', '{"a":01}', '```json\n{}\n```', '\ufeff{}'])(
    'are never repaired: %j is no JSON',
    (text) => {
      expect(parseToolArguments(text)).toMatchObject({ kind: 'invalid' });
    },
  );

  it('are refused where nobody could walk or record them', () => {
    expect(parseToolArguments('['.repeat(100_000) + ']'.repeat(100_000))).toMatchObject({ kind: 'invalid' });
    expect(parseToolArguments('{"a":1e999}')).toMatchObject({ kind: 'invalid' });
  });

  it('hold well-formed text, whatever the escapes in them say', () => {
    expect(parseToolArguments('{"a\\u0000":"\\ud83e"}')).toEqual({ kind: 'parsed', value: { a: '\ufffd' } });
  });
});
