/**
 * The built server as a process of its own, on a data directory of its own: started, killed at any instant, and started
 * again on what the kill left behind.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BrainApi } from './brain-api.ts';

export const START_COMMAND = path.resolve(import.meta.dirname, '../../dist/cli/start.js');
const START_MS_MAX = 60_000;

export interface ServerOptions {
  /** `BRAIN_…` variables, and what a tools file reads. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: a new temporary directory, removed at the end. */
  readonly dataDirectory?: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly api: BrainApi;
  readonly exited: Promise<number | null>;
  /** From the start of the process to the line that says where it listens. */
  readonly readyMs: number;
}

export class ServerProcess {
  readonly dataDirectory: string;
  readonly #isOwnDirectory: boolean;
  readonly #environment: Record<string, string>;
  #running: Running | null = null;
  /** What all its processes wrote to their standard error. */
  errors = '';

  private constructor(options: ServerOptions, dataDirectory: string) {
    this.dataDirectory = dataDirectory;
    this.#isOwnDirectory = options.dataDirectory === undefined;
    this.#environment = { ...options.environment };
  }

  static async start(options: ServerOptions = {}): Promise<ServerProcess> {
    const dataDirectory = options.dataDirectory ?? (await mkdtemp(path.join(tmpdir(), 'brain-e2e-')));
    const server = new ServerProcess(options, dataDirectory);
    await server.start();
    return server;
  }

  get api(): BrainApi {
    return this.#current().api;
  }

  get url(): string {
    return this.#current().api.url;
  }

  get pid(): number {
    return this.#current().pid;
  }

  get readyMs(): number {
    return this.#current().readyMs;
  }

  /** `port`: 0 is any that is free. */
  async start(changes: Readonly<Record<string, string>> = {}, port = 0): Promise<void> {
    if (this.#running !== null) throw new Error('the server runs already');
    Object.assign(this.#environment, changes);
    this.#running = await this.#spawn(port);
  }

  /** SIGKILL: nothing of the process acts after this resolves. */
  async kill(): Promise<void> {
    const { child, exited } = this.#current();
    child.kill('SIGKILL');
    await exited;
    this.#running = null;
  }

  async killAndStart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** SIGTERM; answers the exit code. */
  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.exited();
  }

  /** Sends a signal, to a process that may be gone already, and waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    this.#current().child.kill(signal);
  }

  /** Resolves when the process has ended by itself: its exit code, or null where a signal ended it. */
  async exited(): Promise<number | null> {
    const code = await this.#current().exited;
    this.#running = null;
    return code;
  }

  /** Ends the process, if one runs, and removes the directory, if it was made here. */
  async dispose(): Promise<void> {
    if (this.#running !== null) await this.kill();
    if (this.#isOwnDirectory) await rm(this.dataDirectory, { recursive: true, force: true });
  }

  /** The bytes that the process has asked the kernel to read and to write so far, sockets included. */
  async transferredBytes(): Promise<{ readonly read: number; readonly written: number }> {
    const text = await readFile(`/proc/${this.#current().pid}/io`, 'utf8');
    return { read: numberAfter(text, 'rchar'), written: numberAfter(text, 'wchar') };
  }

  /** The memory of the process that is in use, in bytes. */
  async residentBytes(): Promise<number> {
    const text = await readFile(`/proc/${this.#current().pid}/status`, 'utf8');
    return numberAfter(text, 'VmRSS') * 1024;
  }

  #current(): Running {
    if (this.#running === null) throw new Error('the server does not run');
    return this.#running;
  }

  async #spawn(port: number): Promise<Running> {
    const startedAt = performance.now();
    const flags = ['--listen', `127.0.0.1:${port}`, '--data-dir', this.dataDirectory];
    const child = spawn(process.execPath, [START_COMMAND, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], BRAIN_LOG_LEVEL: 'warn', UV_THREADPOOL_SIZE: '16', ...this.#environment },
    });
    // A test run that is cut short leaves no server behind.
    const killWithUs = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', killWithUs);
    const exited = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        process.removeListener('exit', killWithUs);
        resolve(code);
      });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.errors += text));

    const url = await this.#addressOf(child);
    const { pid } = child;
    if (pid === undefined) throw new Error('the server has no process');
    return { child, pid, api: new BrainApi(url), exited, readyMs: performance.now() - startedAt };
  }

  async #addressOf(child: ChildProcess): Promise<string> {
    const errorsBefore = this.errors.length;
    let output = '';
    return new Promise<string>((resolve, reject) => {
      const refuse = (what: string): void => {
        child.kill('SIGKILL');
        reject(new Error(`${what}\n${output}${this.errors.slice(errorsBefore)}`));
      };
      const timer = setTimeout(() => refuse(`the server did not start within ${START_MS_MAX} ms`), START_MS_MAX);
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const url = /^brain listens on (http:\/\/\S+)$/m.exec(output)?.[1];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(url);
      });
      child.once('exit', (code) => {
        clearTimeout(timer);
        refuse(`the server ended with ${code} before it listened`);
      });
    });
  }
}

function numberAfter(text: string, name: string): number {
  const found = new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1];
  if (found === undefined) throw new Error(`no ${name} in the process's figures`);
  return Number(found);
}
