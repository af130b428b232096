/** The built server, as an operator starts it, on a data directory of this run, with the scripted model for its provider. */
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { Client } from './client.ts';
import { RECORDED_TOOLS } from './conversation.ts';
import { Program } from './program.ts';

const COLLECTIONS = 3;
const COLLECTION_MS = 300;

export interface ServerOptions {
  readonly dataDirectory: string;
  readonly modelUrl: string;
  readonly nodeFlags?: readonly string[];
}

export class ServerUnderTest {
  readonly program: Program;
  readonly client: Client;

  private constructor(program: Program) {
    this.program = program;
    this.client = new Client(program.url);
  }

  static async start({ dataDirectory, modelUrl, nodeFlags = [] }: ServerOptions): Promise<ServerUnderTest> {
    const program = await Program.start({
      file: 'cli/start.js',
      flags: ['--listen', '127.0.0.1:0', '--data-dir', dataDirectory],
      nodeFlags,
      environment: {
        BRAIN_LOG_LEVEL: 'warn',
        BRAIN_OPENAI_BASE_URL: `${modelUrl}/v1`,
        BRAIN_TOOLS_FILE: path.resolve(import.meta.dirname, 'tools.js'),
        BENCH_MODEL_URL: modelUrl,
        BENCH_TOOLS: JSON.stringify(RECORDED_TOOLS),
      },
    });
    return new ServerUnderTest(program);
  }

  /** One that collects its garbage when it is told to. */
  static async startToWeigh(options: ServerOptions): Promise<ServerUnderTest> {
    const collects = ['--expose-gc', '--import', path.resolve(import.meta.dirname, 'collect-garbage.js')];
    return ServerUnderTest.start({ ...options, nodeFlags: collects });
  }

  /** Its private memory without garbage. */
  async weigh(): Promise<number> {
    for (let time = 0; time < COLLECTIONS; time += 1) {
      this.program.signal('SIGUSR2');
      // The runtime gives freed pages back some time after a collection, and says nothing when it has.
      await sleep(COLLECTION_MS);
    }
    return this.program.privateKib();
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.program.stop();
  }
}
