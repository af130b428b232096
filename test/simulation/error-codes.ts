/** What the auditor hears of an error: its code, and of one that nobody foresaw its cause. */
import { ServiceError } from '../../services/errors.ts';

export function codeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code === 'internal' ? `internal: ${causeOf(error)}` : error.code;
  return `not a service error: ${String(error)}`;
}

function causeOf(error: Error): string {
  const cause: unknown = error.cause;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
