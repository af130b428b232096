/**
 * The hosts of one client: the environments whose tools this process runs.
 *
 *   H1. One incarnation for each client, and one connection for each name of a host, however many sessions use it. It stays
 *       until the client is closed: no create that fails and no session that ends lets go of it.
 *   H2. A session's calls go to the tools that its own create brought along. Those of sessions that others made, or an
 *       earlier process, go to what was served last.
 *   H3. Tools that stand alone are of one environment. It is declared with those of the creates that are under way, and
 *       with nothing else: what was refused, and what earlier creates brought, burdens no further one.
 */
import { BrainClosedError } from './errors.ts';
import { declareEnvironment, hostEnv, type HostEnvironment } from './environments.ts';
import { carryOut, type HostedEnvironment, type OperationVoice } from './host-operation.ts';
import { tieHost, type HostTie } from './host-tie.ts';
import type { HostOperation, HostReceipt, RegisteredHost } from './host-wire.ts';
import type { Tool } from './tool.ts';
import type { CallOptions, Transport } from './transport.ts';

// Of the tools that a create brings along without an environment around them.
const OWN_TOOLS = 'own-tools';

export interface HostsParts {
  readonly transport: Transport;
  /** For environments that name none. */
  readonly host: string | undefined;
  readonly onError: (error: Error) => void;
}

export class Hosts {
  readonly #parts: HostsParts;
  readonly #incarnation: string;
  readonly #hosted = new Map<string, HostTie>();
  readonly #environments = new Map<string, HostedEnvironment>();
  readonly #ofSessions = new Map<string, ReadonlyMap<string, HostedEnvironment>>();
  /** All that this process can run of it. */
  readonly #ownTools = new Map<string, Tool>();
  /** Of those who are not done with the declaration yet, in the order in which they came. */
  readonly #inUse = new Set<readonly Tool[]>();
  #declared: Promise<void> = Promise.resolve();

  constructor(parts: HostsParts) {
    this.#parts = parts;
    this.#incarnation = parts.transport.ports.newKey();
  }

  /** The environment of tools that have none. */
  ownEnvironment(tools: readonly Tool[]): HostEnvironment {
    return hostEnv({ name: this.#parts.host ?? OWN_TOOLS, tools });
  }

  /** Declares it, and resolves when its commands can come: with what says that its declaration is needed no more. */
  async serve(environment: HostEnvironment, options: CallOptions): Promise<() => void> {
    const { transport } = this.#parts;
    const host = environment.host ?? this.#parts.host ?? environment.name;
    const isOwn = environment.name === this.ownEnvironment([]).name;
    if (isOwn) await this.#declareOwn({ ...environment, host }, options);
    else {
      await declareEnvironment(transport, { ...environment, host }, options);
      this.#environments.set(environment.name, environment);
    }
    const done = (): void => void this.#inUse.delete(environment.tools);
    const request = transport.begin(options.signal);
    try {
      await request.race(this.#hostOf(host).link.connected());
      return done;
    } catch (error) {
      done();
      throw error;
    } finally {
      request.release();
    }
  }

  /** One after the other: each declares what those before it still need. */
  async #declareOwn(environment: HostEnvironment, options: CallOptions): Promise<void> {
    const declared = this.#declared.then(async () => {
      const tools = toolsByName([...this.#inUse, environment.tools]);
      await declareEnvironment(this.#parts.transport, { ...environment, tools }, options);
      this.#inUse.add(environment.tools);
      for (const tool of environment.tools) this.#ownTools.set(tool.name, tool);
      this.#environments.set(environment.name, { ...environment, tools: [...this.#ownTools.values()] });
    });
    this.#declared = declared.catch(() => undefined);
    await declared;
  }

  bind(sessionId: string, environments: readonly HostEnvironment[]): void {
    if (environments.length > 0) this.#ofSessions.set(sessionId, new Map(environments.map((environment) => [environment.name, environment])));
  }

  close(): void {
    for (const { commands } of this.#hosted.values()) commands.abandon(new BrainClosedError());
  }

  #hostOf(host: string): HostTie {
    const { transport, onError } = this.#parts;
    const known = this.#hosted.get(host);
    if (known !== undefined) return known;
    const tie = tieHost({
      host,
      transport,
      token: null,
      register: async (options) => (await registerHost(transport, { name: host, incarnation: this.#incarnation }, options)).token,
      carryOut: (operation, voice) => this.#carryOut(operation, voice),
      onError,
    });
    this.#hosted.set(host, tie);
    return tie;
  }

  async #carryOut(operation: HostOperation, voice: OperationVoice): Promise<HostReceipt> {
    const { session_id: sessionId, environment: name, request } = operation;
    const environment = this.#ofSessions.get(sessionId)?.get(name) ?? this.#environments.get(name);
    const receipt = await carryOut(operation, environment, voice);
    if (request.type === 'teardown') this.#ofSessions.delete(sessionId);
    return receipt;
  }
}

/** Of one name the last. */
function toolsByName(lists: readonly (readonly Tool[])[]): readonly Tool[] {
  return [...new Map(lists.flat().map((tool) => [tool.name, tool])).values()];
}

export async function registerHost(transport: Transport, process: { readonly name: string; readonly incarnation: string }, options: CallOptions = {}): Promise<RegisteredHost> {
  const { name, incarnation } = process;
  return (await transport.call({ method: 'POST', path: '/v1/hosts', body: { name, incarnation }, ...options })) as RegisteredHost;
}
