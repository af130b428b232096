/**
 * The record vocabulary: the closed union of everything that a journal can say. The statecharts' events are these
 * records, so that a replay runs on exactly what the live server ran on.
 *
 * Contents stand in one record only; whatever else needs them refers to that record by its sequence.
 */
import type { JsonObject, JsonValue, Message, ToolOutcome, UserInput } from './messages.ts';

/** A record's position in its session's journal: 1, 2, 3, … over public and private records alike. */
export type Sequence = number;

/** Which surface created the session; it decides defaults only. */
export type Surface = 'v1' | 'sessions';

/** Where a turn that was cancelled or failed leaves the session: free for the next message, or held until resumed. */
export type AfterStop = 'idle' | 'hold';

/** How long an actor stays after its work: null releases it at once, 0 never, else milliseconds. */
export type Retain = number | null;

export type MessageMode = 'sync' | 'async' | 'queue';
export type CancelBy = 'caller' | 'deadline' | 'close' | 'shutdown';
export type EndMode = 'wait' | 'interrupt';
export type EffectOutcome = 'failed' | 'unknown' | 'cancelled';

/** What a repeat of the same call would do outside: nothing, the same again, or a second time. */
export const SIDE_EFFECTS = ['read', 'idempotent', 'once'] as const;
export type SideEffect = (typeof SIDE_EFFECTS)[number];

export type TurnFailureCode =
  | 'cancelled'
  | 'turn_timeout'
  | 'model_call_limit'
  | 'emitted_bytes_limit'
  | 'model_error'
  | 'model_unknown'
  | 'loop_error'
  | 'interrupted_by_restart'
  | 'shutdown'
  | 'closed'
  | 'internal';

/** The model as it was resolved when the session was created. No secret is ever in it. */
export interface ResolvedModel {
  readonly provider: string;
  readonly name: string;
  readonly protocol: string;
  /** Where the calls go; absent for a model that lives in Brain's own process. */
  readonly base_url?: string;
  /** The name of the credential that the calls are made with; absent where they are made with the server's own key. */
  readonly credential?: string;
}

/** A tool as it was resolved when the session was created: where its calls go, for the session's whole life. */
export interface ResolvedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  readonly effect: SideEffect;
  /** The environment that runs it; `brain` is this server's own process. */
  readonly environment: string;
  /** What its environment is told with each call of it; absent where the declaration has none. */
  readonly configuration?: JsonObject;
}

/** An environment as it was resolved when the session was created: who carries out its operations. No secret is ever in it. */
export type ResolvedEnvironment = {
  readonly name: string;
  /** What its setup is told. */
  readonly configuration: JsonObject;
} & (
  | {
      readonly driver: 'http';
      /** Where its operations go. */
      readonly url: string;
      /** The name of the credential that they are sent with; absent where they are sent without one. */
      readonly credential?: string;
    }
  | {
      readonly driver: 'host';
      /** The host, by its stable name, that carries them out. */
      readonly host: string;
    }
);

export interface SessionCreated {
  readonly tenant: string;
  readonly surface: Surface;
  readonly agentloop: string;
  readonly configuration: JsonObject;
  readonly model: ResolvedModel;
  readonly system?: string;
  readonly tools: readonly ResolvedTool[];
  readonly environments: readonly ResolvedEnvironment[];
  readonly retain: Retain;
  readonly after_stop: AfterStop;
  readonly metadata: Metadata;
  /** Which fields a create on the lifecycle surface gave in its `config`, which is shown again so. Their values stand above. */
  readonly config_fields?: readonly string[];
}

export type Metadata = Readonly<Record<string, string>>;

/**
 * A message that stands in other records already: a `message_queued`, a `model_call_ended`, or the
 * `tool_call_ended` of each result in the message, in the order of the message.
 */
export interface MessageReference {
  readonly sequences: readonly Sequence[];
}

export type MessageOrReference = Message | MessageReference;

/** A change of a list of messages: keep the first `from`, then these. */
export interface MessagesDelta {
  readonly from: number;
  readonly messages: readonly MessageOrReference[];
}

