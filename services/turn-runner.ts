/**
 * One turn, from its start record to the commit that closes it.
 *
 *   R1. The loop starts after `activation_started` is durable, and the wall time begins with the loop. The turn has its
 *       slot before that record is made: a loop that only waits for one has not run, and must not be told to be unknown
 *       after a crash. Where a slot is free at once, the record stands in the commit of the turn's start.
 *   R2. Whatever happens (the loop returns, throws, ignores its cancellation, a bound is reached), the turn is closed by
 *       one commit, after its executors have stopped or the cleanup bound is over.
 *   R3. If the incarnation is discarded, nothing more is recorded: recovery closes the turn.
 *   R4. A turn that is stopped while it waits is closed without a slot. However the turn ends, its slot is given back.
 */
import type { TurnEnding } from '../machines/close-turn.ts';
import type { Sequence } from '../machines/records.ts';
import { StorageError } from '../storage/journal.ts';
import { Extensions } from './extensions.ts';
import { endingOf } from './loop-answers.ts';
import { loopHost } from './loop-host.ts';
import type { AgentLoop, LoopHost, TurnInput, TurnResult } from './loops/agent-loop.ts';
import type { LoopRegistry } from './loops/loop-registry.ts';
import { ModelCalls } from './model-calls.ts';
import type { ModelRegistry } from './models/model-provider.ts';
import type { Log } from './ports.ts';
import { ActorStopped, type Receipt } from './session-actor.ts';
import type { ModelKey } from './session-credentials.ts';
import { ToolCalls } from './tool-calls.ts';
import { ToolExecutors, type ToolExecutorsServices } from './tools/tool-executors.ts';
import type { TurnScope } from './turn-scope.ts';
import type { TurnSlot, TurnSlots } from './turn-slots.ts';

export interface RunnerServices extends ToolExecutorsServices {
  readonly loops: LoopRegistry;
  readonly models: ModelRegistry;
  readonly slots: TurnSlots;
  readonly log: Log;
}

/** What a turn has whose loop starts in the commit of its own start. */
export interface BegunActivation {
  readonly slot: TurnSlot;
  /** Its `activation_started`. */
  readonly activation: Sequence;
}

/** What stands for the answer of a loop that did not stop within the bound. */
const NOT_STOPPED: TurnResult = { kind: 'failed', code: 'loop_error', message: 'the agent loop did not stop in time' };
const TOO_LARGE: TurnEnding = { kind: 'failed', code: 'loop_error', message: "the agent loop's result is too large to be recorded" };

export class TurnRunner {
  readonly #scope: TurnScope;
  readonly #services: RunnerServices;
  readonly #executors: ToolExecutors;
  readonly #begun: BegunActivation | null;
  #modelKey: ModelKey = { kind: 'unavailable', reason: 'the turn has not begun' };

  constructor(scope: TurnScope, services: RunnerServices, begun: BegunActivation | null) {
    this.#scope = scope;
    this.#services = services;
    this.#begun = begun;
    this.#executors = new ToolExecutors(scope.sessionId, scope.created, services);
  }

  /** Runs the turn to its end. Rejects only where the turn could not be closed: the session must be discarded then. */
  async run(): Promise<void> {
    const scope = this.#scope;
    const slot = this.#begun?.slot ?? this.#services.slots.ask(scope.created.tenant);
    try {
      await Promise.race([slot.granted, scope.whenStopped]);
      if (scope.isStopped) {
        slot.giveBack();
        await this.#finishAfter(Promise.resolve(stoppedBefore()));
      } else {
        await this.#runWithCredential();
      }
    } finally {
      scope.over();
      slot.giveBack();
    }
  }

