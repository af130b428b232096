/**
 * The setups, detaches and teardowns that are under way in this process: begun by what the journals say, for several
 * environments at a time, and let go of with their sessions.
 *
 *   W1. An end with `interrupt` stops the setups of its session. One that comes when the session is ending already stops
 *       whatever that waits for.
 *   W2. Once the server waits no longer, what is under way is stopped, and what would begin is not sent.
 */
import type { EnvironmentRequest, Sequence, SessionRecord } from '../../machines/records.ts';
import { Intake } from '../intake.ts';
import type { Clock, Log } from '../ports.ts';
import type { Secrets } from '../secrets.ts';
import type { SessionActor } from '../session-actor.ts';
import type { SessionCredentials } from '../session-credentials.ts';
import type { TurnLimits } from '../turn-scope.ts';
import { EnvironmentOperation, type StoppedBy } from './environment-operation.ts';
import type { EnvironmentDrivers } from './operation.ts';

export interface EnvironmentWorkServices {
  readonly drivers: EnvironmentDrivers;
  readonly sessionCredentials: Pick<SessionCredentials, 'openForEnvironment'>;
  readonly secrets: Secrets;
  readonly limits: TurnLimits;
  readonly clock: Clock;
  readonly log: Log;
}

interface Started {
  readonly sequence: Sequence;
  readonly data: { readonly environment: string; readonly request: EnvironmentRequest };
}

export class EnvironmentWork {
  readonly #services: EnvironmentWorkServices;
  /** Each with its run. */
  readonly #underWay = new Map<string, Map<EnvironmentOperation, Promise<void>>>();
  #whenNone: (() => void)[] = [];
  #isOver = false;

  constructor(services: EnvironmentWorkServices) {
    this.#services = services;
  }

  /** How many sessions have operations under way. */
  get sessions(): number {
    return this.#underWay.size;
  }

  /** Reacts to what was committed. */
  committed(sessionId: string, actor: SessionActor, records: readonly SessionRecord[]): void {
    for (const record of records) {
      switch (record.type) {
        case 'environment_setup_started':
        case 'environment_detach_started':
        case 'environment_teardown_started':
          this.#start(sessionId, actor, record);
          break;
        case 'session_end_requested':
          if (record.data.mode === 'interrupt') this.close(sessionId);
          break;
        default:
          break;
      }
    }
  }

  /** The session's end waits for nothing any more. */
  close(sessionId: string): void {
    this.#stop(sessionId, 'closed');
  }

  /** The server waits for nothing any more. */
  stopAll(): void {
    this.#isOver = true;
    for (const sessionId of this.#underWay.keys()) this.#stop(sessionId, 'shutdown');
  }

  /** The session's incarnation is gone. Resolves when its executors have stopped, or their cleanup bound is over. */
  async discard(sessionId: string): Promise<void> {
    const runs = [...(this.#underWay.get(sessionId)?.values() ?? [])];
    this.#stop(sessionId, 'let_go');
    await Promise.all(runs);
  }

  /** Resolves when nothing is under way. */
  whenNone(): Promise<void> {
    if (this.#underWay.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenNone.push(resolve));
  }

  #start(sessionId: string, actor: SessionActor, { sequence, data: { environment: name, request } }: Started): void {
    const { clock, drivers, limits, log, secrets, sessionCredentials: credentials } = this.#services;
    const { environments, tenant } = actor.state.facts.created;
    const environment = environments.find((one) => one.name === name);
    if (environment === undefined) throw new Error('an operation is only started for an environment that the creation resolved');
    const operation = new EnvironmentOperation({
      sessionId,
      actor,
      environment,
      sequence,
      request,
      driver: drivers[environment.driver],
      credentials,
      intake: new Intake(secrets.of(tenant)),
      limits,
      clock,
      log,
    });
    const runs = this.#underWay.get(sessionId) ?? new Map<EnvironmentOperation, Promise<void>>();
    this.#underWay.set(sessionId, runs);
    if (this.#isOver) operation.stop('shutdown');
    runs.set(
      operation,
      operation.run().finally(() => {
        this.#remove(sessionId, runs, operation);
      }),
    );
  }

  #stop(sessionId: string, by: StoppedBy): void {
    for (const operation of this.#underWay.get(sessionId)?.keys() ?? []) operation.stop(by);
  }

  #remove(sessionId: string, runs: Map<EnvironmentOperation, Promise<void>>, operation: EnvironmentOperation): void {
    runs.delete(operation);
    if (runs.size === 0 && this.#underWay.get(sessionId) === runs) this.#underWay.delete(sessionId);
    if (this.#underWay.size > 0) return;
    for (const resolve of this.#whenNone.splice(0)) resolve();
  }
}
