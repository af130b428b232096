/**
 * A turn's model calls: recorded, sent once, ended once.
 *
 *   M1. The provider is called after `model_call_started` is durable, and a loop hears the answer after the record of it
 *       is.
 *   M2. A call under way when the turn is stopped is ended as cancelled at once; the provider is told, and what it still
 *       says goes nowhere.
 */
import { OPEN_EFFECTS_MAX } from '../machines/decide.ts';
import type { RequestDifference, Sequence } from '../machines/records.ts';
import type { LoopModelAnswer, LoopModelRequest, Refused } from './loops/agent-loop.ts';
import type { ModelOutcome, ModelRegistry, ModelRequest } from './models/model-provider.ts';
import { plainChange } from './plain-messages.ts';
import { requestDetailsOf } from './loop-answers.ts';
import type { Log } from './ports.ts';
import type { Receipt } from './session-actor.ts';
import { toolsNamed } from '../machines/projections/model-request.ts';
import type { ModelKey } from './session-credentials.ts';
import { refused } from './refused.ts';
import type { TurnScope } from './turn-scope.ts';

type Ended = Extract<ModelOutcome, { outcome: 'ended' }>;
type NotEnded = Exclude<ModelOutcome, Ended>;

const CANCELLED: NotEnded = { outcome: 'cancelled', code: 'cancelled', message: 'the call was cancelled' };
// A provider never rejects. One that does has broken off in the middle of its work, and its error may hold a secret.
const BROKEN_OFF: NotEnded = { outcome: 'unknown', code: 'provider_broke_off', message: 'the provider broke off; its answer is not known' };
const TOO_LARGE: NotEnded = { outcome: 'failed', code: 'too_large', message: 'the answer is too large to be recorded' };

export class ModelCalls {
  readonly #scope: TurnScope;
  readonly #models: ModelRegistry;
  readonly #key: ModelKey;
  readonly #log: Log;
  #count = 0;

  constructor(scope: TurnScope, models: ModelRegistry, key: ModelKey, log: Log) {
    this.#scope = scope;
    this.#models = models;
    this.#key = key;
    this.#log = log;
  }

