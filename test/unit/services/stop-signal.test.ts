import { describe, expect, it } from 'vitest';
import { StopSignal } from '../../../services/stop-signal.ts';

describe('a signal to stop', () => {
  it('is one and the same whenever it is asked for, and is aborted by a stop before as by one after', () => {
    const [early, late] = [new StopSignal(), new StopSignal()];
    const { signal } = early;
    let heard = 0;
    signal.addEventListener('abort', () => (heard += 1));
    expect([signal.aborted, early.isStopped]).toEqual([false, false]);

    for (const stop of [early, late, early, late]) stop.stop();

    expect([signal.aborted, early.isStopped, early.signal === signal, heard]).toEqual([true, true, true, 1]);
    expect([late.isStopped, late.signal.aborted, late.signal === late.signal]).toEqual([true, true, true]);
    expect([signal.reason, late.signal.reason]).toMatchObject([{ name: 'AbortError' }, { name: 'AbortError' }]);
  });

  it('takes as many listeners as a turn can have calls under way, without a warning', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    try {
      const { signal } = new StopSignal();
      for (let count = 0; count < 1_000; count += 1) signal.addEventListener('abort', () => count);
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('warning', hear);
    }

    expect(warnings).toEqual([]);
  });
});
