/**
 * Who carries a tool call out: this server's own process, or an environment.
 *
 *   E1. `invoke` is called once for each recorded call, and begins it before it returns. It never throws: a fault in it is
 *       an answer like any other.
 *   E2. What comes back is as it came from outside: whoever records it cleans it.
 */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import type { Sequence } from '../../machines/records.ts';
import type { OperationListener } from '../environments/operation.ts';
import type { ServiceError } from '../errors.ts';

export interface StartedCall {
  readonly input: JsonValue;
  /** That of its `tool_call_started`: with the session's id, its name everywhere. */
  readonly sequence: Sequence;
  /** What is left until its deadline; null without a bound. */
  readonly deadlineMs: number | null;
  readonly listener: OperationListener;
}

export type ToolAnswer =
  | { readonly kind: 'returned'; readonly output: unknown }
  /** `details`: what else is known, for the model. */
  | { readonly kind: 'failed'; readonly message: string; readonly details?: JsonObject }
  | { readonly kind: 'unknown'; readonly message: string };

/** A call that was begun. */
export interface ToolInvocation {
  /** Never rejects. */
  readonly answer: Promise<ToolAnswer>;
  /** What is known of a call without an answer, at this moment, when its time is up. */
  atDeadline(): 'timeout' | 'unknown';
  /** Whether any of it may have reached whoever carries it out. False: nothing did, and nothing will once it is closed. */
  mayHaveArrived(): boolean;
  /** The answer is on record, or, with `failure`, nobody knows: whoever reported it may be told. To be called before `close`. */
  recorded(failure?: ServiceError): void;
  /**
   * Nobody waits any more. To be called once, however the call ended. `cancelAs`: the record that says that it was cancelled
   * or ran out of time, where it is one. Resolves when the executor has stopped. Never rejects.
   */
  close(cancelAs: Sequence | null): Promise<void>;
}

export interface ToolExecutor {
  invoke(call: StartedCall): ToolInvocation;
}
