/** One directory's flushes, for many that wait. */
import { describe, expect, it } from 'vitest';
import { SharedSync } from '../../../storage/shared-sync.ts';
import { codeOf } from '../../support/frames.ts';

interface Flush {
  readonly end: () => void;
  readonly fail: () => void;
}

/** A directory whose flushes end when they are told to. */
function stage() {
  const flushes: Flush[] = [];
  let isClosed = false;
  const sync = new SharedSync({
    sync: () =>
      new Promise((resolve, reject) => {
        flushes.push({ end: resolve, fail: () => reject(Object.assign(new Error('no'), { code: 'EIO' })) });
      }),
    close: () => {
      isClosed = true;
      return Promise.resolve();
    },
  });
  return { sync, flushes, isClosed: () => isClosed };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a directory that is flushed for many', () => {
  it('is flushed once for all that ask while a flush runs, and not by the one that had begun before they asked', async () => {
    const { sync, flushes } = stage();
    const answered: string[] = [];
    const ask = (name: string): void => void sync.sync().then(() => answered.push(name));
    ask('first');
    ask('second');
    ask('third');
    await settled();
    expect(flushes.length).toBe(1);

    flushes[0]?.end();
    await settled();
    expect([answered, flushes.length]).toEqual([['first'], 2]);
    ask('fourth');
    flushes[1]?.end();
    await settled();
    expect([answered, flushes.length]).toEqual([['first', 'second', 'third'], 3]);

    flushes[2]?.end();
    await settled();
    expect(answered).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('fails for those that the flush was for, and for no others', async () => {
    const { sync, flushes } = stage();
    const outcomes = [codeOf(sync.sync()), codeOf(sync.sync()), codeOf(sync.sync())];
    flushes[0]?.fail();
    await settled();
    flushes[1]?.end();
    expect(await Promise.all(outcomes)).toEqual(['EIO', 'none', 'none']);

    const later = codeOf(sync.sync());
    flushes[2]?.end();
    expect(await later).toBe('none');
  });

  it('is flushed at once where none runs, and closed with its owner', async () => {
    const { sync, flushes, isClosed } = stage();
    for (const index of [0, 1]) {
      const flushed = sync.sync();
      expect(flushes.length).toBe(index + 1);
      flushes[index]?.end();
      await flushed;
    }
    await sync.close();
    expect(isClosed()).toBe(true);
  });
});