  async #runWithCredential(): Promise<void> {
    const { sessionId, created } = this.#scope;
    const credential = await this.#services.sessionCredentials.openForTurn(sessionId, created);
    this.#modelKey = credential.key;
    try {
      await this.#finishAfter(this.#activate());
    } finally {
      credential.release();
      this.#executors.release();
    }
  }

  async #finishAfter(running: Promise<TurnEnding>): Promise<void> {
    try {
      await this.#finish(await running);
    } catch (error) {
      if (this.#scope.actor.isStopped) return;
      this.#services.log.error('turn_failed', { session_id: this.#scope.sessionId, error: String(error) });
      await this.#finish({ kind: 'failed', code: 'internal', message: 'the server failed in this turn; its log says why' });
    }
  }

  /** A cancel is recorded: the loop and everything under way are told. */
  cancel(): void {
    this.#scope.stop();
  }

  /** The incarnation is gone. Resolves when its executors are quiet, or their cleanup bound is over. */
  discard(): Promise<void> {
    this.#scope.over();
    return this.#scope.whenQuiet();
  }

  async #activate(): Promise<TurnEnding> {
    const scope = this.#scope;
    const { agentloop } = scope.created;
    const activation = this.#begun?.activation ?? (await this.#startActivation(agentloop));
    if (activation === null || scope.isStopped) return stoppedBefore();
    const registered = this.#services.loops.find(agentloop);
    if (registered === null) return { kind: 'failed', code: 'loop_error', message: `this server has no agent loop ${agentloop} any more` };
    const endWallTime = this.#startWallTime();
    try {
      const running = scope.track(this.#runLoop(registered.loop, activation));
      return endingOf(await scope.withinBound(running, NOT_STOPPED), scope.intake);
    } finally {
      endWallTime();
    }
  }

  /** Null where the turn was stopped before. */
  async #startActivation(agentloop: string): Promise<Sequence | null> {
    const receipt = await this.#scope.submit({ kind: 'start_activation', message_sequence: this.#scope.messageSequence, agentloop });
    if (receipt.kind !== 'committed') return null;
    return receipt.records.find(({ type }) => type === 'activation_started')?.sequence ?? null;
  }

  #startWallTime(): () => void {
    const { limits, clock } = this.#scope;
    if (limits.turnMs === null) return () => undefined;
    return clock.after(limits.turnMs, () => {
      // If it cannot be recorded, the session is discarded, and this turn with it.
      this.#scope.submit({ kind: 'cancel', by: 'deadline' }).catch(() => undefined);
    });
  }

  /** What a loop throws is its failure, unless it is what became of the journal under it. */
  async #runLoop(loop: AgentLoop, activation: Sequence): Promise<TurnResult> {
    try {
      return await loop.turn(this.#input(), this.#host(activation));
    } catch (error) {
      if (error instanceof ActorStopped || error instanceof StorageError) throw error;
      return { kind: 'failed', code: 'loop_error', message: error instanceof Error ? error.message : String(error) };
    }
  }

  #host(activation: Sequence): LoopHost {
    const scope = this.#scope;
    const extensions = new Extensions(scope);
    const models = new ModelCalls(scope, this.#services.models, this.#modelKey, this.#services.log);
    return loopHost(scope, activation, { extensions, models, tools: new ToolCalls(scope, this.#executors, extensions) });
  }

  #input(): TurnInput {
    const { actor, created, messageSequence, sessionId } = this.#scope;
    const { transcript, context } = actor.state;
    return {
      session_id: sessionId,
      message_sequence: messageSequence,
      message: transcript.messageOf(messageSequence),
      transcript: transcript.messages(),
      checkpoint_sequence: context.checkpoint?.sequence ?? 0,
      configuration: created.configuration,
      tools: created.tools.map(({ name, description, input_schema, effect }) => ({ name, description, input_schema, effect })),
      ...(created.system === undefined ? {} : { system: created.system }),
    };
  }

  async #finish(ending: TurnEnding): Promise<void> {
    const scope = this.#scope;
    scope.stop();
    await scope.whenQuiet();
    const failed: TurnEnding | null = scope.failure === null ? null : { kind: 'failed', ...scope.failure };
    const receipt = await this.#close(failed ?? ending);
    const last = receipt.kind === 'refused' && receipt.code === 'too_large' ? await this.#close(TOO_LARGE) : receipt;
    // A turn that nobody closes would run for ever: whoever opens the session next recovers it.
    if (last.kind !== 'committed') throw new Error(`the turn could not be closed: ${JSON.stringify(last)}`);
  }

  #close(ending: TurnEnding): Promise<Receipt> {
    const { messageSequence: message_sequence } = this.#scope;
    return this.#scope.submit({ kind: 'close_turn', message_sequence, ending, open: 'cancelled' });
  }
}

/** Its cancel was recorded before its loop could start: that decides how the turn is closed. */
function stoppedBefore(): TurnEnding {
  return { kind: 'failed', code: 'internal', message: 'the turn was stopped before its agent loop started' };
}
