/** The server of the demonstration: a process of its own, so that it can be killed like any other. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const START_COMMAND = fileURLToPath(new URL('../start.js', import.meta.url));

export class DemoServer {
  readonly url: string;
  readonly pid: number | undefined;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.pid = child.pid;
    this.url = url;
  }

  /** Resolves when the server listens; rejects with what it said where it does not. */
  static async start(dataDirectory: string): Promise<DemoServer> {
    const flags = ['--listen', '127.0.0.1:0', '--data-dir', dataDirectory];
    const child = spawn(process.execPath, [START_COMMAND, ...flags], {
      env: { ...environmentWithoutOptions(), BRAIN_LOG_LEVEL: 'error' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return new DemoServer(child, await addressOf(child));
  }

  /** SIGKILL: the process gets no chance to write, to answer or to say goodbye. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }
}

/** The demonstration is the same wherever it runs: it takes no key, limit or provider of its surroundings. */
function environmentWithoutOptions(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BRAIN_')));
}

async function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened\n${output}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const url = /^brain listens on (http:\/\/\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
