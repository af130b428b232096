/**
 * The port to a tool that runs in this server's own process.
 *
 *   T1. `run` may throw or reject: that is an error result, with the message for the model. It is called once per
 *       recorded call and never again.
 *   T2. `signal` aborts when the call is cancelled or its deadline passes. A tool that ignores it is not waited for
 *       beyond the cleanup bound, and its late answer goes nowhere.
 */
import type { JsonObject, JsonValue } from '../../machines/messages.ts';
import type { SideEffect } from '../../machines/records.ts';

/** The environment of the tools that run in this server's own process. */
export const OWN_ENVIRONMENT = 'brain';

/** How many tools one declaration, or one session, has: providers take no more in one request. */
export const TOOLS_MAX = 128;

export interface ToolContext {
  readonly signal: AbortSignal;
  readonly session_id: string;
  /** The sequence of this call's `tool_call_started`: with the session's id, its name everywhere. */
  readonly sequence: number;
  /** Records an extension event of this call; resolves when it is durable, rejects where it is refused. */
  emit(type: string, data: JsonValue): Promise<void>;
  /** Tells whoever is watching right now; not recorded. */
  progress(progress: { readonly message?: string; readonly fraction?: number }): void;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  readonly effect: SideEffect;
  /** The tenants that may use it; absent: every tenant. */
  readonly tenants?: readonly string[];
  run(input: JsonValue, context: ToolContext): Promise<JsonValue | undefined>;
}

/** The tools that this server has. */
export interface ToolRegistry {
  /** A tool by name, if the tenant may use it. */
  find(tenant: string, name: string): Tool | null;
  /** The demo's own tools, offered to a demo session that names none. */
  readonly demoTools: readonly Tool[];
}
