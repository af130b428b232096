import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileSessionStore } from '../../storage/file-session-store.ts';
import { MemorySessionStore } from '../../storage/memory-journal.ts';
import { NodeDisk } from '../../storage/node-disk.ts';
import { SimulatedDisk } from '../support/simulated-disk.ts';
import { describeSessionStore } from './session-store.ts';

const log = { warn: () => undefined };

describeSessionStore('memory', async () => {
  const store = new MemorySessionStore();
  return { store, dispose: () => store.close() };
});

describeSessionStore('files on a simulated disk', async () => {
  const store = await FileSessionStore.open({ disk: new SimulatedDisk().boot(), path: '/srv/data', log });
  return { store, dispose: () => store.close() };
});

describeSessionStore('files on the real disk', async () => {
  const root = await mkdtemp(join(tmpdir(), 'brain-store-'));
  const store = await FileSessionStore.open({ disk: new NodeDisk(), path: join(root, 'a', 'b'), log });
  return {
    store,
    dispose: async () => {
      await store.close();
      await rm(root, { recursive: true });
    },
  };
});
