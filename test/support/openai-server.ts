/**
 * A provider of chat completions that says what a test scripts: streamed in writes of a chosen size, held back, cut off
 * or refused. It counts what it is asked, is strict about it, and notices when the caller hangs up.
 */
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Arrivals } from './arrivals.ts';
import { readChatRequest, type ChatRequest } from './chat-request.ts';
import { LocalServer } from './local-server.ts';

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** The text of the arguments, whatever it is. */
  readonly arguments: string;
}

/** A piece of a streamed answer, in the order of the stream. */
export type AnswerPart =
  | { readonly text: string }
  | { readonly toolCall: ScriptedToolCall }
  | { readonly wait: Promise<unknown> }
  /** The connection is lost here. */
  | { readonly cut: true };

export type ModelAnswer =
  | { readonly parts: readonly AnswerPart[]; readonly bytesPerWrite?: number }
  | { readonly status: number; readonly message: string; readonly headers?: Readonly<Record<string, string>> };

export interface ModelCall {
  /** Counted from 0. */
  readonly index: number;
  readonly request: ChatRequest;
  /** The header as it was sent. */
  readonly authorization: string | undefined;
  /** Resolves when the caller is gone before the answer was complete. */
  readonly hungUp: Promise<void>;
}

export type ModelScript = (call: ModelCall) => ModelAnswer | Promise<ModelAnswer>;

/** A script that never answers. */
export const silence: ModelScript = () => new Promise(() => undefined);

export function says(text: string): ModelAnswer {
  return { parts: [{ text }] };
}

export function calls(...toolCalls: readonly ScriptedToolCall[]): ModelAnswer {
  return { parts: toolCalls.map((toolCall) => ({ toolCall })) };
}

export class OpenAiServer {
  readonly #server: LocalServer;
  readonly #script: { current: ModelScript };
  readonly calls: Arrivals<ModelCall>;
  /** What a strict provider would have refused. */
  readonly refusals: readonly string[];

  private constructor(server: LocalServer, script: { current: ModelScript }, calls: Arrivals<ModelCall>, refusals: readonly string[]) {
    this.#server = server;
    this.#script = script;
    this.calls = calls;
    this.refusals = refusals;
  }

  static async start(script: ModelScript): Promise<OpenAiServer> {
    const current = { current: script };
    const arrivals = new Arrivals<ModelCall>('model calls');
    const refusals: string[] = [];
    const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
      const read = readChatRequest(await text(incoming));
      if ('refusal' in read) {
        refusals.push(read.refusal);
        refuse(response, 400, read.refusal);
        return;
      }
      const hungUp = new Promise<void>((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve();
        });
      });
      const call = { index: arrivals.all.length, request: read.request, authorization: incoming.headers.authorization, hungUp };
      arrivals.add(call);
      const scripted = await current.current(call);
      if ('status' in scripted) refuse(response, scripted.status, scripted.message, scripted.headers);
      else await stream(response, read.request, scripted);
    };
    const server = await LocalServer.start((incoming, response) => {
      // A caller that is killed takes its connection with it in the middle of anything.
      answer(incoming, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
    return new OpenAiServer(server, current, arrivals, refusals);
  }

  /** What the server under test needs to find this one. */
  get environment(): Readonly<Record<string, string>> {
    return { BRAIN_OPENAI_BASE_URL: `${this.#server.url}/v1` };
  }

  /** How the calls from now on are answered. */
  set script(script: ModelScript) {
    this.#script.current = script;
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

async function stream(
  response: ServerResponse,
  request: ChatRequest,
  answer: { readonly parts: readonly AnswerPart[]; readonly bytesPerWrite?: number },
): Promise<void> {
  const write = async (data: string): Promise<void> => {
    const bytes = Buffer.from(`data: ${data}\n\n`);
    const step = answer.bytesPerWrite ?? bytes.length;
    for (let offset = 0; offset < bytes.length; offset += step) {
      response.write(bytes.subarray(offset, offset + step));
      // A turn of the event loop between two writes, so that they leave as two.
      if (step < bytes.length) await setImmediate();
    }
  };
  const chunk = (choices: readonly unknown[], more: object = {}): string =>
    JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: request.model, choices, ...more });
  const delta = (delta: object, finish_reason: string | null = null): string => chunk([{ index: 0, delta, finish_reason }]);

  response.socket?.setNoDelay(true);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await write(delta({ role: 'assistant', content: '' }));
  let toolCallCount = 0;
  for (const part of answer.parts) {
    if ('text' in part) {
      for (const content of piecesOf(part.text)) await write(delta({ content }));
    } else if ('toolCall' in part) {
      const { id, name } = part.toolCall;
      const index = toolCallCount++;
      await write(delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
      for (const piece of piecesOf(part.toolCall.arguments)) {
        await write(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
      }
    } else if ('wait' in part) {
      await part.wait;
    } else {
      response.destroy();
      return;
    }
  }
  await write(delta({}, toolCallCount > 0 ? 'tool_calls' : 'stop'));
  if (request.stream_options?.include_usage === true) {
    await write(chunk([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }));
  }
  await write('[DONE]');
  response.end();
}

/** A few words at a time, as models speak. */
function piecesOf(text: string): readonly string[] {
  return text.match(/[\s\S]{1,24}/gu) ?? [];
}

function refuse(response: ServerResponse, status: number, message: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }));
}
