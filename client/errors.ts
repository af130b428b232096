/**
 * What goes wrong, told apart by class.
 *
 *   E1. `BrainError`: Brain answered, and refused. Nothing happened unless the code says that nobody knows.
 *   E2. `BrainConnectionError`: there is no answer. The request may have arrived; under its key it can be sent again.
 *   E3. No message holds a token, a credential or what was sent.
 */
import type { ErrorCode as ServedErrorCode, TurnAnswer } from '../http/wire/answers.ts';

/** The codes that this version knows. A later server may say others. */
export type KnownErrorCode = ServedErrorCode;

export type ErrorCode = KnownErrorCode | (string & {});

export interface BrainErrorFacts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

export class BrainError extends Error {
  override readonly name = 'BrainError';
  readonly code: ErrorCode;
  /** Of HTTP. */
  readonly status: number;
  /** Whether the very same request can succeed later. */
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** How long to wait before it is sent again, where the server said so. */
  readonly retryAfterMs: number | undefined;
  /** The key that the request was sent under. */
  readonly idempotencyKey: string | undefined;

  constructor(facts: BrainErrorFacts) {
    super(`${facts.code}: ${facts.message}`);
    this.code = facts.code;
    this.status = facts.status;
    this.retryable = facts.retryable;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

export interface ConnectionFacts {
  /** Of HTTP, where something answered that is not Brain. */
  readonly status?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

export class BrainConnectionError extends Error {
  override readonly name: string = 'BrainConnectionError';
  readonly status: number | undefined;
  /** Sent again under this key, the request is not carried out twice. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { status, idempotencyKey, cause }: ConnectionFacts = {}) {
    super(message, { cause });
    this.status = status;
    this.idempotencyKey = idempotencyKey;
  }
}

/** No answer came within the time that the caller gave. What was asked for goes on. */
export class BrainTimeoutError extends BrainConnectionError {
  override readonly name = 'BrainTimeoutError';
}

/** The client was closed: before the call, or while it waited. */
export class BrainClosedError extends Error {
  override readonly name = 'BrainClosedError';

  constructor() {
    super('this client is closed');
  }
}

/** The caller's signal ended the wait. `cause` is the signal's reason. */
export class BrainAbortError extends Error {
  override readonly name = 'AbortError';
  /** The turn that was cancelled, once it is over. */
  readonly turn: TurnAnswer | undefined;
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: { readonly turn?: TurnAnswer; readonly idempotencyKey?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: facts.cause });
    this.turn = facts.turn;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** Another process took the name of a host of this client: it serves no tools under that name any more. */
export class BrainHostLostError extends Error {
  override readonly name = 'BrainHostLostError';
  readonly host: string;

  constructor(host: string) {
    super(`another process took the name of the host ${host}: give each program that runs at the same time a name of its own`);
    this.host = host;
  }
}

export interface OutputAttempt {
  readonly turn: TurnAnswer;
  /** What is wrong with its answer. */
  readonly problem: string;
}

/** No turn brought an answer of the type that was asked for. */
export class StructuredOutputError extends Error {
  override readonly name = 'StructuredOutputError';
  readonly attempts: readonly OutputAttempt[];

  constructor(attempts: readonly OutputAttempt[]) {
    const problem = attempts.at(-1)?.problem ?? 'there was no turn';
    super(`no answer of the type that was asked for in ${attempts.length} ${attempts.length === 1 ? 'turn' : 'turns'}; of the last: ${problem}`);
    this.attempts = attempts;
  }
}
