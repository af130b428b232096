/** Cuts the power of a disk under a server at work, again and again, and looks at what each cut left. */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { faultsOf } from '../support/history.ts';
import { OpenAiServer, says } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { LoopDisk } from './loop-disk.ts';
import { SeededRandom } from './seeded-random.ts';

interface Acknowledged {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
}

interface Cut {
  readonly image: string;
  readonly acknowledged: readonly Acknowledged[];
  readonly deleted: readonly string[];
}

export interface PowerCutOptions {
  readonly seed: number;
  readonly cuts: number;
  readonly betweenMsMax: number;
}

export interface Outcome {
  readonly faults: readonly string[];
  readonly summary: string;
}

export async function cutPower({ seed, cuts, betweenMsMax }: PowerCutOptions): Promise<Outcome> {
  const startMs = performance.now();
  const random = new SeededRandom(seed, 'power cuts');
  const disk = await LoopDisk.make(64);
  const model = await OpenAiServer.start((call) => says(`Answer ${call.index}. ${'And so on. '.repeat(call.index % 300)}`));
  const faults: string[] = [];
  let checked = 0;
  let sessions = 0;
  try {
    const server = await ServerProcess.start({ environment: model.environment, dataDirectory: path.join(disk.path, 'data') });
    const load = new Load(server, seed);
    try {
      for (let index = 0; index < cuts; index += 1) {
        const working = load.run(4);
        await delay(20 + random.below(betweenMsMax));
        // What is acknowledged before the instant of the copy.
        const [acknowledged, deleted] = [[...load.acknowledged], [...load.deleted]];
        const cut: Cut = { image: await disk.copy(), acknowledged, deleted };
        load.stop();
        await working;
        const found = await disk.withCopy(cut.image, async (directory) => whatIsLeft(cut, path.join(directory, 'data'), model.environment));
        faults.push(...found.map((fault) => `cut ${index}: ${fault}`));
        checked += acknowledged.length;
      }
      sessions = load.sessionCount;
    } finally {
      load.stop();
      await server.dispose();
    }
  } finally {
    await model.close();
    await disk.dispose();
  }
  const seconds = Math.round((performance.now() - startMs) / 1000);
  return { faults, summary: `seed ${seed}: ${cuts} power cuts in ${seconds} s; ${sessions} sessions, ${checked} acknowledged records looked for` };
}

async function whatIsLeft(cut: Cut, dataDirectory: string, environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const server = await ServerProcess.start({ environment, dataDirectory });
  try {
    const { sessions } = await server.api.sessions('?limit=1000');
    const journals = new Map(await Promise.all(sessions.map(async ({ session_id: id }) => [id, await server.api.journal(id)] as const)));
    return [
      ...cut.acknowledged.flatMap(({ id, sequence, type }) => {
        const found = journals.get(id)?.[sequence - 1]?.type;
        const isDeleted = journals.get(id) === undefined;
        // A delete may be on the disk before its answer was read.
        return found === type || (isDeleted && type !== 'session_ready' && cut.deleted.includes(id)) ? [] : [`${id} ${sequence} was ${type} and is ${String(found)}`];
      }),
      ...[...journals].flatMap(([id, records]) => faultsOf(records).map((fault) => `${id}: ${fault}`)),
      ...sessions.filter(({ status }) => status === 'running' || status === 'creating').map(({ session_id, status }) => `${session_id} is ${status}`),
    ];
  } finally {
    await server.dispose();
  }
}

/** Clients that create, send and delete, and write down what they were answered. */
class Load {
  readonly acknowledged: Acknowledged[] = [];
  /** Those whose deletion was asked for. */
  readonly deleted: string[] = [];
  sessionCount = 0;
  readonly #server: ServerProcess;
  readonly #seed: number;
  readonly #ids: string[] = [];
  #isStopped = false;
  #round = 0;

  constructor(server: ServerProcess, seed: number) {
    this.#server = server;
    this.#seed = seed;
  }

  async run(clients: number): Promise<void> {
    this.#isStopped = false;
    this.#round += 1;
    await Promise.all(Array.from({ length: clients }, (_, index) => this.#work(new SeededRandom(this.#seed, `client ${index} of ${this.#round}`))));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #work(random: SeededRandom): Promise<void> {
    while (!this.#isStopped) {
      const id = random.pick(this.#ids);
      if (id === undefined || this.#ids.length < 6) await this.#create();
      else if (random.chance(0.06)) await this.#delete(id);
      else await this.#send(id, random);
    }
  }

  async #create(): Promise<void> {
    const { session_id: id } = await this.#server.api.create({ model: { provider: 'openai', name: 'scripted' }, tools: [] });
    this.sessionCount += 1;
    this.#ids.push(id);
    this.acknowledged.push({ id, sequence: 1, type: 'session_created' });
  }

  async #send(id: string, random: SeededRandom): Promise<void> {
    const isAsync = random.chance(0.4);
    const input = `go on ${'x'.repeat(random.pick([0, 100, 3000, 100_000]) ?? 0)}`;
    const headers: Record<string, string> = isAsync ? { prefer: 'respond-async' } : {};
    const { status, body } = await this.#server.api.request('POST', `/v1/sessions/${id}/messages`, { input }, headers);
    if (status !== 200 && status !== 202) return;
    const turn = body as { readonly sequence: number; readonly last_sequence?: number; readonly outcome?: string };
    this.acknowledged.push({ id, sequence: turn.sequence, type: 'turn_started' });
    if (turn.last_sequence !== undefined && turn.outcome === 'ended') this.acknowledged.push({ id, sequence: turn.last_sequence, type: 'turn_ended' });
  }

  async #delete(id: string): Promise<void> {
    const at = this.#ids.indexOf(id);
    if (at === -1) return;
    this.#ids.splice(at, 1);
    this.deleted.push(id);
    await this.#server.api.request('POST', `/v1/sessions/${id}/end`);
    await this.#server.api.request('DELETE', `/v1/sessions/${id}`);
    // From here on it must be gone: none of what it was is looked for.
    for (let index = this.acknowledged.length - 1; index >= 0; index -= 1) {
      if (this.acknowledged[index]?.id === id) this.acknowledged.splice(index, 1);
    }
  }
}
