/**
 * Every code that a client can be answered with: its status, whether the very same request can succeed later, and
 * whether the operator hears of it. The table is the whole of it, and `docs/errors.md` explains each line.
 *
 *   E1. Nothing but a code of this table, a message that was written for clients, and its details reaches a client. An
 *       error that is not one of ours is `internal`: its message, stack and paths go to the log alone.
 */
import type { JsonObject } from '../machines/messages.ts';
import { ServiceError } from '../services/errors.ts';
import type { ErrorAnswer, ErrorCode } from './wire/answers.ts';

export interface ErrorRule {
  readonly status: number;
  /** The very same request can succeed later, with nothing changed by its sender. */
  readonly retryable: boolean;
  readonly log: 'never' | 'warn' | 'error';
  /** What the request came to, and no fault in here: its line has no trace, and a repeat that hears it again has none. */
  readonly isOutcome?: true;
  /** How long a client does well to wait, where that is known. */
  readonly retryAfterSecs?: number;
}

function refusal(status: number): ErrorRule {
  return { status, retryable: false, log: 'never' };
}

export const ERROR_RULES: Readonly<Record<ErrorCode, ErrorRule>> = {
  invalid_request: refusal(400),
  invalid_cursor: refusal(400),
  reserved_type: refusal(400),
  unauthorized: refusal(401),
  forbidden: refusal(403),
  not_found: refusal(404),
  method_not_allowed: refusal(405),
  session_busy: { status: 409, retryable: true, log: 'never' },
  session_ending: refusal(409),
  session_ended: refusal(409),
  must_resume: refusal(409),
  not_resumable: refusal(409),
  must_end: refusal(409),
  already_started: refusal(409),
  conflict: refusal(409),
  already_closed: refusal(409),
  idempotency_in_progress: { status: 409, retryable: true, log: 'never' },
  idempotency_ambiguous: refusal(409),
  too_large: refusal(413),
  unsupported_media_type: refusal(415),
  unknown_harness: refusal(422),
  unknown_agentloop: refusal(422),
  unknown_provider: refusal(422),
  unknown_tool: refusal(422),
  unknown_environment: refusal(422),
  unknown_credential: refusal(422),
  idempotency_mismatch: refusal(422),
  queue_full: { status: 429, retryable: true, log: 'never', retryAfterSecs: 1 },
  internal: { status: 500, retryable: false, log: 'error' },
  journal_corrupt: { status: 500, retryable: false, log: 'error' },
  environment_failed: { status: 502, retryable: false, log: 'warn', isOutcome: true },
  teardown_failed: { status: 502, retryable: false, log: 'warn', isOutcome: true },
  // Another instance, or this one after its restart, takes the request.
  draining: { status: 503, retryable: true, log: 'never', retryAfterSecs: 5 },
  journal_unavailable: { status: 503, retryable: true, log: 'warn', retryAfterSecs: 1 },
  disk_full: { status: 507, retryable: true, log: 'warn' },
};

/** What this layer itself refuses: the shape of a request, its sender, its route. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly details: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    evidence: { readonly field?: string; readonly headers?: Readonly<Record<string, string>>; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: evidence.cause });
    this.code = code;
    this.details = evidence.field === undefined ? undefined : { field: evidence.field };
    this.headers = evidence.headers ?? {};
  }
}

export interface Answer {
  readonly rule: ErrorRule;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorAnswer;
}

/** What a client hears of a failure. */
export function answerTo(error: unknown): Answer {
  if (error instanceof HttpError || error instanceof ServiceError) {
    const rule = ERROR_RULES[error.code];
    const headers = error instanceof HttpError ? error.headers : {};
    return {
      rule,
      headers: rule.retryAfterSecs === undefined ? headers : { ...headers, 'Retry-After': String(rule.retryAfterSecs) },
      body: errorBody(error.code, error.message, error.details),
    };
  }
  return {
    rule: ERROR_RULES.internal,
    headers: {},
    body: errorBody('internal', 'something went wrong inside the server; its log has the details'),
  };
}

export function errorBody(code: ErrorCode, message: string, details?: JsonObject): ErrorAnswer {
  const error = { code, message, retryable: ERROR_RULES[code].retryable };
  return { error: details === undefined ? error : { ...error, details } };
}

/** For the log: what happened, with all that led to it. */
export function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const trace = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? trace : `${trace}\ncaused by ${traceOf(error.cause)}`;
}
