import { beforeEach, describe, expect, it } from 'vitest';
import { TenantCredentialFiles } from '../../../storage/credential-files.ts';
import { TenantEnvironmentFiles } from '../../../storage/environment-files.ts';
import type { FileSessionStore } from '../../../storage/file-session-store.ts';
import { TenantHostFiles } from '../../../storage/host-files.ts';
import { tenantKey } from '../../../storage/tenant-key.ts';
import { codeOf, textOf } from '../../support/frames.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { failNext, ROOT, startStore } from '../../support/stores.ts';

let disk: SimulatedDisk;
let store: FileSessionStore;

beforeEach(async () => {
  disk = new SimulatedDisk();
  ({ store } = await startStore(disk));
});

describe.each([['credentials', TenantCredentialFiles], ['environments', TenantEnvironmentFiles], ['hosts', TenantHostFiles]] as const)('the file of a tenant under %s', (name, Files) => {
  it('survives a power cut as soon as it is answered, and one that fails to be written leaves the one before', async () => {
    const files = new Files(store.directory);
    await files.replace('local', Buffer.from('first'));
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(files.replace('local', Buffer.from('second')))).toBe('journal_unavailable');

    disk.cutPower(() => 0);

    const again = new Files((await startStore(disk)).store.directory);
    expect(textOf((await again.read('local')) ?? Buffer.alloc(0))).toBe('first');
  });

  it('is flushed before it is shown by a process that did not write it', async () => {
    const { process, store: dying } = await startSecond();
    const files = new Files(dying.directory);
    await files.replace('local', Buffer.from('first'));
    let renamed = false;
    disk.plan = ({ kind }) => {
      renamed ||= kind === 'rename';
      return renamed && kind === 'syncDirectory' ? { dies: 'before' } : undefined;
    };
    await Promise.race([files.replace('local', Buffer.from('second')), process.died]);
    disk.plan = () => undefined;

    const next = new Files((await startStore(disk)).store.directory);
    expect(textOf((await next.read('local')) ?? Buffer.alloc(0))).toBe('second');
    disk.cutPower(() => 0);

    const last = new Files((await startStore(disk)).store.directory);
    expect(textOf((await last.read('local')) ?? Buffer.alloc(0))).toBe('second');
  });

  it('lies under a name that does not tell the tenant\'s', async () => {
    await new Files(store.directory).replace('../local', Buffer.from('x'));

    expect(disk.files(`${ROOT}/${name}`)).toEqual([`${ROOT}/${name}/${tenantKey('../local')}`]);
  });
});

/** The store of a process that can be killed, in the place of the one that every test begins with. */
async function startSecond(): Promise<Awaited<ReturnType<typeof startStore>>> {
  await store.close();
  return startStore(disk);
}
