/** What a host is told, and what it answers. */
import type { RegisteredHostAnswer } from '../http/wire/hosts.ts';

export type RegisteredHost = RegisteredHostAnswer;

export interface CommandName {
  readonly session_id: string;
  readonly sequence: number;
}

export type CommandRequest =
  | { readonly type: 'invoke'; readonly tool: string; readonly input: unknown }
  | { readonly type: 'setup'; readonly configuration: Readonly<Record<string, unknown>> }
  | { readonly type: 'detach' | 'teardown' };

export interface HostOperation extends CommandName {
  readonly environment: string;
  readonly request: CommandRequest;
}

export type HostNews = { readonly type: 'command'; readonly operation: HostOperation } | ({ readonly type: 'cancel' } & CommandName);

export type HostReceipt =
  | { readonly type: 'accepted' }
  | { readonly type: 'result'; readonly output: unknown }
  | { readonly type: 'failure'; readonly code: string; readonly message: string; readonly retryable: boolean; readonly details?: Readonly<Record<string, unknown>> }
  | { readonly type: 'unknown'; readonly message: string };

export function commandKey({ session_id, sequence }: CommandName): string {
  return `${session_id}/${sequence}`;
}

export function failure(code: string, message: string): HostReceipt {
  return { type: 'failure', code, message, retryable: false };
}
