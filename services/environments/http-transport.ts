/**
 * The network as environments are reached over it.
 *
 *   T1. Each request has a connection of its own, made once: a connection that is lost before it was used is not made again.
 *   T2. No redirect is followed, and no proxy of the process's environment is asked.
 *   T3. No time limit but that of making the connection: how long an answer may take is its operation's to say.
 */
import type * as Undici from 'undici';
import type { buildConnector, Client } from 'undici';
import { ANSWER_BYTES_MAX, type EnvironmentPost, type EnvironmentTransport, type PostOutcome } from './environment-transport.ts';

// Before the connection stands nothing has been sent: giving up is safe, and soon enough for somebody who waits.
const CONNECT_MS_MAX = 10_000;

export interface HttpTransport extends EnvironmentTransport {
  /** Cuts what is under way. */
  close(): Promise<void>;
}

/** Loaded on its first use: most servers reach no environment. */
const loadLibrary = (): Promise<Pick<typeof Undici, 'Client' | 'buildConnector'>> => import('undici');

export function httpTransport(): HttpTransport {
  const open = new Set<Client>();
  return {
    async post(request) {
      const connection = { stands: false };
      let client: Client | null = null;
      try {
        client = await clientFor(request, connection);
        open.add(client);
        return await answerTo(client, request);
      } catch (error) {
        return { kind: connection.stands ? 'lost' : 'not_sent', reason: reasonOf(error, request.signal) };
      } finally {
        if (client !== null) {
          open.delete(client);
          await client.destroy();
        }
      }
    },
    async close() {
      await Promise.all([...open].map((client) => client.destroy()));
    },
  };
}

/** A client that connects once, and notes that the connection stands before anything is written to it. */
async function clientFor({ url, signal, onSent }: EnvironmentPost, connection: { stands: boolean }): Promise<Client> {
  const { Client, buildConnector } = await loadLibrary();
  const connect = buildConnector({ timeout: CONNECT_MS_MAX, allowH2: false });
  let hasTried = false;
  const connectOnce: buildConnector.connector = (options, callback) => {
    if (hasTried) {
      callback(new Error('the connection closed before the request was written'), null);
      return;
    }
    hasTried = true;
    connect(options, (...[error, socket]) => {
      if (error !== null || socket === null) {
        callback(error ?? new Error('there is no connection'), null);
        return;
      }
      if (!signal.aborted) {
        connection.stands = true;
        onSent();
      }
      callback(null, socket);
    });
  };
  return new Client(new URL(url).origin, { connect: connectOnce, headersTimeout: 0, bodyTimeout: 0 });
}

async function answerTo(client: Client, { url, headers, body, signal }: EnvironmentPost): Promise<PostOutcome> {
  const { pathname, search } = new URL(url);
  const answer = await client.request({ method: 'POST', path: `${pathname}${search}`, headers, body, signal, reset: true });
  if (answer.statusCode !== 200) {
    answer.body.on('error', () => undefined).destroy();
    return { kind: 'answered', status: answer.statusCode, text: '' };
  }
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) return { kind: 'lost', reason: `the answer is larger than ${ANSWER_BYTES_MAX} bytes` };
    parts.push(part);
  }
  return { kind: 'answered', status: 200, text: new TextDecoder().decode(Buffer.concat(parts)) };
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the other side broke the connection off',
  UND_ERR_SOCKET: 'the other side closed the connection',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEDOUT: 'the connection could not be made in time',
  UND_ERR_CONNECT_TIMEOUT: `the connection could not be made within ${CONNECT_MS_MAX / 1000} seconds`,
};

/** The code alone: the message of an error may show what was sent. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'it was given up';
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === null) return 'the connection failed';
  return `${REASONS[code] ?? 'the connection failed'} (${code})`;
}
