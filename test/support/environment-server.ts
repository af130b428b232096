/**
 * An environment over HTTP in the test's own process, where no kill of the server under test reaches: it counts what it is
 * asked, and does with each operation what a script says.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { ENVIRONMENT_CONTRACT, type Operation, type Receipt } from '../../services/environments/operation.ts';
import { Arrivals } from './arrivals.ts';

/** What becomes of a request. */
export type Behaviour =
  /** `sequence`: of another operation, for an environment that lies about it. */
  | { readonly kind: 'receipt'; readonly receipt: Receipt; readonly sequence?: number; readonly contract?: string }
  /** Any answer, to its last byte. */
  | { readonly kind: 'raw'; readonly status: number; readonly body?: string | Uint8Array; readonly headers?: Readonly<Record<string, string>> }
  /** An answer that breaks off after these bytes. */
  | { readonly kind: 'breaks_off'; readonly body: string }
  /** The connection is closed without an answer. */
  | { readonly kind: 'hangs_up' }
  | { readonly kind: 'hangs' };

export interface ReceivedOperation {
  readonly path: string;
  /** Its `Idempotency-Key`. */
  readonly key: string;
  readonly authorization: string | null;
  readonly contract: string;
  readonly operation: Operation;
  /** Resolves when the caller is gone before it had its answer. */
  readonly hungUp: Promise<void>;
  /** Reports to the operation's callback; resolves with the status of the answer. */
  readonly report: (method: string, body: unknown) => Promise<number>;
}

export type EnvironmentServerScript = (received: ReceivedOperation) => Behaviour | Promise<Behaviour>;

export function answering(receipt: Receipt): Behaviour {
  return { kind: 'receipt', receipt };
}

/** Every tool answers `done`, and everything else is taken on. */
const willingServer: EnvironmentServerScript = ({ operation }) =>
  answering(operation.request.type === 'invoke' ? { type: 'result', output: 'done' } : { type: 'accepted' });

export class EnvironmentServer {
  readonly received = new Arrivals<ReceivedOperation>('operations');
  script: EnvironmentServerScript;
  readonly #server: Server;
  #connections = 0;

  private constructor(script: EnvironmentServerScript) {
    this.script = script;
    this.#server = createServer((incoming, response) => {
      this.#take(incoming, response).catch(() => response.destroy());
    });
    this.#server.on('connection', (_socket: Socket) => {
      this.#connections += 1;
    });
  }

  static async start(script: EnvironmentServerScript = willingServer): Promise<EnvironmentServer> {
    const server = new EnvironmentServer(script);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many connections were made to it. */
  get connections(): number {
    return this.#connections;
  }

  /** What it was asked, in order: the kind of request, and the operation's name. */
  get asked(): readonly string[] {
    return this.received.all.map(({ operation, key }) => `${operation.request.type} ${key}`);
  }

  /** The names of operations that came more than once. */
  get repeated(): readonly string[] {
    const keys = this.received.all.map(({ key }) => key);
    return keys.filter((key, index) => keys.indexOf(key) !== index);
  }

  /** The first operation of a kind, as soon as it is there. */
  first(type: Operation['request']['type']): Promise<ReceivedOperation> {
    return this.received.first(({ operation }) => operation.request.type === type, type);
  }

  /** Takes no more, and cuts what hangs. */
  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const hungUp = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const { contract, operation } = JSON.parse(await text(incoming)) as { readonly contract: string; readonly operation: Operation };
    const received: ReceivedOperation = {
      path: `${incoming.method ?? ''} ${incoming.url ?? ''}`,
      key: String(incoming.headers['idempotency-key']),
      authorization: incoming.headers.authorization ?? null,
      contract,
      operation,
      hungUp,
      report: (method, body) => report(operation, method, body),
    };
    this.received.add(received);
    behave(await this.script(received), operation, response);
  }
}

async function report({ callback }: Operation, method: string, body: unknown): Promise<number> {
  if (callback === undefined) throw new Error('this operation has no callback');
  const { status } = await fetch(`${callback.url}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${callback.token}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return status;
}

function behave(behaviour: Behaviour, operation: Operation, response: ServerResponse): void {
  switch (behaviour.kind) {
    case 'receipt': {
      const { receipt, sequence = operation.sequence, contract = ENVIRONMENT_CONTRACT } = behaviour;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ contract, sequence, receipt }));
      return;
    }
    case 'raw':
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
      return;
    case 'breaks_off':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': behaviour.body.length + 100 });
      response.write(behaviour.body, () => response.destroy());
      return;
    case 'hangs_up':
      response.destroy();
      return;
    case 'hangs':
  }
}
