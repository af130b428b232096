/**
 * The data directory: what lies where in it, the mark of its format, the lock that makes one process its owner, and the
 * trash. It knows nothing of what a session's directory holds.
 *
 *     format                    the mark: what this directory is
 *     lock                      locked by the process that owns it
 *     sessions/{id}/            one directory for each session
 *     claims/                   a file of each tenant's claims, once there are any
 *     credentials/              a sealed file of each tenant's credentials, once there are any
 *     environments/             a file of each tenant's environments, once there are any
 *     hosts/                    a file of each tenant's hosts, once there are any
 *     vault.key                 what credentials are sealed with, where the operator gave no key
 *     trash/                    what was taken away, to be removed when there is time
 *
 *   D1. What is found under `sessions/` is durable when `open` resolves: a name that a crash left is shown to nobody who
 *       would see it gone after the next one.
 *   D2. What changes files runs in `using`: once the directory is given up, another process may be its owner.
 *   D3. Nothing under `trash/` is removed before the move there is durable: a power cut could bring half of it back.
 */
import { dirname } from 'node:path';
import { isErrorCode } from './disk-failure.ts';
import type { Disk, DiskDirectory, DiskLock } from './disk.ts';
import { rememberId } from './highest-id.ts';
import { StorageError } from './journal.ts';
import { SharedSync } from './shared-sync.ts';
import { readFileIfThere, replaceFile } from './whole-file.ts';

const SESSIONS = 'sessions';

export const DATA_FORMAT_MARK = 'brain data directory, format 1\n';

/** What this layer tells the operator. Facts are plain; nothing of a session's content is among them. */
export interface StorageLog {
  warn(event: string, facts: Readonly<Record<string, unknown>>): void;
}

export interface DataDirectoryOptions {
  readonly disk: Disk;
  readonly path: string;
  readonly log: StorageLog;
}

export class DataDirectory {
  readonly disk: Disk;
  readonly log: StorageLog;
  readonly #root: string;
  readonly #lock: DiskLock;
  readonly #sessions: SharedSync;
  readonly #users = new Set<Promise<unknown>>();
  readonly #ensured = new Set<string>();
  #tidying: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor({ disk, path, log }: DataDirectoryOptions, { lock, sessions }: { readonly lock: DiskLock; readonly sessions: DiskDirectory }) {
    this.disk = disk;
    this.log = log;
    this.#root = path;
    this.#lock = lock;
    this.#sessions = new SharedSync(sessions);
  }

  /** Makes the directory what it should be where it is new. Rejects with `data_directory_locked` or `_unusable`. */
  static async open(options: DataDirectoryOptions): Promise<DataDirectory> {
    const { disk, path } = options;
    let lock: DiskLock | null = null;
    try {
      await makeDirectories(disk, path);
      lock = await disk.lock(`${path}/lock`);
      if (lock === null) {
        throw new StorageError('data_directory_locked', `data directory ${path} is in use by another process`);
      }
      await prepare(disk, path);
      const trashed = await disk.list(`${path}/trash`);
      const directory = new DataDirectory(options, { lock, sessions: await disk.openDirectory(`${path}/sessions`) });
      for (const name of trashed) directory.#tidy(`trash/${name}`);
      return directory;
    } catch (error) {
      await lock?.release();
      if (error instanceof StorageError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new StorageError('data_directory_unusable', `data directory ${path} cannot be used: ${reason}`, { cause: error });
    }
  }

  /** The disk's path for one that is relative to the data directory. */
  at(relative: string): string {
    return `${this.#root}/${relative}`;
  }

  /** Takes a file or directory out of its place, in one step; null where there is none. It is not durable yet. */
  async moveToTrash(relative: string, name: string): Promise<string | null> {
    for (let attempt = 0; ; attempt += 1) {
      const target = `trash/${name}.${attempt}`;
      try {
        await this.disk.rename(this.at(relative), this.at(target));
        return target;
      } catch (error) {
        if (isErrorCode(error, 'ENOENT')) return null;
        // The name is taken by something of the same name that went before, and is not removed yet.
        if (!isErrorCode(error, 'EEXIST', 'ENOTEMPTY')) throw error;
      }
    }
  }

  /** Makes a move durable, also one of an earlier call; what was moved is removed when there is time. */
  async settleMove(relative: string, moved: string | null): Promise<void> {
    const parent = dirname(relative);
    await (parent === SESSIONS ? this.syncSessions() : this.disk.syncDirectory(this.at(parent)));
    await this.disk.syncDirectory(this.at('trash'));
    if (moved !== null) this.#tidy(moved);
  }

  /** Makes the names in `sessions/` durable that are there now. */
  syncSessions(): Promise<void> {
    return this.#sessions.sync();
  }

  /** Runs work on files outside of the sessions'. `close` waits for what has begun; nothing begins after it. */
  async using<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StorageError('journal_unavailable', 'the data directory was given up');
    const used = work();
    this.#users.add(used);
    try {
      return await used;
    } finally {
      this.#users.delete(used);
    }
  }

  /** Makes a directory beside `sessions/`, where it is missing. Its own name is durable when this resolves. */
  async ensure(name: string): Promise<void> {
    if (this.#ensured.has(name)) return;
    await makeDirectory(this.disk, this.at(name));
    await this.disk.syncDirectory(this.at('.'));
    this.#ensured.add(name);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#users.size > 0) await Promise.allSettled(this.#users);
    await this.#tidying;
    await this.#sessions.close();
    await this.#lock.release();
  }

  /** One after the other, behind everything else. What cannot be removed now is tried again at the next start. */
  #tidy(relative: string): void {
    this.#tidying = this.#tidying
      .then(() => rememberId(this, relative))
      .then(() => this.disk.remove(this.at(relative)))
      .catch((error: unknown) => this.log.warn('trash_not_removed', { file: relative, error }));
  }
}

