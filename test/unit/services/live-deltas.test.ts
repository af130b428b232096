import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveDeltas } from '../../../services/live-deltas.ts';
import type { ModelDelta } from '../../../services/models/model-provider.ts';
import { Secrets } from '../../../services/secrets.ts';

const KEY = 'sk-canary-0123456789';

function shownOf(secrets: readonly string[], deltas: readonly ModelDelta[]): { readonly before: readonly ModelDelta[]; readonly all: readonly ModelDelta[] } {
  const shown: ModelDelta[] = [];
  const live = new LiveDeltas(new Secrets(secrets).of('local'), (delta) => void shown.push(delta));
  for (const delta of deltas) live.take(delta);
  const before = [...shown];
  live.end();
  return { before, all: shown };
}

function textOf(deltas: readonly ModelDelta[]): string {
  return deltas.map((delta) => ('text' in delta ? delta.text : '')).join('');
}

describe('live pieces of an answer', () => {
  it('are shown as they come where no secret is in use', () => {
    const deltas: readonly ModelDelta[] = [{ text: 'sk-' }, { reasoning: 'canary' }, { tool_input: '{"a":' }, { text: '' }, { text: '0' }];

    expect(shownOf([], deltas).before).toEqual(deltas.filter((delta) => !('text' in delta) || delta.text !== ''));
  });

  it('hold back what may be the beginning of a secret, until it is none', () => {
    expect(shownOf([KEY], [{ text: 'use sk-can' }]).before).toEqual([{ text: 'use ' }]);
    expect(shownOf([KEY], [{ text: 'use sk-can' }, { text: 'dy' }]).before).toEqual([{ text: 'use ' }, { text: 'sk-candy' }]);
    expect(shownOf([KEY], [{ text: 'sk-sk-can' }]).before).toEqual([{ text: 'sk-' }]);
    expect(textOf(shownOf([KEY], [{ text: 'use sk-can' }]).all)).toBe('use sk-can');
  });

  it('never show a secret, and put together are what is recorded, for any secret text cut anywhere', () => {
    const part = fc.constantFrom(KEY, 'sk-', 'sk-canary-', '0123456789', 'plain ', '9', '');
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(80)), (parts, cuts) => {
        const text = parts.join('');
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b);
        const { all } = shownOf([KEY], places.slice(1).map((end, index) => ({ text: text.slice(places[index], end) })));

        expect(textOf(all)).toBe(text.replaceAll(KEY, '[secret removed]'));
      }),
    );
  });

  it('keep the kinds of text apart', () => {
    const { all } = shownOf([KEY], [{ text: 'sk-canary-' }, { reasoning: '0123456789' }, { tool_input: KEY }]);

    expect(all).toEqual([{ reasoning: '0123456789' }, { tool_input: '[secret removed]' }, { text: 'sk-canary-' }]);
  });
});
