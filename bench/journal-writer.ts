/** Writes journals as a server would have left them, with the server's own storage, for more sessions than one could run. */
import type { SessionRecord } from '../machines/records.ts';
import { encodeRecord, payloadOf } from '../services/record-codec.ts';
import type { Disk, DiskFile } from '../storage/disk.ts';
import { FileSessionStore } from '../storage/file-session-store.ts';
import { NodeDisk } from '../storage/node-disk.ts';
import { inParallel } from './in-parallel.ts';

/** As turns commit them: few at a time. */
const RECORDS_PER_FRAME = 3;
const SESSIONS_AT_ONCE = 16;
const TIME_DIGITS = '019b7a5e6c00';

export interface Journals {
  readonly directory: string;
  readonly sessions: number;
  /** Of each of them. */
  readonly records: readonly SessionRecord[];
  /** Of the first session's id among those of the directory. */
  readonly firstIndex?: number;
}

/** Answers the ids of the sessions. */
export async function writeJournals({ directory, sessions, records, firstIndex = 0 }: Journals): Promise<readonly string[]> {
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const store = await FileSessionStore.open({ disk: unsynced(new NodeDisk()), path: directory, log: silent });
  const frames = framesOf(records);
  const ids = Array.from({ length: sessions }, (_, index) => TIME_DIGITS + (firstIndex + index).toString(16).padStart(20, '0'));
  await inParallel(ids, SESSIONS_AT_ONCE, async (id) => {
    const journal = await store.create(id);
    for (const frame of frames) await journal.append(frame);
    await journal.release();
  });
  await store.close();
  return ids;
}

export function framesOf(records: readonly SessionRecord[]): readonly { readonly firstSequence: number; readonly recordCount: number; readonly payload: Uint8Array }[] {
  const count = Math.ceil(records.length / RECORDS_PER_FRAME);
  return Array.from({ length: count }, (_, index) => {
    const some = records.slice(index * RECORDS_PER_FRAME, (index + 1) * RECORDS_PER_FRAME);
    return { firstSequence: index * RECORDS_PER_FRAME + 1, recordCount: some.length, payload: payloadOf(some.map(encodeRecord)) };
  });
}

const UNSYNCED = { read: 'read', write: 'write', create: 'create', 'write-through': 'write', 'create-through': 'create' } as const;

/** Nobody is told that any of it is durable, and the kernel has it when the server reads it. */
function unsynced(disk: NodeDisk): Disk {
  const file = (real: DiskFile): DiskFile => ({
    read: (buffer, position) => real.read(buffer, position),
    write: (bytes, position) => real.write(bytes, position),
    truncate: (length) => real.truncate(length),
    sync: () => Promise.resolve(),
    size: () => real.size(),
    mode: () => real.mode(),
    close: () => real.close(),
  });
  return {
    open: async (path, mode) => file(await disk.open(path, UNSYNCED[mode])),
    makeDirectory: (path) => disk.makeDirectory(path),
    list: (path) => disk.list(path),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    syncDirectory: () => Promise.resolve(),
    openDirectory: () => Promise.resolve({ sync: () => Promise.resolve(), close: () => Promise.resolve() }),
    lock: (path) => disk.lock(path),
  };
}