/** What of a model request differs from the session's configuration, for the exact request to be rebuilt. */
export interface RequestDifference {
  /** Null: sent without a system prompt although the configuration has one. */
  readonly system?: string | null;
  /** The names of the tools offered, where they are not all of the session's. */
  readonly tools?: readonly string[];
  readonly parameters?: JsonObject;
}

/** Token counts as the provider gave them. What it did not give is absent, which is not zero. */
export interface Usage {
  readonly input_tokens?: number;
  readonly input_tokens_cache_read?: number;
  readonly input_tokens_cache_write?: number;
  readonly output_tokens?: number;
  readonly output_tokens_reasoning?: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export type ActivationResult = { readonly sequence: Sequence } | { readonly value: JsonValue };

/** Who submitted an extension event: an execution, named by its own start record. It says nothing of the truth of it. */
export interface Origin {
  readonly kind: 'agentloop' | 'tool';
  readonly sequence: Sequence;
}

export interface OfTurn {
  /** The `message_queued` whose turn this is. */
  readonly message_sequence: Sequence;
}

interface Ends {
  /** The `*_started` record whose effect this ends. */
  readonly started_sequence: Sequence;
}

/** What an environment is asked, as it is sent. */
export type EnvironmentRequest =
  | { readonly type: 'setup'; readonly configuration: JsonObject }
  | { readonly type: 'detach' }
  | { readonly type: 'teardown' };

/** How an environment says that an operation is done. */
export type EnvironmentReceipt = { readonly type: 'accepted' } | { readonly type: 'result'; readonly output: JsonValue };

interface EnvironmentStarted {
  readonly environment: string;
  readonly request: EnvironmentRequest;
}

type EnvironmentEnded = Ends & { readonly receipt: EnvironmentReceipt };
type EnvironmentFailed = Ends & { readonly outcome: EffectOutcome; readonly code: string; readonly message: string };

/** Each record type with its data. The table is the vocabulary; everything else about records is derived from it. */
export interface RecordData {
  session_created: SessionCreated;
  session_ready: Record<never, never>;
  session_failed: { readonly code: string; readonly message: string };
  session_metadata_changed: { readonly metadata: Metadata };
  session_suspended: Record<never, never>;
  session_resumed: { readonly checkpoint_sequence: Sequence };
  session_end_requested: { readonly mode: EndMode };
  session_ending: { readonly message_sequence?: Sequence };
  session_ended: Record<never, never>;
  session_delete_requested: Record<never, never>;

  message_queued: { readonly input: UserInput; readonly mode: MessageMode; readonly key?: string };
  message_withdrawn: OfTurn;
  message_failed: OfTurn & { readonly code: 'conflict' };

  turn_started: OfTurn;
  turn_cancel_requested: OfTurn & { readonly by: CancelBy };
  turn_ended: OfTurn & { readonly next: Sequence | null; readonly end: boolean };
  turn_failed: OfTurn & { readonly code: TurnFailureCode; readonly message: string; readonly end: boolean };

  activation_started: OfTurn & { readonly agentloop: string };
  activation_ended: OfTurn & Ends & { readonly result?: ActivationResult };
  activation_failed: OfTurn & Ends & { readonly code: TurnFailureCode; readonly message: string };

  model_call_started: OfTurn & {
    readonly provider: string;
    readonly model: string;
    readonly message_count: number;
    /** The request is the transcript as saved at `through_sequence`, changed by `delta`; null: exactly that transcript. */
    readonly context: { readonly through_sequence: Sequence; readonly delta: MessagesDelta | null } & RequestDifference;
  };
  model_call_ended: OfTurn &
    Ends & { readonly message: Message; readonly finish_reason: FinishReason; readonly usage?: Usage };
  model_call_failed: OfTurn &
    Ends & { readonly outcome: EffectOutcome; readonly code: string; readonly message: string; readonly usage?: Usage };

