import { beforeEach, describe, expect, it } from 'vitest';
import { TenantCredentialFiles } from '../../../storage/credential-files.ts';
import type { FileSessionStore } from '../../../storage/file-session-store.ts';
import { tenantKey } from '../../../storage/tenant-key.ts';
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

describe('the sealed file of a tenant', () => {
  it('survives a power cut as soon as it is answered, and one that fails to be written leaves the one before', async () => {
    const files = new TenantCredentialFiles(store.directory);
    await files.replace('local', Buffer.from('first'));
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(files.replace('local', Buffer.from('second')))).toBe('journal_unavailable');

    disk.cutPower(() => 0);

    const again = new TenantCredentialFiles((await startStore(disk)).store.directory);
    expect(textOf((await again.read('local')) ?? Buffer.alloc(0))).toBe('first');
  });

  it('is flushed before it is shown by a process that did not write it', async () => {
    const { process, store: dying } = await startSecond();
    const files = new TenantCredentialFiles(dying.directory);
    await files.replace('local', Buffer.from('first'));
    let renamed = false;
    disk.plan = ({ kind }) => {
      renamed ||= kind === 'rename';
      return renamed && kind === 'syncDirectory' ? { dies: 'before' } : undefined;
    };
    await Promise.race([files.replace('local', Buffer.from('second')), process.died]);
    disk.plan = () => undefined;

    const next = new TenantCredentialFiles((await startStore(disk)).store.directory);
    expect(textOf((await next.read('local')) ?? Buffer.alloc(0))).toBe('second');
    disk.cutPower(() => 0);

    const last = new TenantCredentialFiles((await startStore(disk)).store.directory);
    expect(textOf((await last.read('local')) ?? Buffer.alloc(0))).toBe('second');
  });

  it('lies under a name that does not tell the tenant\'s', async () => {
    await new TenantCredentialFiles(store.directory).replace('../local', Buffer.from('x'));

    expect(disk.files(`${ROOT}/credentials`)).toEqual([`${ROOT}/credentials/${tenantKey('../local')}`]);
  });
});

/** The store of a process that can be killed, in the place of the one that every test begins with. */
async function startSecond(): Promise<Awaited<ReturnType<typeof startStore>>> {
  await store.close();
  return startStore(disk);
}
