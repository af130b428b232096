import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TenantCredentialFiles } from '../../storage/credential-files.ts';
import { DataDirectory } from '../../storage/data-directory.ts';
import { TenantEnvironmentFiles } from '../../storage/environment-files.ts';
import { TenantHostFiles } from '../../storage/host-files.ts';
import { MemoryTenantFiles } from '../../storage/memory-tenant-files.ts';
import { NodeDisk } from '../../storage/node-disk.ts';
import { describeTenantFiles } from './tenant-files.ts';

describeTenantFiles('memory', async () => ({ files: new MemoryTenantFiles(), dispose: async () => undefined }));

for (const [name, Files] of [['credentials', TenantCredentialFiles], ['environments', TenantEnvironmentFiles], ['hosts', TenantHostFiles]] as const) {
  describeTenantFiles(name, async () => {
    const path = await mkdtemp(join(tmpdir(), 'brain-tenant-files-'));
    const directory = await DataDirectory.open({ disk: new NodeDisk(), path, log: { warn: () => undefined } });
    return {
      files: new Files(directory),
      dispose: async () => {
        await directory.close();
        await rm(path, { recursive: true });
      },
    };
  });
}
