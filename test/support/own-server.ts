/** A whole server in the test's own process, on a data directory of its own, with the model that needs no network. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer, type RunningServer } from '../../cli/server.ts';
import { Brain, type BrainOptions } from '../../client/index.ts';

export class OwnServer {
  readonly #directory: string;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #clients: Brain[] = [];
  #running: RunningServer;

  private constructor(directory: string, settings: Readonly<Record<string, string>>, running: RunningServer) {
    this.#directory = directory;
    this.#settings = settings;
    this.#running = running;
  }

  static async start(more: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
    const directory = await mkdtemp(path.join(tmpdir(), 'brain-own-'));
    const settings = { BRAIN_DATA_DIR: path.join(directory, 'data'), BRAIN_LISTEN: '127.0.0.1:0', BRAIN_LOG_LEVEL: 'error', BRAIN_DRAIN_SECS: '1', ...more };
    return new OwnServer(directory, settings, await startServer(settings));
  }

  get url(): string {
    return this.#running.url;
  }

  /** Closed with the server. */
  client(options: BrainOptions = {}): Brain {
    const client = new Brain({ baseUrl: this.url, ...options });
    this.#clients.push(client);
    return client;
  }

  /** Stops, and starts again where it was. */
  async restart(): Promise<void> {
    const { host } = new URL(this.url);
    await this.#running.stop();
    this.#running = await startServer({ ...this.#settings, BRAIN_LISTEN: host });
  }

  async dispose(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.#running.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
