/**
 * What Brain asks of an environment, and how it is answered: the words of the contract `environment/v1`, the same for every
 * driver.
 *
 *   P1. An operation is named by its session and the sequence of the record that was made before it was sent. It is sent once.
 *   P2. `failure` is an environment's own no, or what is known not to have reached it. Whatever else went wrong after the
 *       first byte was sent is `unknown`.
 *   P3. Whoever reports a result hears that it was taken once the record of it is durable, and not before: what was taken is
 *       never lost.
 */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import type { EnvironmentRequest, ResolvedEnvironment, Sequence } from '../../machines/records.ts';
import { ServiceError } from '../errors.ts';

export const ENVIRONMENT_CONTRACT = 'environment/v1';

export type OperationRequest =
  | EnvironmentRequest
  | {
      readonly type: 'invoke';
      readonly tool: string;
      readonly input: JsonValue;
      /** What is left until the call's deadline; null without a bound. */
      readonly deadline_ms: number | null;
      /** The tool's own, where its declaration has one. */
      readonly configuration?: JsonObject;
    }
  /** Sent under the sequence of the record that says that the call is over. */
  | { readonly type: 'cancel'; readonly target_sequence: Sequence };

/** How an operation that outlives its own answer is reported back. */
export interface Callback {
  readonly url: string;
  readonly token: string;
  readonly methods: readonly CallbackMethod[];
}

export type CallbackMethod = 'result' | 'emit' | 'progress';

export interface Operation {
  readonly session_id: string;
  readonly environment: string;
  readonly sequence: Sequence;
  readonly request: OperationRequest;
  readonly callback?: Callback;
}

export type Receipt =
  /** Taken on. To an `invoke` the result is still to come; anything else is done. */
  | { readonly type: 'accepted' }
  | { readonly type: 'result'; readonly output: JsonValue }
  | { readonly type: 'failure'; readonly code: string; readonly message: string; readonly retryable: boolean; readonly details?: JsonObject }
  | { readonly type: 'unknown'; readonly message: string };

/** What became of a receipt that was reported. `late`: another end stands. An error: nobody knows, since its record failed. */
export type Kept = 'recorded' | 'late' | ServiceError;

/** What whoever reported a result is told where the record of it failed. */
export function lostRecord(cause: unknown): ServiceError {
  return new ServiceError('journal_unavailable', 'whether this result was recorded is unknown: look at the session', { cause });
}

/** A receipt after which nothing more is to come of an operation. */
export type FinalReceipt = Exclude<Receipt, { readonly type: 'accepted' }>;

/** What is said while an operation is under way. Refused with an error once it is over. */
export interface OperationListener {
  /** Records an extension event; resolves when it is durable. Rejects with a `ServiceError` where it is refused. */
  emit(type: string, data: JsonValue): Promise<void>;
  progress(progress: { readonly message?: string; readonly fraction?: number }): void;
}

export interface OperationCall {
  readonly tenant: string;
  readonly environment: ResolvedEnvironment;
  /** Without a callback: that is the driver's to add. */
  readonly operation: Operation;
  /** The session's own copy of the environment's credential; null where it is called without one. */
  readonly credential: string | null;
  /** Null for an operation that has nothing to say but its end. */
  readonly listener: OperationListener | null;
}

/** Something that was begun, and has an end to come: what is known of it meanwhile, and how it is let go. */
export interface BegunCall {
  /** What is known of it without an end, at this moment, when its time is up. */
  atDeadline(): 'timeout' | 'unknown';
  /** Whether any of it may have reached its executor. False: it is known that nothing did, and nothing will once it is closed. */
  mayHaveArrived(): boolean;
  /**
   * What came of it is on record: whoever reported that may be told so. `failure`: its record failed, so that nobody knows,
   * and whoever reported it is told that. To be called before `close`, where either is so.
   */
  recorded(failure?: ServiceError): void;
  /**
   * Nobody waits any more: what comes later is refused, and whatever is held open for it is let go. To be called once,
   * however it ended. `cancelAs`: the sequence of the record that says that it was cancelled or ran out of time, under which
   * its executor is told to stop; null where there is nothing to stop, or nobody to tell. Resolves when the executor is known
   * to have stopped, or to be gone. Never rejects.
   */
  close(cancelAs: Sequence | null): Promise<void>;
}

/** An operation that was handed to its driver. */
export interface SentOperation extends BegunCall {
  /** Never rejects. For an `invoke` it is final: where the environment accepted it, it is the result that came later. */
  readonly receipt: Promise<Receipt>;
}

/** A way to reach environments: over HTTP, or through a host that the user runs. */
export interface EnvironmentDriver {
  /** Sends it, once. */
  send(call: OperationCall): SentOperation;
}

/** The drivers of this server, by name. */
export type EnvironmentDrivers = Readonly<Record<ResolvedEnvironment['driver'], EnvironmentDriver>>;
