/**
 * The one interface of every agent loop. A loop owns policy: prompts, context, the order of tools. Brain owns
 * mechanism: what a loop asks for is recorded, sent once, and answered.
 *
 *   A1. All that crosses is plain data, refusals too: a loop could as well run in another process. (`signal` is the
 *       in-process adapter's.)
 *   A2. Every method that changes something has committed when it resolves. What is asked for in one moment, without waiting
 *       in between, is committed together and in that order, the turn's end included.
 *   A3. Once the turn is cancelled, `model` and `dispatch` start nothing new and calls under way come back
 *       `cancelled`; `events`, `setTranscript`, `kv` and `emit` work until the turn closes. Then everything rejects.
 *   A4. A loop keeps nothing in memory from one turn to the next.
 */
import type { JsonObject, JsonValue, Message, ToolOutcome } from '../../machines/messages.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { ActivationResult, EffectOutcome, FinishReason, Sequence, SideEffect, Usage } from '../../machines/records.ts';
import type { OfferedTool } from '../models/model-provider.ts';

export interface TurnInput {
  readonly session_id: string;
  readonly message_sequence: Sequence;
  /** The message whose turn this is. It is not in the transcript: the loop decides what it becomes. */
  readonly message: Message;
  /** The transcript as saved. */
  readonly transcript: readonly Message[];
  /** Events after this sequence are those since the last completed turn: where an unanswered tool call's end is found. */
  readonly checkpoint_sequence: Sequence;
  readonly configuration: JsonObject;
  readonly system?: string;
  readonly tools: readonly (OfferedTool & { readonly effect: SideEffect })[];
}

/** What a loop asks of a model. What is absent is the session's: its system prompt, all of its tools. */
export interface LoopModelRequest {
  readonly messages: readonly Message[];
  readonly system?: string | null;
  readonly tools?: readonly string[];
  readonly parameters?: JsonObject;
}

export type LoopModelAnswer =
  | {
      readonly outcome: 'ended';
      readonly sequence: Sequence;
      readonly message: Message;
      readonly finish_reason: FinishReason;
      readonly usage?: Usage;
    }
  | { readonly outcome: EffectOutcome; readonly code: string; readonly message: string }
  | Refused;

/** A tool call as the model asked for it. `input` is given only where the loop changed it. */
export interface LoopToolCall {
  readonly tool: string;
  readonly tool_use_id: string;
  readonly input_text: string;
  readonly input?: JsonValue;
}

export interface LoopToolAnswer {
  readonly tool_use_id: string;
  /** The call's `tool_call_started`; null where none was recorded: the turn was stopped, or the call could not be made. */
  readonly sequence: Sequence | null;
  readonly outcome: ToolOutcome;
  readonly output: JsonValue;
  readonly is_error: boolean;
}

/** A host service said no, and nothing was recorded: the turn is being stopped, or a bound is reached. */
export interface Refused {
  readonly outcome: 'refused';
  readonly code: 'turn_cancelled' | 'model_call_limit' | 'emitted_bytes_limit' | 'reserved_type' | 'invalid_request';
  readonly message: string;
}

export interface EventsAnswer {
  readonly events: readonly PublicEvent[];
  /** Where the next page begins; null at the end of what is committed. */
  readonly next: Sequence | null;
}

export interface LoopHost {
  events(after: Sequence): Promise<EventsAnswer>;
  model(request: LoopModelRequest): Promise<LoopModelAnswer>;
  /** Calls tools in parallel; the answers stand in the order of the calls. */
  dispatch(calls: readonly LoopToolCall[]): Promise<readonly LoopToolAnswer[]>;
  emit(type: string, data: JsonValue): Promise<{ readonly sequence: Sequence } | Refused>;
  /**
   * Saves what differs from the saved transcript; nothing where nothing does. Resolves with the transcript as it is saved
   * then. Its own messages cost a loop nothing when it hands them back, others are looked through each time.
   */
  setTranscript(messages: readonly Message[]): Promise<readonly Message[]>;
  readonly kv: {
    /** A missing key is not a stored null. */
    read(key: string): Promise<{ readonly found: true; readonly value: JsonValue } | { readonly found: false }>;
    put(key: string, value: JsonValue): Promise<void>;
    delete(key: string): Promise<void>;
  };
  /** To live watchers and a sink, if there is one; never to the journal. */
  telemetry(record: JsonObject): void;
  readonly signal: AbortSignal;
}

export type TurnResult =
  | { readonly kind: 'returned'; readonly result?: ActivationResult }
  | { readonly kind: 'failed'; readonly code: 'model_error' | 'model_unknown' | 'loop_error'; readonly message: string };

export interface AgentLoop {
  readonly name: string;
  turn(input: TurnInput, host: LoopHost): Promise<TurnResult>;
}
