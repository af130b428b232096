/**
 * A process of a host, as a test runs one: it registers, takes its commands, answers them by a script, drops what it has
 * seen, and can go away and come back, as itself or as another. It speaks over a socket, or straight to the service.
 */
import { createParser } from 'eventsource-parser';
import { ServiceError } from '../../services/errors.ts';
import type { HostEvent } from '../../services/environments/host-stream.ts';
import type { HostService } from '../../services/environments/hosts.ts';
import type { Operation, Receipt } from '../../services/environments/operation.ts';
import { Arrivals } from './arrivals.ts';

/** The code with which something was refused; null where it was taken. */
type Refusal = string | null;

export interface HostPost {
  readonly session_id: string;
  readonly sequence: number;
  readonly [field: string]: unknown;
}

/** What a process says to the server, and how. */
export interface HostWire {
  /** Throws where it is refused, with the code as its message. */
  register(name: string, incarnation: string): Promise<string>;
  /** Resolves when the server has ended the stream, or the signal has aborted. `onOpen`: it is connected. */
  stream(at: { readonly name: string; readonly token: string }, signal: AbortSignal, on: { open(): void; event(event: HostEvent): void }): Promise<Refusal>;
  post(at: { readonly name: string; readonly token: string }, method: 'results' | 'emit' | 'progress', body: HostPost): Promise<Refusal>;
}

/** `waits`: the test answers, or nobody does. */
export type HostScript = (operation: Operation) => Receipt | 'waits';

/** Takes on all that is not a tool call, and answers `done` to what is. */
const willingHost: HostScript = ({ request }) => (request.type === 'invoke' ? { type: 'result', output: 'done' } : { type: 'accepted' });

export class HostClient {
  readonly name: string;
  incarnation: string;
  token = '';
  script: HostScript;
  /** Everything that was told, with what was told again. */
  readonly told = new Arrivals<HostEvent>('things told to the host');
  /** Each command once, as it was seen first by this incarnation. */
  readonly commands = new Arrivals<Operation>('commands');
  readonly cancels = new Arrivals<Extract<HostEvent, { readonly type: 'cancel' }>>('cancels');
  /** Resolves when the last stream is over, with what it was refused with. */
  streamEnded: Promise<Refusal> = Promise.resolve(null);
  readonly #wire: HostWire;
  #seen = new Set<string>();
  #leaving = new AbortController();

  constructor(wire: HostWire, options: { readonly name: string; readonly incarnation?: string; readonly script?: HostScript }) {
    this.#wire = wire;
    this.name = options.name;
    this.incarnation = options.incarnation ?? 'first';
    this.script = options.script ?? willingHost;
  }

  async register(): Promise<void> {
    this.token = await this.#wire.register(this.name, this.incarnation);
  }

  /** Resolves when it is connected, or was refused: then with the code. */
  async connect(): Promise<Refusal> {
    const leaving = new AbortController();
    this.#leaving = leaving;
    return new Promise((resolve, reject) => {
      this.streamEnded = this.#wire.stream(this, leaving.signal, {
        open: () => resolve(null),
        event: (event) => this.#hear(event),
      });
      this.streamEnded.then(resolve, reject);
    });
  }

  async start(): Promise<Refusal> {
    await this.register();
    return this.connect();
  }

  /** The connection is lost. The process, and what it has seen, stays. */
  async disconnect(): Promise<void> {
    this.#leaving.abort();
    await this.streamEnded;
  }

  /** The process dies, and another is started. */
  async restartAs(incarnation: string): Promise<Refusal> {
    await this.disconnect();
    this.incarnation = incarnation;
    this.#seen = new Set();
    return this.start();
  }

  answer({ session_id, sequence }: Pick<Operation, 'session_id' | 'sequence'>, receipt: Receipt): Promise<Refusal> {
    return this.post('results', { session_id, sequence, receipt });
  }

  post(method: 'results' | 'emit' | 'progress', body: HostPost): Promise<Refusal> {
    return this.#wire.post(this, method, body);
  }

  #hear(event: HostEvent): void {
    this.told.add(event);
    if (event.type === 'cancel') {
      this.cancels.add(event);
      return;
    }
    const { operation } = event;
    const key = `${operation.session_id}/${operation.sequence}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.commands.add(operation);
    const receipt = this.script(operation);
    if (receipt !== 'waits') void this.answer(operation, receipt);
  }
}

/** Straight to the service, for a world without sockets. */
export function directHostWire(hosts: () => HostService, caller: { readonly tenant: string; readonly tokenId: string }): HostWire {
  const holderOf = async (token: string) => {
    const holder = await hosts().holderOf(token);
    if (holder === null) throw new ServiceError('forbidden', 'unauthorized');
    return holder;
  };
  return {
    async register(name, incarnation) {
      const registered = await hosts().register(caller, { name, incarnation });
      if (registered === null) throw new Error('unauthorized');
      return registered.token;
    },
    stream: ({ token }, signal, on) =>
      refusalOf(async () => {
        const stream = hosts().commands(await holderOf(token), signal);
        on.open();
        for await (const event of stream) on.event(event);
      }),
    post: ({ token }, method, body) =>
      refusalOf(async () => {
        const holder = await holderOf(token);
        if (method === 'results') await hosts().result(holder, body as never);
        else if (method === 'emit') await hosts().emit(holder, body as never);
        else hosts().progress(holder, body);
      }),
  };
}

/** Over HTTP. `authorization`: of the caller who registers hosts; left out on a server without a key. */
export function httpHostWire(url: () => string, authorization?: string): HostWire {
  const headers = (token?: string): Record<string, string> => ({
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  return {
    async register(name, incarnation) {
      const response = await fetch(`${url()}/v1/hosts`, { method: 'POST', headers: headers(authorization), body: JSON.stringify({ name, incarnation }) });
      if (!response.ok) throw new Error((await codeOf(response)) ?? '');
      return ((await response.json()) as { readonly token: string }).token;
    },
    async stream({ name, token }, signal, on) {
      try {
        const response = await fetch(`${url()}/v1/hosts/${name}/commands`, { headers: { ...headers(token), accept: 'text/event-stream' }, signal });
        if (!response.ok) return await codeOf(response);
        on.open();
        const parser = createParser({ onEvent: ({ event, data }) => on.event({ type: event, ...(JSON.parse(data) as object) } as HostEvent) });
        const decoder = new TextDecoder();
        for await (const bytes of response.body ?? []) parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
      } catch (error) {
        // The connection was lost, by whichever side.
        if (!signal.aborted && !(error instanceof TypeError)) throw error;
      }
      return null;
    },
    async post({ name, token }, method, body) {
      const response = await fetch(`${url()}/v1/hosts/${name}/${method}`, { method: 'POST', headers: headers(token), body: JSON.stringify(body) });
      return response.ok ? null : codeOf(response);
    },
  };
}

async function codeOf(response: Response): Promise<Refusal> {
  return ((await response.json()) as { readonly error: { readonly code: string } }).error.code;
}

async function refusalOf(act: () => Promise<void>): Promise<Refusal> {
  try {
    await act();
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.message === 'unauthorized' ? 'unauthorized' : error.code;
  }
}
