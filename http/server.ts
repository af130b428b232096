/**
 * The sockets under the application: how long they may be silent, what is answered where no request could be read, and
 * how they end.
 *
 *   N1. A connection that a balancer keeps open outlives the balancer's idle time, so that no request is lost on it.
 *   N2. No timer cuts an answer: a synchronous turn takes as long as it takes, and a stream as long as its session.
 *   N3. Closing takes no new connection and cuts none whose answer is under way, until the bound that it is given.
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Clock, Log } from '../services/ports.ts';
import { createApp, type HttpDependencies } from './app.ts';
import { corsHeaders, originIn } from './cors.ts';
import { errorBody, traceOf } from './errors.ts';
import { handlerOf } from './handler.ts';
import { createLook, type LookDependencies } from './look-app.ts';
import type { ErrorCode } from './wire/answers.ts';

// Balancers keep an idle connection for a minute; who closes first loses the request that is on its way.
const KEEP_ALIVE_MS = 75_000;
// Counted from the end of the request before, so it must be the longer one.
const HEADERS_MS = 80_000;
// For sending a whole request. It bounds no answer.
const REQUEST_MS = 300_000;

/** `rawPacket`: what was being read when the parser gave up. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Uint8Array };

export interface HttpApp {
  /** Resolves with the address that it listens on; rejects as the system does, with `EADDRINUSE` and the like. */
  listen(at: { readonly host: string; readonly port: number }): Promise<{ readonly host: string; readonly port: number }>;
  /**
   * Takes no more connections, closes those that wait for a request, and resolves when every answer is given and every
   * stream has ended by itself. What is left after `withinMs` is cut.
   */
  close(options?: { readonly withinMs?: number }): Promise<void>;
}

export function createHttpApp(dependencies: HttpDependencies): HttpApp {
  const { clock, log, options } = dependencies;
  return onSockets(createApp(dependencies), { clock, log, corsOrigins: options.corsOrigins });
}

/** One that shows sessions as they lie on a disk, and changes nothing. */
export function createLookApp(dependencies: LookDependencies): HttpApp {
  const { clock, log } = dependencies;
  return onSockets(createLook(dependencies), { clock, log, corsOrigins: [] });
}

interface Sockets {
  readonly clock: Clock;
  readonly log: Log;
  readonly corsOrigins: readonly string[];
}

function onSockets(app: Koa, { clock, log, corsOrigins }: Sockets): HttpApp {
  const handle = handlerOf(app);
  const server = createServer({ requireHostHeader: false, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const connections = new Connections(server);

  server.on('request', (request, response) => {
    connections.begin(request, response);
    handle(request, response).catch((error: unknown) => {
      log.error('answer_failed', { trace: traceOf(error) });
      response.destroy();
    });
  });
  const forPages = (origin: string | undefined): Readonly<Record<string, string>> => corsHeaders(corsOrigins, origin);
  server.on('checkExpectation', (request, response) => {
    const body = renderedError('invalid_request', 'the only Expect that is understood is 100-continue');
    const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(417, { ...headers, ...forPages(request.headers.origin) });
    response.end(body);
  });
  server.on('connect', (_request, socket) => answerRaw(socket, 405, 'method_not_allowed', 'this server is no proxy'));
  server.on('clientError', (error: ParserError, socket) => {
    if (!connections.awaitsRequest(socket)) {
      socket.destroy();
      return;
    }
    const origin = connections.requestUnderWay(socket)?.headers.origin ?? originIn(error.rawPacket ?? new Uint8Array());
    answerUnreadable(error, socket, forPages(origin));
  });

  return {
    async listen(at) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(at.port, at.host, () => {
          server.off('error', reject);
          resolve();
        });
      });
      const { address, port } = addressOf(server);
      return { host: address, port };
    },

    async close({ withinMs } = {}) {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      connections.close();
      const cancel =
        withinMs === undefined ? () => undefined : clock.after(withinMs, () => server.closeAllConnections());
      await closed;
      cancel();
    },
  };
}

const NO_ANSWERS: readonly ServerResponse[] = [];

/** Every connection with its answers that are not given yet. Most have one or none, and there may be thousands. */
class Connections {
  readonly #answers = new Map<Duplex, readonly ServerResponse[]>();
  #isClosing = false;
  /** One listener for all connections, and one for all answers: what emits is `this`. */
  readonly #onAnswerClosed: (this: ServerResponse) => void;

  constructor(server: Server) {
    const answers = this.#answers;
    const forget = function (this: Socket): void {
      answers.delete(this);
    };
    const isClosing = (): boolean => this.#isClosing;
    this.#onAnswerClosed = function (): void {
      const { socket } = this.req;
      const left = (answers.get(socket) ?? NO_ANSWERS).filter((answer) => answer !== this);
      if (answers.has(socket)) answers.set(socket, left.length === 0 ? NO_ANSWERS : left);
      if (left.length === 0 && isClosing()) socket.destroySoon();
    };
    server.on('connection', (socket: Socket) => {
      answers.set(socket, NO_ANSWERS);
      socket.on('close', forget);
    });
  }

  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const answers = this.#answers.get(socket);
    if (answers === undefined) return;
    this.#answers.set(socket, [...answers, response]);
    if (this.#isClosing) response.shouldKeepAlive = false;
    response.on('close', this.#onAnswerClosed);
  }

  /**
   * Whether what is answered next is the request that is still coming. Otherwise an answer before it is due or under
   * way, and what is said now would be taken for that one, or for a part of it.
   */
  awaitsRequest(socket: Duplex): boolean {
    const [first, second] = this.#answers.get(socket) ?? [];
    return first === undefined || (second === undefined && !first.headersSent && !first.req.complete);
  }

  /** The request whose body is still coming; undefined where it is its head that is. */
  requestUnderWay(socket: Duplex): IncomingMessage | undefined {
    const [first] = this.#answers.get(socket) ?? [];
    return first?.req;
  }

  /** Node's own way leaves a connection alone that has not sent anything yet, and then waits for it without end. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, answers] of this.#answers) {
      // A client that is told does not send its next request into a connection that is about to close.
      for (const response of answers) response.shouldKeepAlive = false;
      if (answers.length === 0) socket.end(() => socket.destroy());
    }
  }
}

/** The parser gave up on a connection, whose socket may be gone already. */
function answerUnreadable(error: ParserError, socket: Duplex, headers: Readonly<Record<string, string>>): void {
  if (error.code === 'HPE_HEADER_OVERFLOW') answerRaw(socket, 431, 'too_large', 'the headers of the request are too large', headers);
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') answerRaw(socket, 408, 'invalid_request', 'the request did not come in time', headers);
  else answerRaw(socket, 400, 'invalid_request', 'the request is not well-formed HTTP/1.1', headers);
}

function answerRaw(
  socket: Duplex,
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = renderedError(code, message);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function renderedError(code: ErrorCode, message: string): string {
  return JSON.stringify(errorBody(code, message));
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server listens on no port');
  return address;
}
