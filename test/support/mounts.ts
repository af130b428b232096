/** File systems of a test's own: small ones, and ones that take nothing. They need the right to mount. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Mount {
  readonly path: string;
  /** What is written from now on fails. */
  makeReadOnly(): Promise<void>;
  unmount(): Promise<void>;
}

/** A file system in memory that holds no more than that. */
export async function mountMemory(bytes: number): Promise<Mount> {
  const directory = await mkdtemp(path.join(tmpdir(), 'brain-mount-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory]);
  } catch (error) {
    await rmdir(directory);
    throw error;
  }
  return {
    path: directory,
    makeReadOnly: async () => {
      await run('mount', ['-o', 'remount,ro', directory]);
    },
    unmount: async () => {
      await run('umount', [directory]);
      await rm(directory, { recursive: true });
    },
  };
}

/** Whether this process may mount. Says so where not; with `BRAIN_TEST_MOUNTS=required` that is an error. */
export async function canMount(): Promise<boolean> {
  try {
    const mount = await mountMemory(65_536);
    await mount.unmount();
    return true;
  } catch (error) {
    if (process.env['BRAIN_TEST_MOUNTS'] === 'required') throw error;
    console.warn(`skipped: no file system can be mounted here (${error instanceof Error ? error.message.trim() : String(error)})`);
    return false;
  }
}
