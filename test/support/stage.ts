/** The server under test between a scripted model and scripted tools: what most tests from the outside need. */
import type { BrainApi, JournalRecord, Session } from './brain-api.ts';
import { OpenAiServer, type ModelScript } from './openai-server.ts';
import { ServerProcess } from './server-process.ts';
import { ToolServer, type RemoteTool, type ToolScript } from './tool-server.ts';

/** The agent loops of the server: what holds for a turn holds whichever of them runs it. */
export const LOOPS = ['chat', 'pi'] as const;

export interface StageOptions {
  readonly model: ModelScript;
  readonly tools?: readonly RemoteTool[];
  readonly tool?: ToolScript;
  readonly environment?: Readonly<Record<string, string>>;
  /** The agent loop of its sessions, unless a create says another. */
  readonly loop?: (typeof LOOPS)[number];
}

export class Stage {
  readonly model: OpenAiServer;
  readonly tools: ToolServer;
  readonly server: ServerProcess;
  readonly #session: Readonly<Record<string, unknown>>;

  private constructor(model: OpenAiServer, tools: ToolServer, server: ServerProcess, session: Readonly<Record<string, unknown>>) {
    this.model = model;
    this.tools = tools;
    this.server = server;
    this.#session = session;
  }

  static async set(options: StageOptions): Promise<Stage> {
    const remoteTools = options.tools ?? [];
    const model = await OpenAiServer.start(options.model);
    const tools = await ToolServer.start(remoteTools, options.tool ?? (() => 'done'));
    const environment = { ...model.environment, ...tools.environment, ...options.environment };
    const server = await ServerProcess.start({ environment });
    return new Stage(model, tools, server, {
      model: { provider: 'openai', name: 'scripted' },
      tools: remoteTools.map(({ name }) => name),
      ...(options.loop === undefined ? {} : { agentloop: { name: options.loop } }),
    });
  }

  get api(): BrainApi {
    return this.server.api;
  }

  /** A session on the scripted model, with all of the scripted tools, and no other. */
  async create(more: Readonly<Record<string, unknown>> = {}): Promise<Session> {
    return this.api.create({ ...this.#session, ...more });
  }

  /** The first record of a type that the session's journal has. */
  async record(id: string, type: string): Promise<JournalRecord | undefined> {
    return (await this.api.journal(id)).find((record) => record.type === type);
  }

  async strike(): Promise<void> {
    await this.server.dispose();
    await this.model.close();
    await this.tools.close();
  }
}
