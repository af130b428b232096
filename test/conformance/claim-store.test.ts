import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../storage/data-directory.ts';
import { FileClaimStore } from '../../storage/file-claim-store.ts';
import { MemoryClaimStore } from '../../storage/memory-claim-store.ts';
import { NodeDisk } from '../../storage/node-disk.ts';
import { SimulatedDisk } from '../support/simulated-disk.ts';
import { describeClaimStore } from './claim-store.ts';

const log = { warn: () => undefined };

describeClaimStore('memory', async () => ({ claims: new MemoryClaimStore(), dispose: async () => undefined }));

describeClaimStore('files on a simulated disk', async () => {
  const directory = await DataDirectory.open({ disk: new SimulatedDisk().boot(), path: '/srv/data', log });
  return { claims: new FileClaimStore(directory), dispose: () => directory.close() };
});

describeClaimStore('files on the real disk', async () => {
  const path = await mkdtemp(join(tmpdir(), 'brain-claims-'));
  const directory = await DataDirectory.open({ disk: new NodeDisk(), path, log });
  return {
    claims: new FileClaimStore(directory),
    dispose: async () => {
      await directory.close();
      await rm(path, { recursive: true });
    },
  };
});
