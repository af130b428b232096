/**
 * The application API that `http/` calls. Shapes are plain data in the journal's own words; times are epoch
 * milliseconds, and the wire renders them. Everything rejects with a `ServiceError` and nothing else.
 *
 * Another tenant's session is `not_found`, exactly like one that does not exist.
 */
import type { JsonObject, Message, UserInput } from '../machines/messages.ts';
import type { LifecycleCursor, LifecycleEvent } from '../machines/projections/lifecycle-events.ts';
import type { PublicEvent } from '../machines/projections/public-events.ts';
import type { Checkpoint } from '../machines/projections/session-facts.ts';
import type { LifecycleStatus, SessionStatus } from '../machines/projections/status.ts';
import type {
  AfterStop,
  FinishReason,
  Metadata,
  ResolvedModel,
  ResolvedTool,
  Retain,
  Sequence,
  SessionRecord,
  Surface,
  TurnFailureCode,
  Usage,
} from '../machines/records.ts';
import type { KeyedCall, KeyedRoute, RouteAnswers } from './keyed-call.ts';
import type { ModelDelta } from './models/model-provider.ts';

/** What a create names. Every name is resolved once and recorded; nothing later moves the session. */
export interface CreateSession {
  readonly surface: Surface;
  /** Default: `chat` without configuration. */
  readonly agentloop?: { readonly name: string; readonly configuration?: JsonObject };
  /** Default: `demo/echo`. */
  readonly model?: { readonly provider: string; readonly name: string; readonly credential?: string };
  readonly system?: string;
  /** Of the tenant's own. Omitted: none. */
  readonly environments?: readonly string[];
  /** Omitted: all of the environments named; without any the model's own, which only the demo's have. */
  readonly tools?: readonly string[];
  /** Omitted: as the server says. Null: released at once. 0: never. */
  readonly idle_ttl_ms?: Retain;
  readonly after_stop?: AfterStop;
  readonly metadata?: Metadata;
  /** As the creation's record keeps it. */
  readonly config_fields?: readonly string[];
  /** The opening conversation. */
  readonly transcript?: readonly Message[];
}

export interface SessionView {
  readonly session_id: string;
  readonly tenant: string;
  readonly status: SessionStatus;
  /** As the lifecycle surface reads it. Null: the session is still being created, and is not there yet. */
  readonly lifecycle_status: LifecycleStatus | null;
  /** Whether an actor is in memory. */
  readonly resident: boolean;
  readonly last_sequence: Sequence;
  /** The last record's time, public or private. */
  readonly last_recorded_at: number;
  /** That of the running turn's `turn_started`; null while none runs. */
  readonly running_turn: Sequence | null;
  /** How many messages wait for their turn. */
  readonly queue_length: number;
  readonly created_at: number;
  /** The last public record's time. */
  readonly updated_at: number;
  readonly agentloop: { readonly name: string; readonly configuration: JsonObject };
  readonly model: ResolvedModel;
  readonly system?: string;
  readonly tools: readonly ResolvedTool[];
  readonly environments: readonly string[];
  readonly after_stop: AfterStop;
  readonly retain: Retain;
  readonly metadata: Metadata;
  /** Absent for a session of the other surface. */
  readonly config_fields?: readonly string[];
  /** Where a resume goes back to. Null: the session is still being created, or its creation failed. */
  readonly checkpoint: Checkpoint | null;
  /** Why the session runs, or does not: what it waits for, or what stopped it. Only where one session is asked for. */
  readonly explanation?: string;
}

/** A session whose journal is refused, or cannot be read now: what is known of it is that it is there. */
export interface DamagedSessionView {
  readonly session_id: string;
  readonly damaged: true;
  readonly message: string;
}

export interface TurnAnswer {
  readonly session_id: string;
  /** That of `turn_started`. */
  readonly sequence: Sequence;
  readonly outcome: 'ended' | 'failed';
  /** The loop's answer, where it returned a model's message. */
  readonly result?: { readonly text: string; readonly message: Message; readonly finish_reason: FinishReason; readonly usage?: Usage };
  readonly error?: { readonly code: TurnFailureCode; readonly message: string };
  readonly status: SessionStatus;
  /** That of the turn's last record. */
  readonly last_sequence: Sequence;
}

export interface TurnReceipt {
  readonly session_id: string;
  readonly sequence: Sequence;
}

/** A message as the lifecycle surface sends it. */
export interface QueuedMessage {
  readonly text: string;
  /** Names the message for the session's life. */
  readonly key?: string;
}

/** A message that waits for its turn. */
export interface WaitingMessage {
  readonly message_sequence: Sequence;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly recorded_at: number;
}

export interface Page<T, C = Sequence> {
  readonly items: readonly T[];
  /** The cursor after which the next page begins. It advances even past private records. */
  readonly next_cursor: C;
}

/** What only those see who watch as it happens. */
export type LiveEvent = LiveContent & {
  /** That of the turn's message. */
  readonly message_sequence: Sequence;
};

export type LiveContent =
  | { readonly type: 'model_delta'; readonly data: { readonly started_sequence: Sequence } & ModelDelta }
  | {
      readonly type: 'telemetry';
      readonly data: { readonly message_sequence: Sequence; readonly record: JsonObject };
    }
  | {
      readonly type: 'tool_progress';
      readonly data: { readonly started_sequence: Sequence; readonly message?: string; readonly fraction?: number };
    };

