/**
 * The application API that `http/` calls. Shapes are plain data in the journal's own words; times are epoch
 * milliseconds, and the wire renders them. Everything rejects with a `ServiceError` and nothing else.
 *
 * Another tenant's session is `not_found`, exactly like one that does not exist.
 */
import type { JsonObject, Message, UserInput } from '../machines/messages.ts';
import type { PublicEvent } from '../machines/projections/public-events.ts';
import type { SessionStatus } from '../machines/projections/status.ts';
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
  /** Omitted: the model's own, which only the demo's have. */
  readonly tools?: readonly string[];
  /** Omitted: as the server says. Null: released at once. 0: never. */
  readonly idle_ttl_ms?: Retain;
  readonly after_stop?: AfterStop;
  readonly metadata?: Metadata;
  /** The opening conversation. */
  readonly transcript?: readonly Message[];
}

export interface SessionView {
  readonly session_id: string;
  readonly status: SessionStatus;
  /** Whether an actor is in memory. */
  readonly resident: boolean;
  readonly last_sequence: Sequence;
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

export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor after which the next page begins. It advances even past private records. */
  readonly next_cursor: Sequence;
}

/** What only those see who watch as it happens. */
export type LiveEvent =
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
  /** Only sessions whose metadata says all of this. */
  readonly metadata?: Metadata;
}

export type MetadataChanges = Readonly<Record<string, string | null>>;

export interface PageQuery {
  /** 0 is the start. */
  readonly after: Sequence;
  readonly limit: number;
}

export interface SessionService {
  create(tenant: string, request: CreateSession, keyed?: KeyedCall): Promise<SessionView>;
  get(tenant: string, sessionId: string): Promise<SessionView>;
  /** By id, ascending; `next_cursor` is null at the end. */
  list(
    tenant: string,
    query: ListQuery,
  ): Promise<{ readonly sessions: readonly (SessionView | DamagedSessionView)[]; readonly next_cursor: string | null }>;

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
  /** Accepted in every state; nothing changes where no turn is running. Answers when it is recorded. */
  cancel(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void>;
  resume(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<SessionView>;
  /** Refuses messages from its record on; answers when the session is ended, after the running turn. */
  end(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<SessionView>;
  /** Merges by name; null takes a name away. */
  changeMetadata(tenant: string, sessionId: string, changes: MetadataChanges, keyed?: KeyedCall): Promise<SessionView>;
  delete(tenant: string, sessionId: string, keyed?: KeyedCall): Promise<void>;

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

export interface Following<T> {
  readonly ended: boolean;
  readonly items: AsyncIterable<Followed<T>>;
}
