/** What a running process asks of the kernel, as `strace` saw it: which calls, and which of them was over before which began. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { skipWithout } from '../support/packages.ts';

const STRACE = 'strace';
const TRACED = 'openat,write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync,ftruncate,rename,mkdir,unlink,rmdir';

export interface SystemCall {
  readonly name: string;
  readonly text: string;
  /** Lines of the trace: it began with the one and was over with the other. */
  readonly began: number;
  readonly over: number;
}

export class SystemCallTrace {
  readonly #directory: string;
  readonly #stop: () => Promise<void>;

  private constructor(directory: string, stop: () => Promise<void>) {
    this.#directory = directory;
    this.#stop = stop;
  }

  static async attach(pid: number): Promise<SystemCallTrace> {
    const directory = await mkdtemp(path.join(tmpdir(), 'brain-strace-'));
    const output = path.join(directory, 'trace');
    const { child, exited } = await attachStrace(pid, ['-y', '-s', '64', '-e', `trace=${TRACED}`, '-o', output]);
    return new SystemCallTrace(directory, async () => {
      child.kill('SIGINT');
      await exited;
    });
  }

  /** Ends the trace; the calls in the order in which they began. */
  async end(): Promise<readonly SystemCall[]> {
    await this.#stop();
    const text = await readFile(path.join(this.#directory, 'trace'), 'utf8');
    await rm(this.#directory, { recursive: true });
    return callsIn(text);
  }
}

/** Whether this process may trace another one. Says so where not; with `BRAIN_TEST_PACKAGES=required` that is an error. */
export async function canTrace(): Promise<boolean> {
  try {
    await promisify(execFile)(STRACE, ['-f', '-o', '/dev/null', 'true']);
    return true;
  } catch (error) {
    return skipWithout(STRACE, error);
  }
}

/** Resolves when it watches all threads of the process. */
async function attachStrace(pid: number, flags: readonly string[]): Promise<{ readonly child: ChildProcess; readonly exited: Promise<void> }> {
  const child = spawn(STRACE, ['-f', ...flags, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('attached')) resolve();
    });
    child.once('exit', () => reject(new Error(`strace ended: ${said}`)));
  });
  return { child, exited };
}

/** A call of one thread during which another one called is on two lines. */
function callsIn(trace: string): readonly SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { readonly text: string; readonly began: number }>();
  for (const [line, whole] of trace.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(whole) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, { text: rest.replace(/\s*<unfinished \.\.\.>$/, ''), began: line });
      continue;
    }
    const begun = resumed === null ? { text: '', began: line } : unfinished.get(thread);
    if (begun === undefined) continue;
    unfinished.delete(thread);
    const text = begun.text + (resumed?.[1] ?? rest);
    const name = /^(\w+)\(/.exec(text)?.[1];
    if (name !== undefined) calls.push({ name, text, began: begun.began, over: line });
  }
  return calls.toSorted((one, other) => one.began - other.began);
}
