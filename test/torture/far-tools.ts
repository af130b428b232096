/**
 * Tools that run outside of the server: at an environment over HTTP, and at a host. No death of the server reaches them.
 * They count what they are asked, misbehave as the name of each operation says, and write down what the server took from
 * them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation, Receipt } from '../../services/environments/operation.ts';
import type { BrainApi } from '../support/brain-api.ts';
import { answering, EnvironmentServer, type Behaviour, type ReceivedOperation } from '../support/environment-server.ts';
import { HostClient, httpHostWire } from '../support/host-client.ts';
import { hashOf, SeededRandom } from './seeded-random.ts';

/** The environments, and the tools of each. */
export const FAR_TOOLS = {
  air: ['air_now', 'air_later', 'air_odd'],
  desk: ['desk_now', 'desk_odd'],
} as const;
export type FarEnvironment = keyof typeof FAR_TOOLS;

const HOST = 'desk-host';

/** What the server has taken from an operation: it answered 204. */
export interface Taken {
  readonly session_id: string;
  readonly sequence: number;
  /** What it was: an output, or the data of an event. */
  readonly value: string;
}

export interface FarTools {
  /** Each operation that an environment or a host was given, as often as it was: its name. */
  readonly asked: readonly string[];
  readonly results: readonly Taken[];
  readonly events: readonly Taken[];
  readonly faults: readonly string[];
}

export class FarWork implements FarTools {
  readonly environment: EnvironmentServer;
  readonly host: HostClient;
  readonly results: Taken[] = [];
  readonly events: Taken[] = [];
  readonly faults: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #url: () => string;
  readonly #random: SeededRandom;
  #isStopped = false;
  #hosting: Promise<void> = Promise.resolve();

  private constructor(environment: EnvironmentServer, url: () => string, seed: number) {
    this.environment = environment;
    this.#url = url;
    this.#random = new SeededRandom(seed, 'far tools');
    this.host = new HostClient(httpHostWire(url), { name: HOST, incarnation: 'process-0', script: (operation) => this.#command(operation) });
    environment.script = (received) => this.#operation(received);
  }

  /** `url`: where the server is now; throws while it is nowhere. */
  static async start(url: () => string, seed: number): Promise<FarWork> {
    return new FarWork(await EnvironmentServer.start(), url, seed);
  }

  get asked(): readonly string[] {
    const atHost = this.host.commands.all.map(({ session_id, sequence }) => `${session_id}/${sequence}`);
    return [...this.environment.received.all.map(({ key }) => key), ...atHost];
  }

  /** Declares both, and lets the host come. */
  async open(api: BrainApi): Promise<void> {
    const tools = (environment: FarEnvironment): object[] =>
      FAR_TOOLS[environment].map((name) => ({ name, description: 'works elsewhere', input_schema: { type: 'object' }, effect: 'once' }));
    const declarations = { air: { driver: 'http', url: this.environment.url, tools: tools('air') }, desk: { driver: 'host', host: HOST, tools: tools('desk') } };
    for (const [name, declaration] of Object.entries(declarations)) {
      const { status, body } = await api.request('PUT', `/v1/environments/${name}`, declaration);
      if (status !== 200) throw new Error(`the environment ${name} was answered with ${status} ${JSON.stringify(body)}`);
    }
    this.#hosting = this.#stayConnected();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    await this.#unlessGone(async () => this.host.disconnect());
    await this.#hosting;
    await this.environment.close();
  }

  /** Comes back whenever the connection is lost, now and then as another process; and loses it by itself at times. */
  async #stayConnected(): Promise<void> {
    for (let process = 1; !this.#isStopped; ) {
      const isAnother = this.#random.chance(0.15);
      await this.#unlessGone(async () => {
        this.#url();
        await (isAnother ? this.host.restartAs(`process-${process++}`) : this.host.start());
        this.#count(isAnother ? 'connections of a new host process' : 'connections of the same host process');
      });
      const dropTimer = setTimeout(() => void this.host.disconnect().catch(() => undefined), 200 + this.#random.below(4000));
      await this.#unlessGone(async () => this.host.streamEnded);
      clearTimeout(dropTimer);
      await delay(5 + this.#random.below(60));
    }
  }

  #command(operation: Operation): 'waits' {
    void this.#unlessGone(async () => this.#carryOutAtHost(operation));
    return 'waits';
  }

