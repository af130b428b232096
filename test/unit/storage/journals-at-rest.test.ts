/** Journals that were released: their files stay open for a while, and nothing else of them does. */
import { beforeEach, describe, expect, it } from 'vitest';
import { FileSessionStore } from '../../../storage/file-session-store.ts';
import { codeOf, frameOf, ID, textsOf } from '../../support/frames.ts';
import { HandleCount } from '../../support/handle-count.ts';
import { SimulatedDisk } from '../../support/simulated-disk.ts';
import { callsOf, failNext, heal, ROOT, segmentFile, segmentPath, startAfterPowerCut } from '../../support/stores.ts';

const OPEN_MAX = 256;

let disk: SimulatedDisk;
let handles: HandleCount;
let store: FileSessionStore;

beforeEach(async () => {
  disk = new SimulatedDisk();
  store = await startAgain();
});

async function startAgain(): Promise<FileSessionStore> {
  handles = new HandleCount(disk.boot());
  return FileSessionStore.open({ disk: handles, path: ROOT, log: { warn: () => undefined } });
}

async function makeSession(id = ID): Promise<void> {
  const journal = await store.create(id);
  await journal.append(frameOf(1, 1, 'a'));
  await journal.release();
}

function idOf(index: number): string {
  return index.toString(16).padStart(32, '0');
}

describe('a journal at rest', () => {
  it('is opened, appended to and released again without another call to the disk than the write', async () => {
    await makeSession();

    const calls = await callsOf(disk, async () => {
      const journal = await store.open(ID);
      await journal.append(frameOf(2, 1, 'b'));
      await journal.release();
    });

    expect(calls).toEqual([`write ${segmentFile(1)}`, `sync ${segmentFile(1)}`]);
    expect(await textsOf(await store.open(ID))).toEqual(['a', 'b']);
    expect(await textsOf(await (await startAfterPowerCut(disk)).store.open(ID))).toEqual(['a', 'b']);
  });

  it('is one of a bounded number: the one that was released longest ago is closed, and opened again from the disk', async () => {
    for (let index = 0; index < OPEN_MAX; index += 1) await makeSession(idOf(index));
    await (await store.open(idOf(0))).release();

    await makeSession(idOf(OPEN_MAX));
    await new Promise((resolve) => setImmediate(resolve));

    expect(handles.openFiles.length).toBe(OPEN_MAX);
    expect(handles.openFiles).toContain(segmentPath(1, idOf(0)));
    expect(handles.openFiles).not.toContain(segmentPath(1, idOf(1)));
    const calls = await callsOf(disk, async () => (await store.open(idOf(1))).release());
    expect(calls).toContain(`open ${segmentFile(1, idOf(1))}`);
  });

  it('is not kept after a failed append: the next opening cuts it back', async () => {
    await makeSession();
    const journal = await store.open(ID);
    failNext(disk, 'sync', 'EIO');
    expect(await codeOf(journal.append(frameOf(2, 1, 'lost')))).toBe('journal_unavailable');
    heal(disk);
    await journal.release();

    expect(handles.openFiles).toEqual([]);
    expect(await callsOf(disk, () => store.open(ID))).toContain(`truncate ${segmentFile(1)}`);
  });

  it('is not kept when the append fails while it is being released', async () => {
    await makeSession();
    const journal = await store.open(ID);
    failNext(disk, 'sync', 'EIO');
    const appended = codeOf(journal.append(frameOf(2, 1, 'lost')));
    await journal.release();

    expect(await appended).toBe('journal_unavailable');
    heal(disk);
    expect(handles.openFiles).toEqual([]);
    expect(await textsOf(await store.open(ID))).toEqual(['a']);
  });

  it('is closed before its session is taken away, and with its store', async () => {
    await makeSession(idOf(1));
    await makeSession(idOf(2));

    const calls = await callsOf(disk, () => store.remove(idOf(1)));
    expect(calls.slice(0, 2)).toEqual([`close ${segmentFile(1, idOf(1))}`, `rename sessions/${idOf(1)}`]);
    expect(handles.openFiles).toEqual([segmentPath(1, idOf(2))]);

    const closing = await callsOf(disk, () => store.close());
    expect([closing[0], closing.at(-1)]).toEqual([`close ${segmentFile(1, idOf(2))}`, 'unlock lock']);
    expect(handles.openFiles).toEqual([]);
  });

  it('makes room where no more files can be opened', async () => {
    await makeSession(idOf(1));
    await makeSession(idOf(2));
    await store.close();
    store = await startAgain();
    await (await store.open(idOf(1))).release();
    failNext(disk, 'open', 'EMFILE');

    const journal = await store.open(idOf(2));

    expect(handles.openFiles).toEqual([segmentPath(1, idOf(2))]);
    failNext(disk, 'list', 'EMFILE');
    expect(await codeOf(store.open(idOf(1)))).toBe('journal_unavailable');
    heal(disk);
    expect(await textsOf(journal)).toEqual(['a']);
  });

  it.each(['open', 'syncDirectory'] as const)('makes room for what a create opens, where %s finds none', async (call) => {
    await makeSession(idOf(1));
    const journal = await store.create(idOf(2));
    failNext(disk, call, 'EMFILE');

    await journal.append(frameOf(1, 1, 'b'));

    expect(handles.openFiles).toEqual([segmentPath(1, idOf(2))]);
    expect(await textsOf(journal)).toEqual(['b']);
  });

  it('makes room for a checkpoint', async () => {
    await makeSession(idOf(1));
    await makeSession(idOf(2));
    failNext(disk, 'open', 'EMFILE');

    expect(await store.writeCheckpoint(idOf(2), Buffer.from('{}'))).toBe(true);
    expect(handles.openFiles).toEqual([]);
  });
});
