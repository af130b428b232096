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
import { HostCommands } from './host-commands.ts';
import { HostLink } from './host-link.ts';
import { carryOut, type HostedEnvironment } from './host-operation.ts';
import type { HostOperation, RegisteredHost } from './host-wire.ts';
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

interface Hosted {
  readonly link: HostLink;
  readonly commands: HostCommands;
}

export class Hosts {
  readonly #parts: HostsParts;
  readonly #incarnation: string;
  readonly #hosted = new Map<string, Hosted>();
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

  #hostOf(host: string): Hosted {
    const { transport, onError } = this.#parts;
    const known = this.#hosted.get(host);
    if (known !== undefined) return known;
    const commands = new HostCommands({
      carryOut: (operation, signal) => this.#carryOut(link, operation, signal),
      report: (name, receipt) => link.report(name, receipt),
    });
    const link = new HostLink({
      host,
      transport,
      token: null,
      register: async (options) => (await registerHost(transport, { name: host, incarnation: this.#incarnation }, options)).token,
      hear: (news) => commands.hear(news),
      onEnd(error) {
        commands.abandon(error);
        onError(error);
      },
      onRefusal: onError,
    });
    this.#hosted.set(host, { link, commands });
    return { link, commands };
  }

  async #carryOut(link: HostLink, operation: HostOperation, signal: AbortSignal): ReturnType<typeof carryOut> {
    const { session_id: sessionId, environment: name, request } = operation;
    const environment = this.#ofSessions.get(sessionId)?.get(name) ?? this.#environments.get(name);
    const receipt = await carryOut(operation, environment, voiceOf(link, operation, signal));
    if (request.type === 'teardown') this.#ofSessions.delete(sessionId);
    return receipt;
  }
}

/** Of one name the last. */
function toolsByName(lists: readonly (readonly Tool[])[]): readonly Tool[] {
  return [...new Map(lists.flat().map((tool) => [tool.name, tool])).values()];
}

export function voiceOf(link: HostLink, { session_id, sequence }: HostOperation, signal: AbortSignal): Parameters<typeof carryOut>[2] {
  const name = { session_id, sequence };
  return {
    signal,
    emit(type, data) {
      const emitted = link.emit(name, type, data);
      // It is the tool's to hear that it was refused. One that does not listen is not ended by it.
      emitted.catch(() => undefined);
      return emitted;
    },
    progress: (progress) => link.progress(name, progress),
  };
}

export async function registerHost(transport: Transport, process: { readonly name: string; readonly incarnation: string }, options: CallOptions = {}): Promise<RegisteredHost> {
  const { name, incarnation } = process;
  return (await transport.call({ method: 'POST', path: '/v1/hosts', body: { name, incarnation }, ...options })) as RegisteredHost;
}
