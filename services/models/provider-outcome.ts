/**
 * What became of a call that has no answer. `failed` is said only where the provider itself said no, or where nothing can have
 * reached it; whatever else went wrong after the request was handed to the network is `unknown`.
 */
import { plainText } from '../../machines/plain-data.ts';
import type { Usage } from '../../machines/records.ts';
import type { ModelOutcome } from './model-provider.ts';
import { UnsupportedContent } from './request-content.ts';
import { MalformedStream, ProviderFailure } from './stream-errors.ts';

type NoAnswer = Exclude<ModelOutcome, { readonly outcome: 'ended' }>;

// Enough for a sentence or two; a provider that echoes the whole request must not fill the journal with it.
const PROVIDER_MESSAGE_CHARACTERS_MAX = 300;

export const CANCELLED: NoAnswer = { outcome: 'cancelled', code: 'cancelled', message: 'the call was cancelled' };

/** A stream that ended before the answer did, or that does not say how the answer ended. */
export function incompleteAnswer(more: { readonly usage?: Usage }): NoAnswer {
  return { ...unknown('incomplete_answer', 'the answer of the model did not say that it was complete'), ...more };
}

/** The errors of a connection that never stood, by their codes: nothing has been sent. */
const NEVER_CONNECTED: Readonly<Record<string, NoAnswer>> = {
  ECONNREFUSED: failed('connection_refused', 'the model provider refused the connection'),
  ENOTFOUND: failed('name_not_resolved', 'the name of the model provider does not resolve'),
  EAI_AGAIN: failed('name_not_resolved', 'the name of the model provider does not resolve'),
  EHOSTUNREACH: failed('host_unreachable', 'the model provider cannot be reached'),
  ENETUNREACH: failed('host_unreachable', 'the model provider cannot be reached'),
  CONNECT_TIMEOUT: failed('connect_timeout', 'the model provider did not take the connection in time'),
  DEPTH_ZERO_SELF_SIGNED_CERT: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  SELF_SIGNED_CERT_IN_CHAIN: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  CERT_HAS_EXPIRED: failed('certificate_refused', 'the certificate of the model provider has expired'),
  ERR_TLS_CERT_ALTNAME_INVALID: failed('certificate_refused', 'the certificate of the model provider is for another name'),
};

export interface CallFacts {
  readonly isCancelled: boolean;
  /** Whether the connection stood: before that nothing can have reached the provider. */
  readonly isConnected: boolean;
  /** The status of the answer; null where there was none. */
  readonly status: number | null;
  readonly apiKey: string | undefined;
}

export function outcomeOf(error: unknown, { isCancelled, isConnected, status, apiKey }: CallFacts): NoAnswer {
  // First, since an aborted request looks like a lost connection.
  if (isCancelled) return CANCELLED;
  if (error instanceof UnsupportedContent) return failed('unsupported_content', `the model cannot be sent ${shortened(error.message, undefined)}`);
  if (!isConnected) return notConnected(error);
  if (status !== null && status >= 400) return refusalOf('', { status, reason: '', apiKey });
  if (status !== null && REDIRECTS.includes(status)) return unknown('redirect_refused', 'the model provider redirects, which is not followed');
  if (status !== null && (status < 200 || status >= 300)) return unknown(`http_${status}`, `the model provider answered ${status}`);
  if (error instanceof ProviderFailure) return failed('provider_error', `the model provider failed${reasonOf(error.message, apiKey)}`);
  if (error instanceof MalformedStream) return unknown('malformed_stream', `the answer of the model is malformed: ${error.message}`);
  return unknown('connection_lost', 'the connection to the model provider was lost before the answer was complete');
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A provider that said no with a status: in its own words where its body has any. */
export function refusalOf(
  body: string,
  { status, reason, apiKey }: { readonly status: number; readonly reason: string; readonly apiKey: string | undefined },
): NoAnswer {
  return failed(`http_${status}`, `the model provider answered ${status}${reasonOf(wordsIn(body) ?? reason, apiKey)}`);
}

/** The message of an error as all protocols write it; null where the body is none. */
function wordsIn(body: string): string | null {
  try {
    const said: unknown = JSON.parse(body);
    if (typeof said !== 'object' || said === null || !('error' in said) || typeof said.error !== 'object' || said.error === null) return null;
    return 'message' in said.error && typeof said.error.message === 'string' ? said.error.message : null;
  } catch {
    return null;
  }
}

function notConnected(error: unknown): NoAnswer {
  const code = causesOf(error).map(codeOf).find((one) => Object.hasOwn(NEVER_CONNECTED, one));
  return (code === undefined ? undefined : NEVER_CONNECTED[code]) ?? failed('not_sent', 'the request to the model could not be made');
}

function failed(code: string, message: string): NoAnswer {
  return { outcome: 'failed', code, message };
}

function unknown(code: string, message: string): NoAnswer {
  return { outcome: 'unknown', code, message };
}

function reasonOf(said: string, apiKey: string | undefined): string {
  const reason = shortened(said, apiKey);
  return reason === '' ? '' : `: ${reason}`;
}

/** What a provider said, fit for a client: one line, not long, and without the key, which some of them echo. */
function shortened(message: string, apiKey: string | undefined): string {
  const shown = apiKey === undefined ? message : message.replaceAll(apiKey, '[secret removed]');
  const line = shown.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  if (line.length <= PROVIDER_MESSAGE_CHARACTERS_MAX) return plainText(line);
  return `${plainText(line.slice(0, PROVIDER_MESSAGE_CHARACTERS_MAX))}…`;
}

/** The error with everything that caused it. A name with several addresses fails with one error for each. */
function causesOf(error: unknown): readonly Error[] {
  const found: Error[] = [];
  let next: readonly unknown[] = [error];
  while (next.length > 0) {
    const errors = next.filter((one): one is Error => one instanceof Error && !found.includes(one));
    found.push(...errors);
    next = errors.flatMap((one) => [one.cause, ...errorsOf(one)]);
  }
  return found;
}

function errorsOf(error: Error): readonly unknown[] {
  return error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
