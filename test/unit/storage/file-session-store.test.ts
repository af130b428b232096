/** Sessions that come to be in a store, and a store that is closed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, frameOf, ID, textsOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { callsOf, leaveSession, ROOT, segmentPath, startStore, type RunningStore } from '../../support/stores.ts';

let disk: SimulatedDisk;

beforeEach(() => {
  disk = new SimulatedDisk();
});

describe('a session that is being created', () => {
  it('costs one call before its first frame, and leaves no session where none comes', async () => {
    const { store } = await startStore(disk);

    const calls = await callsOf(disk, async () => (await store.create(ID)).release());

    expect(calls).toEqual([`makeDirectory sessions/${ID}`]);
    expect(await store.list()).toEqual([]);
    expect(await codeOf(store.open(ID))).toBe('session_not_found');
    expect(disk.files(`${ROOT}/sessions`)).toEqual([]);
  });

  it('is refused where there is one, and leaves it as it is', async () => {
    await leaveSession(disk, ['a']);
    const { store } = await startStore(disk);

    expect(await codeOf(store.create(ID))).toBe('ERR_ASSERTION');
    await (await store.open(ID)).release();
    expect(await codeOf(store.create(ID))).toBe('ERR_ASSERTION');

    expect(await textsOf(await store.open(ID))).toEqual(['a']);
  });

  it('leaves alone what was put into its directory for it', async () => {
    const { process, store } = await startStore(disk);
    const journal = await store.create(ID);
    await (await process.open(`${ROOT}/sessions/${ID}/credentials`, 'create')).close();

    await journal.append(frameOf(1, 1, 'a'));

    expect(disk.files(`${ROOT}/sessions/${ID}`)).toEqual([`${ROOT}/sessions/${ID}/credentials`, segmentPath(1)]);
  });

  it('takes the place of one that a crash left without a first frame, and only of its journal', async () => {
    await leaveSession(disk, ['the first']);
    disk.damage(segmentPath(1), (bytes) => bytes.subarray(0, 50));
    const { process, store } = await startStore(disk);
    await (await process.open(`${ROOT}/sessions/${ID}/credentials`, 'create')).close();

    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));

    expect(disk.files(`${ROOT}/sessions/${ID}`)).toEqual([`${ROOT}/sessions/${ID}/credentials`, segmentPath(1)]);
    expect(await textsOf(journal)).toEqual(['a']);
  });
});

describe('a store that is closed', () => {
  it('has released what was held, and given the directory up', async () => {
    const { store } = await startStore(disk);
    const journal = await store.create(ID);
    await journal.append(frameOf(1, 1, 'a'));

    await store.close();

    expect(await codeOf(journal.append(frameOf(2, 1, 'b')))).toBe('journal_unavailable');
    expect(await codeOf(store.open(ID))).toBe('ERR_ASSERTION');
    expect(await textsOf(await (await startStore(disk)).store.open(ID))).toEqual(['a']);
  });

  it('keeps the lock until what had begun is over, and hands no journal out any more', async () => {
    const begun = [
      { begin: (store: RunningStore['store']) => codeOf(store.open(ID)), outcome: 'journal_unavailable' },
      { begin: (store: RunningStore['store']) => store.writeCheckpoint(ID, Buffer.from('x')), outcome: true },
      { begin: (store: RunningStore['store']) => codeOf(store.remove(ID)), outcome: 'none' },
    ];
    for (const { begin, outcome } of begun) {
      disk = new SimulatedDisk();
      await leaveSession(disk, ['a']);
      const { store } = await startStore(disk);
      let go: () => void = () => undefined;
      const start = new Promise<void>((resolve) => (go = resolve));
      disk.plan = ({ kind }) => (kind === 'read' || kind === 'rename' ? { start } : undefined);
      const answer = begin(store);
      let isClosed = false;
      const closing = store.close().then(() => (isClosed = true));
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
      expect(isClosed).toBe(false);

      go();

      expect(await answer).toBe(outcome);
      await closing;
      await (await startStore(disk)).store.close();
    }
  });
});
