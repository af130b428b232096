/** An nginx in front of a server, with its defaults but for how long it bears a silent one. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';
import { LocalServer } from './local-server.ts';
import { skipWithout } from './packages.ts';

const run = promisify(execFile);

/** Whether nginx runs here. Says so where not; with `BRAIN_TEST_PACKAGES=required` that is an error. */
export async function canRunNginx(): Promise<boolean> {
  try {
    await run('nginx', ['-v']);
    return true;
  } catch (error) {
    return skipWithout('nginx', error);
  }
}

export class Nginx {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(url: string, child: ChildProcess, directory: string) {
    this.url = url;
    this.#child = child;
    this.#directory = directory;
  }

  static async before(upstream: string, { readTimeoutSecs }: { readonly readTimeoutSecs: number }): Promise<Nginx> {
    const directory = await mkdtemp(path.join(tmpdir(), 'brain-nginx-'));
    const { port } = new URL(await freeAddress());
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`);
    const configuration = `daemon off; master_process off; pid ${directory}/pid; error_log stderr warn;
      events {}
      http {
        access_log off; ${temporary.join(' ')}
        server {
          listen 127.0.0.1:${port};
          location / { proxy_pass ${upstream}; proxy_read_timeout ${readTimeoutSecs}s; }
        }
      }`;
    await writeFile(path.join(directory, 'nginx.conf'), configuration);
    const child = spawn('nginx', ['-c', path.join(directory, 'nginx.conf'), '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const proxy = new Nginx(`http://127.0.0.1:${port}`, child, directory);
    await eventually(async () => ((await isListening(Number(port))) ? true : undefined), 'nginx');
    return proxy;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Of a server that was there a moment ago. */
async function freeAddress(): Promise<string> {
  const server = await LocalServer.start(() => undefined);
  await server.close();
  return server.url;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
