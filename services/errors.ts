/**
 * What the application API can answer instead of a result. `message` is for the client: one line, no path, no secret.
 * The HTTP status of each code, and whether it is logged, stands in one table in `http/errors.ts`.
 */
import type { JsonObject } from '../machines/messages.ts';

export type ServiceErrorCode =
  | 'invalid_request'
  | 'invalid_cursor'
  | 'reserved_type'
  | 'forbidden'
  | 'not_found'
  | 'session_busy'
  | 'session_ending'
  | 'session_ended'
  | 'must_resume'
  | 'not_resumable'
  | 'must_end'
  | 'already_started'
  | 'conflict'
  | 'already_closed'
  | 'too_large'
  | 'idempotency_in_progress'
  | 'idempotency_ambiguous'
  | 'idempotency_mismatch'
  | 'unknown_agentloop'
  | 'unknown_provider'
  | 'unknown_tool'
  | 'unknown_environment'
  | 'unknown_credential'
  | 'environment_failed'
  | 'teardown_failed'
  | 'queue_full'
  | 'internal'
  | 'journal_corrupt'
  | 'journal_unavailable'
  | 'disk_full'
  | 'draining';

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  /** `field`: a JSON pointer into the body; `file`, `offset`: where a journal is damaged. */
  readonly details: JsonObject | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    evidence: { readonly details?: JsonObject; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: evidence.cause });
    this.code = code;
    this.details = evidence.details;
  }
}
