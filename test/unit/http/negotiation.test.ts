import { describe, expect, it } from 'vitest';
import { prefersAsync } from '../../../http/negotiation.ts';

describe('Prefer', () => {
  it.each([
    'respond-async',
    'RESPOND-ASYNC',
    ' respond-async ',
    'respond-async;x',
    'respond-async=""',
    'wait=5, respond-async',
    'respond-async,wait=5',
    'a="x,y;z", Respond-Async ; q="1,2", b',
  ])('S-087: asks for an early answer with %j', (prefer) => {
    expect(prefersAsync(prefer)).toBe(true);
  });

  it.each([undefined, '', ',', 'respond', 'respond-asynchronously', 'wait=respond-async', 'a="x, respond-async"', 'x;respond-async', 'respond-async=later'])(
    'S-090: does not ask for one with %j',
    (prefer) => {
      expect(prefersAsync(prefer)).toBe(false);
    },
  );
});
