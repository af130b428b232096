/** A system clock that a test sets while a process runs, with `libfaketime`. Only the date is set: time goes on at its pace. */
import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { skipWithout } from './packages.ts';

const run = promisify(execFile);

export class FakedClock {
  readonly #directory: string;
  readonly #file: string;
  /** What a process needs to go by this clock. */
  readonly environment: Readonly<Record<string, string>>;

  private constructor(directory: string, file: string, environment: Readonly<Record<string, string>>) {
    this.#directory = directory;
    this.#file = file;
    this.environment = environment;
  }

  /** Goes right at first. */
  static async start(): Promise<FakedClock> {
    const directory = await mkdtemp(path.join(tmpdir(), 'brain-clock-'));
    const file = path.join(directory, 'offset');
    const clock = new FakedClock(directory, file, {
      LD_PRELOAD: await libraryPath(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    });
    await clock.setOffBy(0);
    return clock;
  }

  /** Hours ahead of the right time, or behind it. */
  async setOffBy(hours: number): Promise<void> {
    // In one step: whoever reads half of a number has another time.
    await writeFile(`${this.#file}.new`, `${hours < 0 ? '' : '+'}${hours}h\n`);
    await rename(`${this.#file}.new`, this.#file);
  }

  async dispose(): Promise<void> {
    await rm(this.#directory, { recursive: true });
  }
}

/** Whether a process can be given another time here. Says so where not; with `BRAIN_TEST_PACKAGES=required` that is an error. */
export async function canFakeClock(): Promise<boolean> {
  try {
    const { stdout } = await run(process.execPath, ['--print', 'new Date().getUTCFullYear()'], {
      env: { LD_PRELOAD: await libraryPath(), FAKETIME: '@2001-02-03 04:05:06', FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    });
    if (stdout.trim() !== '2001') throw new Error(`it is ${stdout.trim()} in 2001`);
    return true;
  } catch (error) {
    return skipWithout('faketime', error);
  }
}

/** The library for processes of several threads. */
async function libraryPath(): Promise<string> {
  const { stdout } = await run('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD']);
  return stdout.trim();
}
