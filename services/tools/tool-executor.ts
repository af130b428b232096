/**
 * Who carries a tool call out: this server's own process, or an environment.
 *
 *   E1. `invoke` is called once for each recorded call, and begins it before it returns. It never throws: a fault in it is
 *       an answer like any other.
 *   E2. What comes back is as it came from outside: whoever records it cleans it.
 */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import type { Sequence } from '../../machines/records.ts';
import type { BegunCall, OperationListener } from '../environments/operation.ts';

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
export interface ToolInvocation extends BegunCall {
  /** Never rejects. */
  readonly answer: Promise<ToolAnswer>;
}

export interface ToolExecutor {
  invoke(call: StartedCall): ToolInvocation;
}