async function prepare(disk: Disk, path: string): Promise<void> {
  const mark = await readMark(disk, path);
  if (mark === null) {
    if ((await disk.list(path)).includes('sessions')) {
      throw new StorageError('data_directory_unusable', `data directory ${path} has sessions, but no mark of their format`);
    }
    // Directories above may be this process's work, or that of one that died before it flushed them: where there is no
    // mark yet, nobody has. And the mark is durable before anything is put beside it.
    await syncAbove(disk, path);
    await replaceFile(disk, { directory: path, name: 'format', bytes: Buffer.from(DATA_FORMAT_MARK) });
  } else if (mark !== DATA_FORMAT_MARK) {
    throw new StorageError('data_directory_unusable', `data directory ${path} is of a format that this version does not know`);
  } else {
    // Whoever put it there may have died before it was durable, and a power cut would leave sessions without a mark.
    await disk.syncDirectory(path);
  }
  await makeDirectory(disk, `${path}/sessions`);
  await makeDirectory(disk, `${path}/trash`);
  for (const directory of ['sessions', 'trash', '.']) await disk.syncDirectory(`${path}/${directory}`);
}

async function readMark(disk: Disk, path: string): Promise<string | null> {
  const mark = await readFileIfThere(disk, `${path}/format`);
  return mark === null ? null : new TextDecoder().decode(mark);
}

/** Makes a directory and those above it that are missing. */
export async function makeDirectories(disk: Disk, path: string): Promise<void> {
  try {
    await makeDirectory(disk, path);
  } catch (error) {
    if (!isErrorCode(error, 'ENOENT') || dirname(path) === path) throw error;
    await makeDirectories(disk, dirname(path));
    await makeDirectory(disk, path);
  }
}

/** Makes the way to a path durable, as far up as this process may look. */
export async function syncAbove(disk: Disk, path: string): Promise<void> {
  for (let below = path; dirname(below) !== below; below = dirname(below)) {
    try {
      await disk.syncDirectory(dirname(below));
    } catch (error) {
      // Where it may not even look it has made nothing, and some file systems have directories that cannot be flushed.
      if (!isErrorCode(error, 'EACCES', 'EPERM', 'EINVAL')) throw error;
      return;
    }
  }
}

/** False where it was there. */
export async function makeDirectory(disk: Disk, path: string): Promise<boolean> {
  try {
    await disk.makeDirectory(path);
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
}
