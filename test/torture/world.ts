/** The server under torture between a model, tools, an environment and a host that count outside of it, and the ways in which it dies. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OpenAiServer } from '../support/openai-server.ts';
import { ServerProcess, START_COMMAND } from '../support/server-process.ts';
import { ToolServer } from '../support/tool-server.ts';
import { FarWork } from './far-tools.ts';
import { answerOf, TOOLS, workOf } from './message-plan.ts';
import type { SeededRandom } from './seeded-random.ts';

const GARBAGE_COLLECTION = path.resolve(import.meta.dirname, '../support/collect-garbage.mjs');

export type Death = 'kill' | 'kill while stopping' | 'kill while starting' | 'kill while recovering';

export class World {
  readonly model: OpenAiServer;
  readonly tools: ToolServer;
  readonly far: FarWork;
  readonly server: ServerProcess;

  private constructor(model: OpenAiServer, tools: ToolServer, far: FarWork, server: ServerProcess) {
    this.model = model;
    this.tools = tools;
    this.far = far;
    this.server = server;
  }

  static async start(seed: number): Promise<World> {
    const model = await OpenAiServer.start(answerOf);
    const tools = await ToolServer.start(TOOLS, workOf);
    const environment = { ...model.environment, ...tools.environment, BRAIN_CANCEL_SECS: '1', BRAIN_MAX_TOOL_SECS: '2', NODE_OPTIONS: `--import ${GARBAGE_COLLECTION}` };
    const server = await ServerProcess.start({ environment });
    const far = await FarWork.start(() => server.url, seed);
    await far.open(server.api);
    return new World(model, tools, far, server);
  }

  /** Lets the server give back what it can, soon. */
  collectGarbage(): void {
    this.server.signal('SIGUSR2');
  }

  /** Ends the process in one of the ways; what it may do afterwards is over when this resolves. */
  async die(death: Death, random: SeededRandom): Promise<void> {
    if (death === 'kill while stopping') {
      this.server.signal('SIGTERM');
      await delay(random.below(300));
    }
    await this.server.kill();
    if (death === 'kill while starting') {
      await this.#startAndKill(50 + random.below(900));
    } else if (death === 'kill while recovering') {
      await this.server.start();
      // A list recovers whatever is not at rest.
      const listing = this.server.api.sessions('?limit=1000').catch(() => undefined);
      await delay(random.below(80));
      await this.server.kill();
      await listing;
    }
  }

  async dispose(): Promise<void> {
    await this.far.close();
    await this.server.dispose();
    await this.model.close();
    await this.tools.close();
  }

  async #startAndKill(afterMs: number): Promise<void> {
    const flags = ['--listen', '127.0.0.1:0', '--data-dir', this.server.dataDirectory];
    const environment = { PATH: process.env['PATH'], ...this.model.environment, ...this.tools.environment };
    const child = spawn(process.execPath, [START_COMMAND, ...flags], { stdio: 'ignore', env: environment });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await delay(afterMs);
    child.kill('SIGKILL');
    await exited;
  }
}
