import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainText } from '../../../../machines/plain-data.ts';
import { StreamedText } from '../../../../services/models/streamed-text.ts';

const anyUnit = fc.constantFrom('a', '\ud83e', '\udd80', 'é', '\0', '你');

it('is its pieces joined first and cleaned then, and what is shown of it is the beginning of that, well-formed', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyUnit, { maxLength: 4 })), (pieces) => {
      const streamed = new StreamedText();
      let shown = '';
      for (const piece of pieces) {
        shown += streamed.push(piece.join(''));
        expect(streamed.text.startsWith(shown)).toBe(true);
      }

      expect(shown.isWellFormed()).toBe(true);
      expect(streamed.text).toBe(plainText(pieces.flat().join('')));
    }),
  );
});
