/**
 * Tools whose work is done outside of the server under test, so that it is counted where no kill reaches. The server
 * runs `remote-tools.mjs`, which asks here.
 */
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Arrivals } from './arrivals.ts';
import { LocalServer } from './local-server.ts';

const TOOLS_FILE = path.resolve(import.meta.dirname, 'remote-tools.mjs');

export interface RemoteTool {
  readonly name: string;
  /** Works on when its call is cancelled, and answers late. */
  readonly ignoresCancellation?: boolean;
}

export interface ToolCall {
  readonly tool: string;
  readonly session_id: string;
  readonly sequence: number;
  readonly input: unknown;
  /** Resolves when the caller is gone before it had its answer. */
  readonly hungUp: Promise<void>;
}

/** Answers with the tool's output; a rejection is the tool's error. */
export type ToolScript = (call: ToolCall) => unknown;

export class ToolServer {
  readonly #server: LocalServer;
  readonly #script: { current: ToolScript };
  readonly #tools: readonly RemoteTool[];
  readonly calls: Arrivals<ToolCall>;

  private constructor(
    server: LocalServer,
    script: { current: ToolScript },
    tools: readonly RemoteTool[],
    calls: Arrivals<ToolCall>,
  ) {
    this.#server = server;
    this.#script = script;
    this.#tools = tools;
    this.calls = calls;
  }

  static async start(tools: readonly RemoteTool[], script: ToolScript): Promise<ToolServer> {
    const current = { current: script };
    const arrivals = new Arrivals<ToolCall>('tool calls');
    const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
      const asked = JSON.parse(await text(incoming)) as Omit<ToolCall, 'hungUp'>;
      const hungUp = new Promise<void>((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve();
        });
      });
      const call = { ...asked, hungUp };
      arrivals.add(call);
      try {
        response.end(JSON.stringify({ output: await current.current(call) }));
      } catch (error) {
        response.writeHead(500).end(error instanceof Error ? error.message : 'failed');
      }
    };
    const server = await LocalServer.start((incoming, response) => {
      answer(incoming, response).catch(() => response.destroy());
    });
    return new ToolServer(server, current, tools, arrivals);
  }

  /** What the server under test needs to offer these tools. */
  get environment(): Readonly<Record<string, string>> {
    return {
      BRAIN_TOOLS_FILE: TOOLS_FILE,
      REMOTE_TOOLS_URL: this.#server.url,
      REMOTE_TOOLS: JSON.stringify(this.#tools),
    };
  }

  set script(script: ToolScript) {
    this.#script.current = script;
  }

  /** The calls that were made more than once, by the only name that a call has. */
  get repeated(): readonly string[] {
    const names = this.calls.all.map(({ session_id, sequence }) => `${session_id}/${sequence}`);
    return names.filter((name, index) => names.indexOf(name) !== index);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}
