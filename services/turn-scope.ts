/**
 * What belongs to one turn and ends with it: one scope for every phase, so that stopping the turn stops all of it.
 *
 *   S1. `stop` is one-way: nothing new starts after it, and whoever works for the turn is told through `signal`.
 *   S2. The turn does not wait for its executors beyond the cleanup bound, which begins with the stop.
 */
import type { JsonObject } from '../machines/messages.ts';
import type { Command } from '../machines/commands.ts';
import type { Sequence, SessionCreated, TurnFailureCode } from '../machines/records.ts';
import type { Intake } from './intake.ts';
import type { LiveContent, LiveEvent } from './session-service.ts';
import type { Clock } from './ports.ts';
import { StopSignal } from './stop-signal.ts';
import type { TelemetrySink } from './telemetry.ts';
import type { Receipt, SessionActor } from './session-actor.ts';

/** What a deployment bounds a turn with. Null: no bound. */
export interface TurnLimits {
  readonly modelCalls: number | null;
  readonly turnMs: number | null;
  readonly toolMs: number | null;
  readonly emittedBytes: number;
  /** How long a stopped turn waits for executors that do not stop. */
  readonly cancelMs: number;
}

export interface TurnFailure {
  readonly code: TurnFailureCode;
  readonly message: string;
}

export class TurnScope {
  readonly sessionId: string;
  readonly messageSequence: Sequence;
  readonly actor: SessionActor;
  readonly limits: TurnLimits;
  /** Where everything that comes from outside passes. */
  readonly intake: Intake;
  readonly clock: Clock;
  readonly #live: (event: LiveEvent) => void;
  readonly #sink: TelemetrySink;
  readonly #stop = new StopSignal();
  readonly #executors = new Set<Promise<unknown>>();
  /** Resolves when the turn is stopped. */
  readonly whenStopped: Promise<void>;
  readonly #boundOver: Promise<void>;
  #resolveStopped: () => void = () => undefined;
  #resolveBoundOver: () => void = () => undefined;
  #cancelBound: () => void = () => undefined;
  #failure: TurnFailure | null = null;
  #isOver = false;

  constructor(parts: {
    readonly sessionId: string;
    readonly messageSequence: Sequence;
    readonly actor: SessionActor;
    readonly limits: TurnLimits;
    readonly intake: Intake;
    readonly clock: Clock;
    readonly live: (event: LiveEvent) => void;
    readonly telemetry: TelemetrySink;
  }) {
    this.sessionId = parts.sessionId;
    this.messageSequence = parts.messageSequence;
    this.actor = parts.actor;
    this.limits = parts.limits;
    this.intake = parts.intake;
    this.clock = parts.clock;
    this.#live = parts.live;
    this.#sink = parts.telemetry;
    this.whenStopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
    this.#boundOver = new Promise((resolve) => {
      this.#resolveBoundOver = resolve;
    });
  }

  get created(): SessionCreated {
    return this.actor.state.facts.created;
  }

  /** Aborts when the turn is stopped. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isStopped(): boolean {
    return this.#stop.isStopped;
  }

  /** Whether the turn is closed: its host services take nothing any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Why Brain itself stopped the turn, where no cancel was recorded. */
  get failure(): TurnFailure | null {
    return this.#failure;
  }

  submit(command: Command): Promise<Receipt> {
    return this.actor.submit(command);
  }

  live(event: LiveContent): void {
    if (!this.#isOver) this.#live({ ...event, message_sequence: this.messageSequence });
  }

  /** To whoever watches, and to the sink. */
  telemetry(record: JsonObject): void {
    const { sessionId: session_id, messageSequence: message_sequence } = this;
    this.live({ type: 'telemetry', data: { message_sequence, record } });
    this.#sink.write({ session_id, message_sequence, recorded_at: this.clock.now(), record });
  }

  /** Starts nothing new, and tells everybody to stop. The cleanup bound begins. */
  stop(): void {
    if (this.isStopped) return;
    this.#stop.stop();
    this.#resolveStopped();
    this.#cancelBound = this.clock.after(this.limits.cancelMs, () => {
      this.#resolveBoundOver();
    });
  }

  /** Stops the turn, which then fails with this. */
  fail(failure: TurnFailure): void {
    this.#failure ??= failure;
    this.stop();
  }

  /** The turn is closed, or its incarnation is gone. */
  over(): void {
    this.stop();
    this.#isOver = true;
  }

  /** Counts work that may ignore its signal: the turn waits for it, within the bound. */
  track<T>(executor: Promise<T>): Promise<T> {
    const over = (): void => void this.#executors.delete(stopped);
    const stopped: Promise<void> = executor.then(over, over);
    this.#executors.add(stopped);
    return executor;
  }

  /** The answer of `work`, or what stands for it once the stopped turn has waited for long enough. */
  withinBound<T>(work: Promise<T>, otherwise: T): Promise<T> {
    return Promise.race([work, this.#boundOver.then(() => otherwise)]);
  }

  /** Resolves when every executor has stopped, or the bound is over. Call after `stop`. */
  async whenQuiet(): Promise<void> {
    while (this.#executors.size > 0) {
      const left = await this.withinBound<'stopped' | 'bound'>(Promise.all(this.#executors).then(() => 'stopped'), 'bound');
      if (left === 'bound') return;
    }
    this.#cancelBound();
  }
}
