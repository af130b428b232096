/**
 * The running turns of this process: started, stopped and let go of by what the journals say. One that waits for a slot is
 * a running turn, too.
 */
import type { TurnCommand } from '../machines/commands.ts';
import type { Sequence, SessionCreated, SessionRecord } from '../machines/records.ts';
import type { EventFeed } from './event-feed.ts';
import { Intake } from './intake.ts';
import type { Clock } from './ports.ts';
import type { Secrets } from './secrets.ts';
import type { SessionActor } from './session-actor.ts';
import type { TelemetrySink } from './telemetry.ts';
import { TurnRunner, type BegunActivation, type RunnerServices } from './turn-runner.ts';
import { TurnScope, type TurnLimits } from './turn-scope.ts';
import type { TurnSlot } from './turn-slots.ts';

export interface TurnsServices extends RunnerServices {
  readonly clock: Clock;
  readonly feed: EventFeed;
  readonly secrets: Secrets;
  readonly limits: TurnLimits;
  readonly telemetry: TelemetrySink;
}

export class Turns {
  readonly #services: TurnsServices;
  readonly #running = new Map<string, TurnRunner>();
  /** The slots of loops that start in a commit that is under way. */
  readonly #setAside = new Map<string, TurnSlot>();
  #whenNone: (() => void)[] = [];

  constructor(services: TurnsServices) {
    this.#services = services;
  }

  /** The sessions with a running turn. */
  get sessionIds(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** What starts the loop of a turn in the commit of its own start; null where no slot is free. The slot is its own then. */
  activation(sessionId: string, { tenant, agentloop }: SessionCreated, message_sequence: Sequence): TurnCommand | null {
    const slot = this.#services.slots.take(tenant);
    if (slot === null) return null;
    this.#setAside.set(sessionId, slot);
    return { kind: 'start_activation', message_sequence, agentloop };
  }

  /**
   * Reacts to what was committed. `abandon` is called where a turn could not be closed: whoever opens the session next
   * recovers it.
   */
  committed(
    sessionId: string,
    actor: SessionActor,
    records: readonly SessionRecord[],
    abandon: (error: unknown) => void,
  ): void {
    for (const record of records) {
      switch (record.type) {
        case 'turn_started':
          this.#start(sessionId, actor, record.data.message_sequence, this.#begun(sessionId, records), abandon);
          break;
        case 'turn_cancel_requested':
          this.#running.get(sessionId)?.cancel();
          break;
        case 'turn_ended':
        case 'turn_failed':
          this.#remove(sessionId);
          break;
        default:
          break;
      }
    }
  }

  /** The session's incarnation is gone. Resolves when its executors are quiet, or their cleanup bound is over. */
  async discard(sessionId: string): Promise<void> {
    const runner = this.#running.get(sessionId);
    this.#remove(sessionId);
    this.#takeAside(sessionId)?.giveBack();
    await runner?.discard();
  }

  /** Resolves when no turn is running. */
  whenNone(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenNone.push(resolve));
  }

  /** Null where the turn starts without its loop. */
  #begun(sessionId: string, records: readonly SessionRecord[]): BegunActivation | null {
    const activation = records.find(({ type }) => type === 'activation_started');
    const slot = this.#takeAside(sessionId);
    return slot === null || activation === undefined ? null : { slot, activation: activation.sequence };
  }

  #takeAside(sessionId: string): TurnSlot | null {
    const slot = this.#setAside.get(sessionId) ?? null;
    this.#setAside.delete(sessionId);
    return slot;
  }

  #start(
    sessionId: string,
    actor: SessionActor,
    messageSequence: Sequence,
    begun: BegunActivation | null,
    abandon: (error: unknown) => void,
  ): void {
    const { clock, feed, secrets, limits, telemetry } = this.#services;
    const scope = new TurnScope({
      sessionId,
      messageSequence,
      actor,
      limits,
      intake: new Intake(secrets.of(actor.state.facts.created.tenant)),
      clock,
      telemetry,
      live: (event) => {
        feed.live(sessionId, actor.state.lastSequence, event);
      },
    });
    const runner = new TurnRunner(scope, this.#services, begun);
    this.#running.set(sessionId, runner);
    runner.run().catch(abandon);
  }

  #remove(sessionId: string): void {
    this.#running.delete(sessionId);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenNone.splice(0)) resolve();
  }
}
