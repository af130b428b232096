import { beforeEach, describe, expect, it } from 'vitest';
import type { FileSessionStore } from '../../../storage/file-session-store.ts';
import { codeOf, frameOf, ID, textOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { callsOf, failNext, ROOT, startStore } from '../../support/stores.ts';

let disk: SimulatedDisk;
let store: FileSessionStore;

beforeEach(async () => {
  disk = new SimulatedDisk();
  ({ store } = await startStore(disk));
});

describe('the sealed file of a session', () => {
  it('is durable before it is answered, and with the first frame so is its session', async () => {
    const journal = await store.create(ID);
    const calls = await callsOf(disk, () => store.writeSealed(ID, Buffer.from('sealed')));
    await journal.append(frameOf(1, 1, 'a'));

    expect(calls.filter((call) => /^(sync|rename|syncDirectory) /.test(call))).toEqual([
      `sync sessions/${ID}/credentials.new`,
      `rename sessions/${ID}/credentials.new`,
      `syncDirectory sessions/${ID}`,
    ]);
    disk.cutPower(() => 0);
    const { store: again } = await startStore(disk);
    expect(textOf((await again.readSealed(ID)) ?? Buffer.alloc(0))).toBe('sealed');
  });

  it('makes no session: after a death before the first frame there is none, and nothing of it', async () => {
    const { process, store: dying } = await startSecond();
    await dying.create(ID);
    await dying.writeSealed(ID, Buffer.from('sealed'));
    disk.kill(process);

    const { store: next } = await startStore(disk);
    expect(await codeOf(next.open(ID))).toBe('session_not_found');
    await next.close();
    expect(disk.files(`${ROOT}/sessions`)).toEqual([]);
    expect(disk.files(`${ROOT}/trash`)).toEqual([]);
  });

  it('says that the disk is full, and leaves the one before', async () => {
    await (await store.create(ID)).append(frameOf(1, 1, 'a'));
    await store.writeSealed(ID, Buffer.from('first'));
    failNext(disk, 'write', 'ENOSPC');

    expect(await codeOf(store.writeSealed(ID, Buffer.from('second')))).toBe('disk_full');

    expect(textOf((await store.readSealed(ID)) ?? Buffer.alloc(0))).toBe('first');
  });

  it('says so where it cannot be read, which is not the same as where there is none', async () => {
    await (await store.create(ID)).append(frameOf(1, 1, 'a'));
    await store.writeSealed(ID, Buffer.from('sealed'));
    failNext(disk, 'read', 'EIO');

    expect(await codeOf(store.readSealed(ID))).toBe('journal_unavailable');
  });
});

/** The store of a process that can be killed, in the place of the one that every test begins with. */
async function startSecond(): Promise<Awaited<ReturnType<typeof startStore>>> {
  await store.close();
  return startStore(disk);
}
