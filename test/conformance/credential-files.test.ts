import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TenantCredentialFiles } from '../../storage/credential-files.ts';
import { DataDirectory } from '../../storage/data-directory.ts';
import { MemoryCredentialFiles } from '../../storage/memory-credential-files.ts';
import { NodeDisk } from '../../storage/node-disk.ts';
import { describeCredentialFiles } from './credential-files.ts';

describeCredentialFiles('memory', async () => ({ files: new MemoryCredentialFiles(), dispose: async () => undefined }));

describeCredentialFiles('files', async () => {
  const path = await mkdtemp(join(tmpdir(), 'brain-credentials-'));
  const directory = await DataDirectory.open({ disk: new NodeDisk(), path, log: { warn: () => undefined } });
  return {
    files: new TenantCredentialFiles(directory),
    dispose: async () => {
      await directory.close();
      await rm(path, { recursive: true });
    },
  };
});
