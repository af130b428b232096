import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wait } from '../../../../http/inspector/data/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('waiting', () => {
  it('leaves nothing with a signal that outlives it, over a thousand times', async () => {
    const { signal } = new AbortController();
    for (let time = 0; time < 1000; time += 1) {
      const waited = wait(500, signal);
      await vi.advanceTimersByTimeAsync(500);
      await waited;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends as soon as the signal aborts, and its timer with it', async () => {
    const aborter = new AbortController();
    const waited = wait(500, aborter.signal);
    aborter.abort();
    await waited;
    await wait(500, aborter.signal);
    expect(vi.getTimerCount()).toBe(0);
  });
});
