/**
 * A program: a provider of chat completions that answers at once, all of a stream in one write. The model's name says how.
 *
 *   `plain`     four pieces of text.
 *   `tools`     two rounds of four calls of `look`, then a text.
 *   `recorded`  the steps that it was given with `POST /script`, one after the other; what their tools gave is handed to
 *               the tools that ask `POST /tool-output`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Step } from './recordings.ts';

const TOOL_ROUNDS = 2;
const CALLS_PER_ROUND = 4;
const PIECES: readonly string[] = ['Four pieces ', 'of a text ', 'that nobody ', 'has to wait for.'];

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string }[];
}

class Script {
  #steps: readonly Step[] = [];
  #next = 0;
  /** By the tool's name, in the order of its calls. */
  #outputs = new Map<string, readonly string[]>();

  load(steps: readonly Step[]): void {
    this.#steps = steps;
    this.#next = 0;
    this.#outputs = new Map();
  }

  step(): Step {
    const step = this.#steps[this.#next];
    if (step === undefined) throw new Error('the script is over');
    this.#next += 1;
    for (const { name, output } of step.toolCalls) this.#outputs.set(name, [...(this.#outputs.get(name) ?? []), output]);
    return step;
  }

  outputOf(name: string): string {
    const [first, ...rest] = this.#outputs.get(name) ?? [];
    if (first === undefined) throw new Error(`nothing is left for the tool ${name} to give`);
    this.#outputs.set(name, rest);
    return first;
  }
}

const script = new Script();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body: unknown = JSON.parse(await text(request));
  switch (request.url) {
    case '/script':
      script.load(body as readonly Step[]);
      response.end();
      return;
    case '/tool-output':
      response.end(script.outputOf(body as string));
      return;
    default:
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(streamOf(body as ChatRequest));
  }
}

function streamOf({ model, messages }: ChatRequest): string {
  switch (model) {
    case 'plain':
      return PLAIN;
    case 'tools': {
      const asked = messages.findLastIndex(({ role }) => role === 'user');
      const rounds = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
      return rounds < TOOL_ROUNDS ? CALLS : PLAIN;
    }
    case 'recorded':
      return recordedStream(script.step());
    default:
      throw new Error(`there is no model ${model}`);
  }
}

function recordedStream({ text: said, toolCalls }: Step): string {
  const pieces = (said.match(/[\s\S]{1,24}/gu) ?? []).map((content) => ({ content }));
  return stream([...pieces, ...toolCalls.map(({ id, name, arguments: input }, index) => callOf({ index, id, name, input }))], toolCalls.length > 0);
}

function stream(deltas: readonly object[], callsTools: boolean): string {
  const chunk = (choices: readonly object[], more = {}): object => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices, ...more });
  const delta = (value: object, finish_reason: string | null = null): object => chunk([{ index: 0, delta: value, finish_reason }]);
  const chunks = [
    delta({ role: 'assistant', content: '' }),
    ...deltas.map((value) => delta(value)),
    delta({}, callsTools ? 'tool_calls' : 'stop'),
    chunk([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
  ];
  return [...chunks.map((value) => JSON.stringify(value)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}

function callOf({ index, id, name, input }: { readonly index: number; readonly id: string; readonly name: string; readonly input: string }): object {
  return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: input } }] };
}

const PLAIN = stream(PIECES.map((content) => ({ content })), false);
const CALLS = stream(
  Array.from({ length: CALLS_PER_ROUND }, (_, index) => callOf({ index, id: `call_${index}`, name: 'look', input: `{"place":${index}}` })),
  true,
);

const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  answer(request, response).catch((error: unknown) => {
    response.writeHead(500);
    response.end(String(error));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`the scripted model listens on http://127.0.0.1:${address.port}\n`);
});
