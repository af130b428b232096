/**
 * The network as model providers are reached over it. It sends what it is given once:
 *
 *   F1. A connection carries one request at a time, and another one only as long as `kept-connections.ts` says. Whatever
 *       becomes of a request, it is not sent on another connection.
 *   F2. No redirect is followed: following one is sending again, to somebody else.
 *   F3. No time limit but that of making the connection: how long an answer may take is the turn's to say.
 *
 * Node's own client keeps these as it is, and takes a sixth of the time that a `fetch` over pools does.
 */
import { Agent, request as requestOverHttp, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { KEEPING, KeptConnections, readOut } from './kept-connections.ts';
import type { AnswerListener, ProviderPost, ProviderRequest } from './provider-post.ts';

// Before the connection stands nothing has been sent: giving up is safe, and soon enough for somebody who waits.
const CONNECT_MS_MAX = 10_000;

export interface ProviderConnections {
  readonly post: ProviderPost;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

interface Transport {
  readonly kept: KeptConnections;
  /** Makes a request that is ready to be sent. Throws where it cannot be written. */
  readonly open: (options: RequestOptions) => ClientRequest;
}

/** Where a URL leads. */
interface Place {
  readonly isSecure: boolean;
  readonly host: string;
  /** Null for the usual one. */
  readonly port: string | null;
  readonly path: string;
}

// Far more than an operator configures. Taking a URL apart costs a fifth of a request, and there are few.
const PLACES_MAX = 256;

export function providerConnections(): ProviderConnections {
  const open = new Map<ClientRequest, Promise<void>>();
  const places = new Map<string, Place>();
  const plain = plainTransport();
  let secure: Promise<Transport> | null = null;
  const placeAt = (url: string): Place => {
    const known = places.get(url);
    if (known !== undefined) return known;
    if (places.size >= PLACES_MAX) places.clear();
    const place = placeOf(new URL(url));
    places.set(url, place);
    return place;
  };
  return {
    post: async (request, listener) => {
      const place = placeAt(request.url);
      const options = optionsFor(place, request);
      const transport = place.isSecure ? await (secure ??= secureTransport()) : plain;
      transport.kept.dropOld();
      const outgoing = transport.open(options);
      const answer = answered(outgoing, { place, kept: transport.kept, body: request.body, listener });
      open.set(outgoing, answer);
      try {
        await answer;
      } finally {
        open.delete(outgoing);
      }
    },
    close: async () => {
      const answers = [...open.values()];
      for (const outgoing of open.keys()) outgoing.destroy();
      await Promise.allSettled(answers);
      plain.kept.close();
      (await secure)?.kept.close();
    },
  };
}

function placeOf({ protocol, hostname, port, pathname, search }: URL): Place {
  // Sockets know addresses of the sixth version without their brackets.
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { isSecure: protocol === 'https:', host, port: port === '' ? null : port, path: `${pathname}${search}` };
}

function plainTransport(): Transport {
  const agent = new Agent(KEEPING);
  return { kept: new KeptConnections(agent), open: (options) => requestOverHttp({ ...options, agent }) };
}

/** Loaded on its first use: a start needs no certificates. */
async function secureTransport(): Promise<Transport> {
  const { Agent: SecureAgent, request: requestOverHttps } = await import('node:https');
  const agent = new SecureAgent(KEEPING);
  return { kept: new KeptConnections(agent), open: (options) => requestOverHttps({ ...options, agent }) };
}

function optionsFor({ host, port, path }: Place, { headers }: ProviderRequest): RequestOptions {
  // An answer that is packed could not be shown while it comes.
  return { method: 'POST', host, port, path, headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'brain', ...headers } };
}

function answered(
  outgoing: ClientRequest,
  {
    place,
    kept,
    body,
    listener,
  }: { readonly place: Place; readonly kept: KeptConnections; readonly body: string; readonly listener: AnswerListener },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { signal } = listener;
    let isOver = false;
    const end = (error: Error | null): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(connecting);
      signal.removeEventListener('abort', hangUp);
      if (error === null) resolve();
      else reject(error);
    };
    const hangUp = (): void => {
      outgoing.destroy();
      end(new Error('the call was cancelled'));
    };
    // Not the socket's own: that one begins anew while it has something to write, which a request has that waits.
    const connecting = setTimeout(() => outgoing.destroy(new ConnectTimeout('the connection could not be made in time')), CONNECT_MS_MAX);
    const lose = (): void => {
      if (!isOver) end(new Error('the connection closed'));
    };
    // Stays to the end: what a connection says after its call is over is of no interest, and must not be a crash.
    outgoing.on('error', end);
    outgoing.on('close', lose);
    const connected = (): void => {
      clearTimeout(connecting);
      listener.onConnected();
    };
    outgoing.on('socket', (socket) => {
      if (outgoing.reusedSocket) {
        kept.taken(socket);
        connected();
      } else socket.once(place.isSecure ? 'secureConnect' : 'connect', connected);
    });
    outgoing.on('response', (incoming) => {
      // An answer that lasts until its connection closes has its end after that.
      outgoing.off('close', lose);
      incoming.on('close', lose);
      kept.keepAfter(incoming, outgoing);
      read(incoming, { outgoing, listener, end });
    });
    if (signal.aborted) {
      hangUp();
      return;
    }
    signal.addEventListener('abort', hangUp, { once: true });
    outgoing.end(body);
  });
}

class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
  readonly code = 'CONNECT_TIMEOUT';
}

function read(
  incoming: IncomingMessage,
  { outgoing, listener, end }: { readonly outgoing: ClientRequest; readonly listener: AnswerListener; readonly end: (error: Error | null) => void },
): void {
  let isOver = false;
  const stop = (error: Error | null): void => {
    isOver = true;
    end(error);
    // The end of a body mostly comes with its last piece.
    queueMicrotask(() => {
      if (error !== null) outgoing.destroy();
      else if (!incoming.complete) readOut(incoming, outgoing);
    });
  };
  const listen = (goesOn: () => boolean): void => {
    if (isOver) return;
    try {
      if (!goesOn()) stop(null);
    } catch (error) {
      stop(error instanceof Error ? error : new Error('the answer could not be heard', { cause: error }));
    }
  };
  incoming.setEncoding('utf8');
  incoming.on('error', end);
  incoming.on('end', () => end(null));
  incoming.on('data', (text: string) => listen(() => listener.onText(text)));
  listen(() => {
    listener.onStatus(incoming.statusCode ?? 0, incoming.statusMessage ?? '');
    return true;
  });
}
