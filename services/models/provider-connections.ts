/**
 * The network as model providers are reached over it. It sends what it is given once:
 *
 *   F1. Each request has a connection of its own. On one that was kept, a request can be lost to a server that has just
 *       closed it, and nobody could tell whether it was handled.
 *   F2. No redirect is followed: following one is sending again, to somebody else.
 *   F3. No time limit but that of making the connection: how long an answer may take is the turn's to say.
 *
 * Node's own client keeps these as it is, and takes a sixth of the time that a `fetch` over pools does.
 */
import { request as requestOverHttp, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import type { AnswerListener, ProviderPost, ProviderRequest } from './provider-post.ts';

// Before the connection stands nothing has been sent: giving up is safe, and soon enough for somebody who waits.
const CONNECT_MS_MAX = 10_000;

export interface ProviderConnections {
  readonly post: ProviderPost;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

/** Makes a request that is ready to be sent. Throws where it cannot be written. */
type Open = (options: RequestOptions) => ClientRequest;

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
  let secure: Promise<Open> | null = null;
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
      const outgoing = place.isSecure ? (await (secure ??= loadHttps()))(options) : openPlain(options);
      const answer = answered(outgoing, { place, body: request.body, listener });
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
    },
  };
}

function placeOf({ protocol, hostname, port, pathname, search }: URL): Place {
  // Sockets know addresses of the sixth version without their brackets.
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { isSecure: protocol === 'https:', host, port: port === '' ? null : port, path: `${pathname}${search}` };
}

const openPlain: Open = (options) =>
  requestOverHttp({
    ...options,
    // Without an agent there is nothing that could keep a connection.
    createConnection: ({ host, port }) => connect({ host: host ?? '', port: Number(port), noDelay: true }),
  });

/** Loaded on its first use: a start needs no certificates. */
async function loadHttps(): Promise<Open> {
  const { Agent, request: requestOverHttps } = await import('node:https');
  // It keeps what saves a second handshake with a server most of its work, and no connection.
  const agent = new Agent({ keepAlive: false });
  return (options) => requestOverHttps({ ...options, agent });
}

function optionsFor({ host, port, path }: Place, { headers }: ProviderRequest): RequestOptions {
  // An answer that is packed could not be shown while it comes.
  return { method: 'POST', host, port, path, headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'brain', ...headers } };
}

function answered(
  outgoing: ClientRequest,
  { place, body, listener }: { readonly place: Place; readonly body: string; readonly listener: AnswerListener },
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
    outgoing.on('socket', (socket) => {
      socket.once(place.isSecure ? 'secureConnect' : 'connect', () => {
        clearTimeout(connecting);
        listener.onConnected();
      });
    });
    outgoing.on('response', (incoming) => {
      // An answer that lasts until its connection closes has its end after that.
      outgoing.off('close', lose);
      incoming.on('close', lose);
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
    // The end of a body mostly comes with its last piece. A connection that is over is not broken off.
    queueMicrotask(() => {
      if (!incoming.complete) outgoing.destroy();
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