  async #carryOutAtHost({ session_id, sequence, request }: Operation): Promise<void> {
    const drawn = hashOf(`${session_id}/${sequence}`);
    const answer = async (receipt: Receipt): Promise<boolean> => {
      const refusal = await this.host.answer({ session_id, sequence }, receipt);
      this.#count(`host answers ${refusal ?? 'taken'}`);
      return refusal === null;
    };
    if (request.type !== 'invoke') {
      await delay(drawn % 30);
      await answer(drawn % 23 === 0 ? { type: 'failure', code: 'not_now', message: 'not now', retryable: false } : { type: 'accepted' });
      return;
    }
    await delay(waitOf(request.input));
    if (request.tool === 'desk_odd' && drawn % 4 === 0) return;
    const event = `event ${session_id}/${sequence}`;
    if (drawn % 3 === 0 && (await this.host.post('emit', { session_id, sequence, type: 'desk.seen', data: event })) === null) this.events.push({ session_id, sequence, value: event });
    const value = `output of ${session_id}/${sequence}`;
    if (await answer({ type: 'result', output: value })) this.results.push({ session_id, sequence, value });
    if (request.tool === 'desk_odd' && (await answer({ type: 'result', output: 'again' }))) this.faults.push(`a second result of ${session_id}/${sequence} was taken`);
  }

  async #operation(received: ReceivedOperation): Promise<Behaviour> {
    const { operation, key } = received;
    const { request } = operation;
    const drawn = hashOf(key);
    if (request.type === 'cancel') return drawn % 5 === 0 ? { kind: 'hangs' } : answering({ type: 'accepted' });
    if (request.type !== 'invoke') {
      await delay(drawn % 30);
      if (drawn % 29 === 0) return { kind: 'breaks_off', body: '{"contract"' };
      return answering(drawn % 23 === 0 ? { type: 'failure', code: 'not_now', message: 'not now', retryable: false } : { type: 'accepted' });
    }
    const ms = waitOf(request.input);
    switch (request.tool) {
      case 'air_now':
        await delay(ms);
        return answering({ type: 'result', output: `output of ${key}` });
      case 'air_later':
        void this.#unlessGone(async () => this.#report(received, ms));
        return answering({ type: 'accepted' });
      default:
        return this.#odd(received, ms, drawn);
    }
  }

  async #odd(received: ReceivedOperation, ms: number, drawn: number): Promise<Behaviour> {
    const { operation } = received;
    const result: Receipt = { type: 'result', output: `output of ${received.key}` };
    switch (drawn % 8) {
      case 0:
        return { kind: 'hangs' };
      case 1:
        return { kind: 'receipt', receipt: result, sequence: operation.sequence + 1 };
      case 2:
        return { kind: 'breaks_off', body: '{"contract":"environment/v1","sequence"' };
      case 3:
        return { kind: 'hangs_up' };
      case 4:
        return { kind: 'raw', status: 500, body: 'not well' };
      case 5:
        // By both ways at once: one of them counts.
        void this.#unlessGone(async () => this.#report(received, ms));
        await delay(ms);
        return answering(result);
      case 6:
        await delay(ms);
        return answering({ type: 'failure', code: 'full', message: 'no seat', retryable: true });
      default:
        // Late, whatever became of the call.
        void received.hungUp.then(() => this.#unlessGone(async () => this.#report(received, ms)));
        return { kind: 'hangs' };
    }
  }

  /** An event, the result, and the result again. */
  async #report({ operation, key }: ReceivedOperation, ms: number): Promise<void> {
    await delay(ms);
    const { session_id, sequence } = operation;
    const event = `event ${key}`;
    if (hashOf(key) % 3 === 0 && (await this.#callBack(operation, 'emit', { type: 'air.seen', data: event })) === 204) this.events.push({ session_id, sequence, value: event });
    const value = `output of ${key}`;
    if ((await this.#callBack(operation, 'result', { receipt: { type: 'result', output: value } })) === 204) this.results.push({ session_id, sequence, value });
    const again = await this.#callBack(operation, 'result', { receipt: { type: 'result', output: 'again' } });
    if (again === 204) this.faults.push(`a second result of ${key} was taken`);
  }

  /** To the server that is there now: the one that made the callback may be gone. */
  async #callBack({ callback }: Operation, method: string, body: unknown): Promise<number> {
    if (callback === undefined) throw new Error('a call without a callback');
    const { status } = await fetch(`${this.#url()}${new URL(callback.url).pathname}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${callback.token}` },
      body: JSON.stringify(body),
    });
    this.#count(`callbacks ${status}`);
    if (status !== 204 && status !== 409) this.faults.push(`a callback was answered with ${status}`);
    return status;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** The server may die under anything that is said to it. */
  async #unlessGone(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (isGone(error)) this.#count('lost server');
      else this.faults.push(`a host or an environment was met with ${String(error)}`);
    }
  }
}

/** A connection that broke, an answer that did, and a server that is not there, or about to go. */
function isGone(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof SyntaxError) return true;
  return error instanceof Error && (error.name === 'AbortError' || ['the server does not run', 'draining'].includes(error.message));
}

function waitOf(input: unknown): number {
  return (input as { readonly ms?: number }).ms ?? 0;
}
