/**
 * A stage with one environment, `far`, that is reached over HTTP or through a host: what becomes of its operations is the
 * same. Both are in the test's process, where no kill of the server reaches.
 */
import type { Operation, Receipt } from '../../services/environments/operation.ts';
import { Arrivals } from './arrivals.ts';
import type { BrainApi, Session } from './brain-api.ts';
import { answering, EnvironmentServer } from './environment-server.ts';
import { HostClient, httpHostWire } from './host-client.ts';
import { calls, says, type ModelScript } from './openai-server.ts';
import { Stage } from './stage.ts';

export const FAR_DRIVERS = ['http', 'host'] as const;
export type FarDriver = (typeof FAR_DRIVERS)[number];

/** `waits`: the test reports what came of it, or nobody does. `hangs`: over HTTP, without even an answer. */
export type FarScript = (operation: Operation) => Receipt | 'waits' | 'hangs';

/** Every tool answers `done`, and everything else is taken on. */
const willing: FarScript = ({ request }) => (request.type === 'invoke' ? { type: 'result', output: 'done' } : { type: 'accepted' });

/** Calls the tools that a message names, all at once: `use one two`. To anything else it says that it is done. */
const obedient: ModelScript = ({ request }) => {
  const last = request.messages.at(-1);
  const [verb, ...tools] = last?.role === 'user' && typeof last.content === 'string' ? last.content.split(' ') : [];
  return verb === 'use' ? calls(...tools.map((name, index) => ({ id: `call_${index}`, name, arguments: '{}' }))) : says('Done.');
};

export interface FarStageOptions {
  readonly driver: FarDriver;
  readonly tools?: readonly string[];
  readonly model?: ModelScript;
  readonly environment?: Readonly<Record<string, string>>;
}

export class FarStage {
  readonly stage: Stage;
  readonly far: EnvironmentServer;
  readonly host: HostClient;
  /** What the environment was asked, cancels included, as often as it was. */
  readonly operations = new Arrivals<Operation>('operations');
  script: FarScript = willing;
  readonly #driver: FarDriver;
  readonly #port: number;

  private constructor(driver: FarDriver, stage: Stage, far: EnvironmentServer) {
    this.stage = stage;
    this.far = far;
    this.#driver = driver;
    this.#port = Number(new URL(stage.server.url).port);
    far.script = ({ operation }) => {
      const behaviour = this.#take(operation);
      if (behaviour === 'hangs') return { kind: 'hangs' };
      return answering(behaviour === 'waits' ? { type: 'accepted' } : behaviour);
    };
    this.host = new HostClient(httpHostWire(() => stage.server.url), { name: 'far-host', script: (operation) => this.#atHost(operation) });
  }

  static async set({ driver, tools = ['tool'], model = obedient, environment = {} }: FarStageOptions): Promise<FarStage> {
    const far = await EnvironmentServer.start();
    const stage = await Stage.set({ model, environment });
    const farStage = new FarStage(driver, stage, far);
    if (driver === 'host') await farStage.host.start();
    const declared = tools.map((name) => ({ name, description: 'works elsewhere', input_schema: { type: 'object' }, effect: 'once' }));
    const at = driver === 'http' ? { driver, url: far.url } : { driver, host: 'far-host' };
    const { status, body } = await stage.api.request('PUT', '/v1/environments/far', { ...at, tools: declared });
    if (status !== 200) throw new Error(`the environment was refused: ${JSON.stringify(body)}`);
    return farStage;
  }

  get api(): BrainApi {
    return this.stage.api;
  }

  /** A session with every tool of the environment. */
  create(more: Readonly<Record<string, unknown>> = {}): Promise<Session> {
    const model = { provider: 'openai', name: 'scripted' };
    return this.api.create({ model, environments: ['far'], after_stop: 'idle', ...more });
  }

  /** The call of a tool, as soon as it has arrived. */
  called(tool = 'tool'): Promise<Operation> {
    return this.operations.first(({ request }) => request.type === 'invoke' && request.tool === tool, `a call of ${tool}`);
  }

  /** The names of operations that came more than once. */
  get repeated(): readonly string[] {
    const names = this.operations.all.map(({ session_id, sequence }) => `${session_id}/${sequence}`);
    return names.filter((name, index) => names.indexOf(name) !== index);
  }

  /** Reports what came of an operation; resolves with the code of the refusal, or null where it was taken. */
  report(operation: Operation, output: unknown): Promise<string | null> {
    return this.reportReceipt(operation, { type: 'result', output } as Receipt);
  }

  async reportReceipt(operation: Operation, receipt: Receipt): Promise<string | null> {
    return this.#driver === 'host' ? this.host.answer(operation, receipt) : this.#callBack(operation, 'result', { receipt });
  }

  async emit(operation: Operation, type: string, data: unknown): Promise<string | null> {
    const { session_id, sequence } = operation;
    return this.#driver === 'host' ? this.host.post('emit', { session_id, sequence, type, data }) : this.#callBack(operation, 'emit', { type, data });
  }

  /** SIGKILL, and a start where it was before: callbacks still find it, and the host comes back as the same process. */
  async killAndStart(): Promise<void> {
    await this.stage.server.kill();
    await this.stage.server.start({}, this.#port);
    if (this.#driver === 'host') await this.host.start();
  }

  /** The messages of each request to the model, in the order of the requests. */
  requests(): readonly (readonly { readonly role: string; readonly content?: unknown }[])[] {
    return this.stage.model.calls.all.map(({ request }) => request.messages);
  }

  async strike(): Promise<void> {
    await this.host.disconnect();
    await this.stage.strike();
    await this.far.close();
  }

  #take(operation: Operation): Receipt | 'waits' | 'hangs' {
    this.operations.add(operation);
    return this.script(operation);
  }

  #atHost(operation: Operation): Receipt | 'waits' {
    const behaviour = this.#take(operation);
    return behaviour === 'hangs' ? 'waits' : behaviour;
  }

  async #callBack({ callback }: Operation, method: string, body: unknown): Promise<string | null> {
    if (callback === undefined) throw new Error('this operation has no callback');
    const { status, body: answer } = await this.api.request('POST', `${new URL(callback.url).pathname}/${method}`, body, { authorization: `Bearer ${callback.token}` });
    return status === 204 ? null : (answer as { readonly error: { readonly code: string } }).error.code;
  }
}
