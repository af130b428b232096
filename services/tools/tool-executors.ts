/**
 * Who carries out a turn's tool calls.
 *
 *   W1. It is what the session's creation recorded for the tool: this server's own process, or an environment as it was
 *       resolved then. Nobody else is asked in its place.
 *   W2. An environment is called with the session's own copy of its credential, which is opened once for the turn, and is a
 *       secret in use until the turn is over. Nothing is sent where it cannot be opened.
 */
import type { ResolvedTool, SessionCreated } from '../../machines/records.ts';
import { environmentTool } from '../environments/environment-tool.ts';
import type { EnvironmentDrivers } from '../environments/operation.ts';
import type { Log } from '../ports.ts';
import type { SessionCredentials } from '../session-credentials.ts';
import { ownTool } from './own-tool.ts';
import type { ToolExecutor } from './tool-executor.ts';
import { OWN_ENVIRONMENT, type ToolRegistry } from './tool.ts';

export interface ToolExecutorsServices {
  readonly tools: ToolRegistry;
  readonly drivers: EnvironmentDrivers;
  readonly sessionCredentials: SessionCredentials;
  readonly log: Log;
}

type Opened = ReturnType<SessionCredentials['openForEnvironment']>;

export class ToolExecutors {
  readonly #sessionId: string;
  readonly #created: SessionCreated;
  readonly #services: ToolExecutorsServices;
  /** By the environment's name. */
  readonly #opened = new Map<string, Opened>();

  constructor(sessionId: string, created: SessionCreated, services: ToolExecutorsServices) {
    this.#sessionId = sessionId;
    this.#created = created;
    this.#services = services;
  }

  /** Who carries out the calls of a tool, or why nobody does, for the model. */
  async find(tool: ResolvedTool): Promise<ToolExecutor | string> {
    const { tenant, environments } = this.#created;
    if (tool.environment === OWN_ENVIRONMENT) {
      const own = this.#services.tools.find(tenant, tool.name);
      return own === null ? `this server has no tool ${tool.name} any more` : ownTool(own, this.#sessionId);
    }
    const environment = environments.find(({ name }) => name === tool.environment);
    if (environment === undefined) return `this session has no environment ${tool.environment}`;
    const key = await this.#open(environment.name);
    if (key.kind === 'unavailable') return key.reason;
    const credential = key.kind === 'own' ? key.value : null;
    const { drivers, log } = this.#services;
    return environmentTool({ tenant, sessionId: this.#sessionId, tool, environment, driver: drivers[environment.driver], credential, log });
  }

  /** The turn is over: what it knew is a secret in use no more. */
  release(): void {
    // It never rejects.
    for (const opened of this.#opened.values()) void opened.then(({ release }) => release());
  }

  #open(environment: string): Opened {
    const { sessionCredentials } = this.#services;
    const opened = this.#opened.get(environment) ?? sessionCredentials.openForEnvironment(this.#sessionId, this.#created, environment);
    this.#opened.set(environment, opened);
    return opened;
  }
}
