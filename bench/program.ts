/** A program of this build as a process of its own, ended with this one at the latest. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const BUILD = path.resolve(import.meta.dirname, '..');
const CLOCK_TICKS_PER_SECOND = 100;

export interface ProgramOptions {
  /** Its path in the build. */
  readonly file: string;
  readonly flags?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export class Program {
  readonly url: string;
  /** From its start to the line that says where it listens. */
  readonly readyMs: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, ended: Promise<void>, url: string, readyMs: number) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
    this.readyMs = readyMs;
  }

  /** Resolves once it has printed where it listens. */
  static async start({ file, flags = [], nodeFlags = [], environment = {} }: ProgramOptions): Promise<Program> {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [...nodeFlags, path.join(BUILD, file), ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: '16', ...environment },
    });
    const killWithUs = (): void => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => {
        process.removeListener('exit', killWithUs);
        resolve();
      });
    });
    const url = await addressOf(child, file);
    return new Program(child, ended, url, performance.now() - startedAt);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Processor time that it has taken so far. */
  async processorSeconds(): Promise<number> {
    const text = await readFile(`/proc/${this.#child.pid}/stat`, 'utf8');
    // The name before them may hold blanks; it ends at the last bracket.
    const [user = 0, system = 0] = text.slice(text.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number);
    return (user + system) / CLOCK_TICKS_PER_SECOND;
  }

  /** The memory that nobody else would give back: clean and dirty private pages, in KiB. */
  async privateKib(): Promise<number> {
    const text = await readFile(`/proc/${this.#child.pid}/smaps_rollup`, 'utf8');
    return [...text.matchAll(/^Private_(?:Clean|Dirty):\s*(\d+) kB$/gm)].reduce((sum, [, kib]) => sum + Number(kib), 0);
  }
}

async function addressOf(child: ChildProcess, file: string): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const url = /listens on (http:\/\/\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code} before it listened`)));
  });
}