export type Followed<T> = { readonly kind: 'recorded'; readonly item: T } | { readonly kind: 'live'; readonly event: LiveEvent };

export interface ListQuery {
  /** The id after which the page begins; the empty text is the start. */
  readonly after: string;
  readonly limit: number;
  readonly status?: SessionStatus;
  /** Asked for by the lifecycle surface: sessions that are still being created are not there, and a status is its own. */
  readonly lifecycle?: { readonly status?: LifecycleStatus };
  /** Only sessions whose metadata says all of this. */
  readonly metadata?: Metadata;
  /** Only this session. */
  readonly session_id?: string;
}

export interface SessionPage {
  readonly sessions: readonly (SessionView | DamagedSessionView)[];
  /** The id after which the next page begins; null at the end. */
  readonly next_cursor: string | null;
}

export type MetadataChanges = Readonly<Record<string, string | null>>;

export interface PageQuery<C = Sequence> {
  /** 0 is the start. */
  readonly after: C;
  readonly limit: number;
}

/** What is asked about sessions without changing any. */
export interface SessionReads {
  /** Rejects with `not_found` where the tenant has no such session, and as any first look at it does. */
  assertThere(tenant: string, sessionId: string): Promise<void>;
  get(tenant: string, sessionId: string): Promise<SessionView>;
  /** By id, ascending. */
  list(tenant: string, query: ListQuery): Promise<SessionPage>;

  events(tenant: string, sessionId: string, query: PageQuery & { readonly types?: readonly string[] }): Promise<Page<PublicEvent>>;
  journal(tenant: string, sessionId: string, query: PageQuery): Promise<Page<SessionRecord>>;
  transcript(
    tenant: string,
    sessionId: string,
  ): Promise<{ readonly messages: readonly Message[]; readonly through_sequence: Sequence }>;

  /**
   * Catches up from the journal, then follows. It resolves once the session is known to be there; its sequence ends
   * after the session's last event, when the session is deleted, and when `signal` aborts. Items are asked for one at a
   * time: a slow reader holds nothing and misses nothing recorded, and may miss live ones.
   * `ended`: the session is over and there is nothing after the cursor.
   */
  followEvents(tenant: string, sessionId: string, after: Sequence, signal: AbortSignal): Promise<Following<PublicEvent>>;
  followJournal(tenant: string, sessionId: string, after: Sequence, signal: AbortSignal): Promise<Following<SessionRecord>>;
}

export interface SessionService extends SessionReads {
  create(tenant: string, request: CreateSession, keyed?: KeyedCall): Promise<SessionView>;

  /**
   * The first answer of a keyed call that was made before; null where its key is free. Looked at before anything else is
   * checked. Rejects with `idempotency_mismatch`, `_in_progress` or `_ambiguous`. `sessionId`: null for a create.
   */
  repeated<R extends KeyedRoute>(
    tenant: string,
    sessionId: string | null,
    call: KeyedCall<R>,
  ): Promise<{ readonly answer: RouteAnswers[R] } | null>;

  /** Answers when the turn is over. A caller that goes away does not stop the turn. */
  send(tenant: string, sessionId: string, input: UserInput, keyed?: KeyedCall): Promise<TurnAnswer>;
  /** Answers when `turn_started` is durable. */
  submit(tenant: string, sessionId: string, input: UserInput, keyed?: KeyedCall): Promise<TurnReceipt>;
  /**
   * Answers when the message is durable, with its `user.message`. It waits where a turn is running: `queue_full` where as
   * many wait as may. A `key` that the session knows changes nothing, whatever its state: the same text is answered with
   * the first message again, another one with `conflict`.
   */
  queue(tenant: string, sessionId: string, message: QueuedMessage): Promise<LifecycleEvent<'user.message'>>;
  /** The messages that wait, first come first. */
  waiting(tenant: string, sessionId: string): Promise<readonly WaitingMessage[]>;
  /** Takes a message off the queue. Rejects with `already_started`, or `not_found` where no such message waits. */
  withdraw(tenant: string, sessionId: string, messageSequence: Sequence): Promise<void>;
  /**
   * Ends the session, and stops its running turn for it. Accepted in every state, and more than once. Answers when it is
   * recorded.
   */
  close(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void>;
  /** Accepted in every state; nothing changes where no turn is running. Answers when it is recorded. */
  cancel(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void>;
  resume(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<SessionView>;
  /** Refuses messages from its record on; answers when the session is ended, after the running turn. */
  end(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<SessionView>;
  /** Merges by name; null takes a name away. */
  changeMetadata(tenant: string, sessionId: string, changes: MetadataChanges, keyed?: KeyedCall): Promise<SessionView>;
  delete(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void>;

  lifecycleEvents(
    tenant: string,
    sessionId: string,
    query: PageQuery<LifecycleCursor>,
  ): Promise<Page<LifecycleEvent, LifecycleCursor>>;
  /** As `followEvents`. */
  followLifecycle(
    tenant: string,
    sessionId: string,
    after: LifecycleCursor,
    signal: AbortSignal,
  ): Promise<Following<LifecycleEvent>>;
}

export interface Following<T> {
  readonly ended: boolean;
  readonly items: AsyncIterable<Followed<T>>;
}
