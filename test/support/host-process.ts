/** A program that serves tools with the client, as a process of its own: started, read, and killed at any instant. */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { eventually } from './eventually.ts';

/** What it has to say when its commands can come. */
const SERVING = /^serving$/m;

export class HostProcess {
  /** All that it has written so far. */
  said = '';
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  private constructor(file: string, environment: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [file], { env: { PATH: process.env['PATH'], ...environment }, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child.stdout?.on('data', (text: Buffer) => void (this.said += text.toString()));
    this.#exited = new Promise((resolve) => this.#child.once('exit', () => resolve()));
  }

  /** One of the programs beside this file. */
  static async start(name: string, environment: Readonly<Record<string, string>>): Promise<HostProcess> {
    const host = new HostProcess(path.resolve(import.meta.dirname, name), environment);
    try {
      await host.says(SERVING);
    } catch (error) {
      await host.kill();
      throw error;
    }
    return host;
  }

  async says(what: RegExp): Promise<void> {
    await eventually(async () => (what.test(this.said) ? true : undefined), `the program to say ${what.source}`);
  }

  /** SIGKILL: nothing of the process acts after this resolves. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
