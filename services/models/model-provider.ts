/**
 * The port to a model. A provider sends one request and never a second: no retry, no redirect, no token count first.
 *
 *   M1. `call` never rejects: whatever happens is an outcome.
 *   M2. `failed` only where the provider itself said no (a status of 400 and up, an error of its own in the stream, a
 *       refused connection, a name that does not resolve). A connection lost after the first byte was sent, a stream
 *       without its end: `unknown`. A call that was aborted by `signal` first: `cancelled`.
 *   M3. A message comes back whole or not at all: nothing of a broken stream is in an outcome.
 *   M4. After `signal` aborts, the connection is closed and the outcome follows soon.
 *   M5. No secret is in an outcome's code or message.
 */
import type { JsonObject, Message } from '../../machines/messages.ts';
import type { EffectOutcome, FinishReason, ResolvedModel, Usage } from '../../machines/records.ts';

/** A tool as a model is told of it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

/** Parameters that a loop may set: `max_output_tokens`, `temperature`, `reasoning_effort`. */
export interface ModelRequest {
  readonly model: ResolvedModel;
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly parameters?: JsonObject;
}

/** A piece of a streamed answer, for whoever watches. Live only. */
export type ModelDelta = { readonly text: string } | { readonly reasoning: string } | { readonly tool_input: string };

export type ModelOutcome =
  | {
      readonly outcome: 'ended';
      readonly message: Message;
      readonly finish_reason: FinishReason;
      readonly usage?: Usage;
    }
  | { readonly outcome: EffectOutcome; readonly code: string; readonly message: string; readonly usage?: Usage };

export interface ModelProvider {
  call(
    request: ModelRequest,
    context: { readonly signal: AbortSignal; readonly onDelta: (delta: ModelDelta) => void },
  ): Promise<ModelOutcome>;
}

/** The models of this server: what a name stands for at create, and what answers a resolved model's calls. */
export interface ModelRegistry {
  /** Resolves a name once, at create. Null where the provider is unknown or not configured. */
  resolve(model: { readonly provider: string; readonly name: string }): ResolvedModel | null;
  /**
   * The provider for a resolved model; null where this server has none any more. `credential`: the session's own, which
   * is sent in place of the server's key, to the address that the model was resolved to and to no other.
   */
  provider(model: ResolvedModel, credential?: string): ModelProvider | null;
}