  tool_call_started: OfTurn & {
    readonly tool: string;
    readonly tool_use_id: string;
    readonly input_text: string;
    /** Only where it is not the parse of `input_text`. */
    readonly input?: JsonValue;
    /** Epoch milliseconds; null without a bound. */
    readonly deadline: number | null;
    readonly effect: SideEffect;
  };
  tool_call_ended: OfTurn &
    Ends & { readonly outcome: ToolOutcome; readonly output: JsonValue; readonly is_error: boolean };

  environment_setup_started: EnvironmentStarted;
  environment_setup_ended: EnvironmentEnded;
  environment_setup_failed: EnvironmentFailed;
  environment_detach_started: EnvironmentStarted;
  environment_detach_ended: EnvironmentEnded;
  environment_detach_failed: EnvironmentFailed;
  environment_teardown_started: EnvironmentStarted;
  environment_teardown_ended: EnvironmentEnded;
  environment_teardown_failed: EnvironmentFailed;

  extension_emitted: OfTurn & { readonly origin?: Origin; readonly name: string; readonly data: JsonValue };

  /** `replaces`: how many saved messages stood from `from` on; absent for a pure append. A seed has no turn. */
  transcript_delta: Partial<OfTurn> & MessagesDelta & { readonly replaces?: number };
  kv_put: OfTurn & { readonly key: string; readonly value: JsonValue };
  kv_deleted: OfTurn & { readonly key: string };

  request_answered: Record<never, never>;
}

export type RecordType = keyof RecordData;

/** The keyed request that caused a record: what a repeat of it is compared with. Never public. */
export interface KeyedRequest {
  readonly key: string;
  readonly route: string;
  /** SHA-256 of the body's canonical JSON, in hex. */
  readonly body: string;
}

/** A record before it is committed: it has its place, but neither its time nor the state that it leads to. */
export type NewRecord<T extends RecordType = RecordType> = {
  readonly [K in T]: {
    readonly sequence: Sequence;
    readonly type: K;
    readonly request?: KeyedRequest;
    readonly data: RecordData[K];
  };
}[T];

/** A record as the journal holds it. `recorded_at` is epoch milliseconds, `state` the chart state it led to. */
export type SessionRecord<T extends RecordType = RecordType> = {
  readonly [K in T]: {
    readonly sequence: Sequence;
    readonly recorded_at: number;
    readonly type: K;
    readonly state: string;
    readonly request?: KeyedRequest;
    readonly data: RecordData[K];
  };
}[T];

/** Whether a type is shown among public events. A transcript delta is shown only where it replaces something. */
export const RECORD_VISIBILITY: Readonly<Record<RecordType, 'public' | 'private' | 'where_replacing'>> = {
  session_created: 'public',
  session_ready: 'public',
  session_failed: 'public',
  session_metadata_changed: 'public',
  session_suspended: 'private',
  session_resumed: 'public',
  session_end_requested: 'public',
  session_ending: 'public',
  session_ended: 'public',
  session_delete_requested: 'public',
  message_queued: 'public',
  message_withdrawn: 'public',
  message_failed: 'public',
  turn_started: 'public',
  turn_cancel_requested: 'public',
  turn_ended: 'public',
  turn_failed: 'public',
  activation_started: 'public',
  activation_ended: 'public',
  activation_failed: 'public',
  model_call_started: 'public',
  model_call_ended: 'public',
  model_call_failed: 'public',
  tool_call_started: 'public',
  tool_call_ended: 'public',
  environment_setup_started: 'public',
  environment_setup_ended: 'public',
  environment_setup_failed: 'public',
  environment_detach_started: 'public',
  environment_detach_ended: 'public',
  environment_detach_failed: 'public',
  environment_teardown_started: 'public',
  environment_teardown_ended: 'public',
  environment_teardown_failed: 'public',
  extension_emitted: 'public',
  transcript_delta: 'where_replacing',
  kv_put: 'private',
  kv_deleted: 'private',
  request_answered: 'private',
};

/** Whether a text is the name of a record type. */
export function isRecordType(type: string): type is RecordType {
  return Object.hasOwn(RECORD_VISIBILITY, type);
}
