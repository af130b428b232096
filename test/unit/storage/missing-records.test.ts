import { expect, it } from 'vitest';
import { codeOf, ID } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { leaveSession, ROOT, segmentPath, startStore } from '../../support/stores.ts';

it.each(['missing', 'empty'] as const)(
  'refuses a session whose only segment is %s where its checkpoint tells of records, and throws nothing away',
  async (state) => {
    const disk = new SimulatedDisk();
    await leaveSession(disk, ['a', 'b']);
    const { process, store } = await startStore(disk);
    expect(await store.writeCheckpoint(ID, Buffer.from('{}'))).toBe(true);
    if (state === 'missing') await process.remove(segmentPath(1));
    else await (await process.open(segmentPath(1), 'write')).truncate(0);
    disk.kill(process);

    const next = await startStore(disk);

    expect(await codeOf(next.store.open(ID))).toBe('journal_corrupt');
    expect(await next.store.list()).toEqual([ID]);
    expect(disk.files(`${ROOT}/trash`)).toEqual([]);
  },
);
