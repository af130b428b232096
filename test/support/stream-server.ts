/**
 * A provider of chat completions down to the bytes: what it writes, in pieces of which size, where it stops and how. It
 * records what it was asked, over which connection, and when that connection closed.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { LocalServer } from './local-server.ts';

export type StreamStep =
  | { readonly send: string | Uint8Array; readonly bytesPerWrite?: number }
  | { readonly hold: Promise<unknown> }
  /** `complete` is a proper end of the body; `lost` closes the connection, `reset` resets it, `mid_chunk` breaks a chunk. */
  | { readonly end: 'complete' | 'lost' | 'reset' | 'mid_chunk' };

export interface StreamAnswer {
  /** Null: not even a status. */
  readonly status?: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** `until_close` has no other end than that of the connection. */
  readonly framing?: 'chunked' | 'until_close';
  readonly steps: readonly StreamStep[];
}

export interface StreamedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Counted from 0. */
  readonly connection: number;
  readonly closed: Promise<void>;
}

export class StreamServer {
  readonly requests: readonly StreamedRequest[];
  readonly url: string;
  readonly #server: LocalServer;

  private constructor(server: LocalServer, requests: readonly StreamedRequest[]) {
    this.#server = server;
    this.requests = requests;
    this.url = server.url;
  }

  /** Each request gets the answer that `answer` has for it, by its number from 0. */
  static async start(answer: (index: number) => StreamAnswer): Promise<StreamServer> {
    const requests: StreamedRequest[] = [];
    const connections: Socket[] = [];
    const serve = async (incoming: IncomingMessage): Promise<void> => {
      const { socket } = incoming;
      if (!connections.includes(socket)) connections.push(socket);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      // A caller that hangs up while it is answered is what some tests are about.
      socket.on('error', () => undefined);
      const body = await textOf(incoming);
      const { url = '', headers } = incoming;
      const index = requests.push({ path: url, headers, body, connection: connections.indexOf(socket), closed }) - 1;
      await write(socket, answer(index));
    };
    const server = await LocalServer.start((incoming) => {
      serve(incoming).catch((error: unknown) => incoming.destroy(error instanceof Error ? error : undefined));
    });
    return new StreamServer(server, requests);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

/** The chunks as a provider streams them, the closing `[DONE]` included. */
export function eventStream(chunks: readonly unknown[]): string {
  return [...chunks.map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk))), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

/** One chunk of a streamed chat completion. */
export function chatChunk(delta: object, finish_reason: string | null = null, more: object = {}): object {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more };
}

async function write(socket: Socket, { status = 200, headers = {}, framing = 'chunked', steps }: StreamAnswer): Promise<void> {
  const frame = framing === 'chunked' ? { 'transfer-encoding': 'chunked' } : { connection: 'close' };
  const lines = Object.entries({ 'content-type': 'text/event-stream', ...headers, ...frame }).map(([name, value]) => `${name}: ${value}`);
  socket.setNoDelay(true);
  if (status !== null) socket.write(`HTTP/1.1 ${status} Scripted\r\n${lines.join('\r\n')}\r\n\r\n`);
  for (const step of steps) {
    if ('hold' in step) {
      await step.hold;
    } else if ('send' in step) {
      await send(socket, framing, step);
    } else {
      end(socket, framing, step.end);
      return;
    }
  }
  end(socket, framing, 'complete');
}

async function send(
  socket: Socket,
  framing: 'chunked' | 'until_close',
  { send: data, bytesPerWrite }: { readonly send: string | Uint8Array; readonly bytesPerWrite?: number },
): Promise<void> {
  const bytes = Buffer.from(data);
  const step = bytesPerWrite ?? Math.max(bytes.length, 1);
  for (let offset = 0; offset < bytes.length; offset += step) {
    const piece = bytes.subarray(offset, offset + step);
    socket.write(framing === 'chunked' ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]) : piece);
    // A turn of the event loop between two writes, so that they leave as two.
    if (step < bytes.length) await setImmediate();
  }
}

function end(socket: Socket, framing: 'chunked' | 'until_close', how: 'complete' | 'lost' | 'reset' | 'mid_chunk'): void {
  switch (how) {
    case 'complete':
      if (framing === 'chunked') socket.write('0\r\n\r\n');
      else socket.end();
      return;
    case 'lost':
      socket.end();
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'mid_chunk':
      socket.end('ff\r\ndata: {"cho');
      return;
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces).toString('utf8');
}