  async call(asked: LoopModelRequest): Promise<LoopModelAnswer> {
    const scope = this.#scope;
    if (scope.isStopped) return stopped();
    if (scope.limits.modelCalls !== null && this.#count >= scope.limits.modelCalls) return this.#overLimit(scope.limits.modelCalls);
    const { messages: given, ...rest } = asked;
    const plain = scope.intake.data(rest);
    if (!plain.ok) return refused('invalid_request', `the request is not plain data: ${plain.reason}`);
    const sent = plainChange(given, scope.actor.state.transcript.messages(), scope.intake);
    if (!sent.ok) return refused('invalid_request', `the request's messages cannot be sent: ${sent.reason}`);
    const details = requestDetailsOf(plain.value);
    if (details === null) return refused('invalid_request', 'besides its messages a request has a system text, names of tools and parameters');
    const request: LoopModelRequest = { ...details, messages: sent.messages };
    this.#count += 1;
    const receipt = await this.#start(request);
    const started = receipt.kind === 'committed' ? receipt.records.find(({ type }) => type === 'model_call_started') : undefined;
    if (started === undefined) return this.#notStarted(receipt);
    return this.#end(started.sequence, await this.#send(started.sequence, request));
  }

  #start(request: LoopModelRequest): Promise<Receipt> {
    const { provider, name } = this.#scope.created.model;
    const difference: RequestDifference = {
      ...(request.system === undefined ? {} : { system: request.system }),
      ...(request.tools === undefined ? {} : { tools: request.tools }),
      ...(request.parameters === undefined ? {} : { parameters: request.parameters }),
    };
    return this.#scope.submit({
      kind: 'start_model_call',
      message_sequence: this.#scope.messageSequence,
      provider,
      model: name,
      messages: request.messages,
      difference,
    });
  }

  #notStarted(receipt: Receipt): Refused {
    if (receipt.kind === 'refused' && receipt.code === 'too_large') {
      return refused('invalid_request', 'the request is too large to be recorded');
    }
    if (receipt.kind === 'refused' && receipt.code === 'effects_full') {
      return refused('invalid_request', `a turn has ${OPEN_EFFECTS_MAX} calls under way at most`);
    }
    return stopped();
  }

  async #send(started_sequence: Sequence, request: LoopModelRequest): Promise<ModelOutcome> {
    const scope = this.#scope;
    const key = this.#key;
    if (key.kind === 'unavailable') return { outcome: 'failed', code: 'credential_unavailable', message: `nothing was sent: ${key.reason}` };
    const provider = this.#models.provider(scope.created.model, ...(key.kind === 'own' ? [key.value] : []));
    if (provider === null) {
      return { outcome: 'failed', code: 'provider_gone', message: `this server has no provider ${scope.created.model.provider} any more` };
    }
    // A cancel that was recorded in the same commit came first: nothing is sent.
    if (scope.isStopped) return CANCELLED;
    let isHeard = true;
    const deltas = scope.intake.deltas((delta) => {
      scope.live({ type: 'model_delta', data: { started_sequence, ...delta } });
    });
    const called = async (): Promise<ModelOutcome> => {
      try {
        return await provider.call(this.#requestOf(request), {
          signal: scope.signal,
          onDelta: (delta) => {
            if (isHeard) deltas.take(delta);
          },
        });
      } catch (error) {
        this.#log.error('model_provider_threw', { session_id: scope.sessionId, error });
        return BROKEN_OFF;
      }
    };
    const answer = scope.track(called());
    const outcome = await Promise.race([answer, scope.whenStopped.then(() => CANCELLED)]);
    isHeard = false;
    if (outcome !== CANCELLED) deltas.end();
    return outcome;
  }

  #requestOf({ messages, system, tools, parameters }: LoopModelRequest): ModelRequest {
    const { created } = this.#scope;
    const prompt = system === undefined ? created.system : (system ?? undefined);
    const offered = tools === undefined ? created.tools : toolsNamed(created.tools, tools);
    return {
      model: created.model,
      messages,
      tools: offered.map(({ name, description, input_schema }) => ({ name, description, input_schema })),
      ...(prompt === undefined ? {} : { system: prompt }),
      ...(parameters === undefined ? {} : { parameters }),
    };
  }

  async #end(started_sequence: Sequence, outcome: ModelOutcome): Promise<LoopModelAnswer> {
    if (outcome.outcome !== 'ended') return this.#fail(started_sequence, outcome);
    const message = this.#scope.intake.message(outcome.message);
    if (!message.ok) {
      return this.#fail(started_sequence, { outcome: 'failed', code: 'invalid_answer', message: `the answer cannot be recorded: ${message.reason}` });
    }
    const ended: Ended = { ...outcome, message: message.message };
    const { finish_reason, usage } = ended;
    const receipt = await this.#scope.submit({
      kind: 'end_model_call',
      message_sequence: this.#scope.messageSequence,
      started_sequence,
      message: ended.message,
      finish_reason,
      ...(usage === undefined ? {} : { usage }),
    });
    if (receipt.kind === 'refused' && receipt.code === 'too_large') return this.#fail(started_sequence, TOO_LARGE);
    const sequence = receipt.kind === 'committed' ? receipt.records[0]?.sequence : undefined;
    return sequence === undefined ? stopped() : { ...ended, sequence };
  }

  async #fail(started_sequence: Sequence, given: NotEnded): Promise<LoopModelAnswer> {
    const failure: NotEnded = { ...given, message: this.#scope.intake.text(given.message) };
    const receipt = await this.#scope.submit({
      kind: 'fail_model_call',
      message_sequence: this.#scope.messageSequence,
      started_sequence,
      ...failure,
    });
    const { outcome, code, message } = failure;
    return receipt.kind === 'committed' ? { outcome, code, message } : stopped();
  }

  #overLimit(limit: number): Refused {
    const message = `a turn makes ${limit} model calls at most`;
    this.#scope.fail({ code: 'model_call_limit', message });
    return refused('model_call_limit', message);
  }
}

function stopped(): Refused {
  return refused('turn_cancelled', 'the turn is being stopped');
}
