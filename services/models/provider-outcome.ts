/**
 * What became of a call that threw. `failed` is said only where the provider itself said no, or where nothing can have
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
  UND_ERR_CONNECT_TIMEOUT: failed('connect_timeout', 'the model provider did not take the connection in time'),
  DEPTH_ZERO_SELF_SIGNED_CERT: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  SELF_SIGNED_CERT_IN_CHAIN: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: failed('certificate_refused', 'the certificate of the model provider is not trusted'),
  CERT_HAS_EXPIRED: failed('certificate_refused', 'the certificate of the model provider has expired'),
  ERR_TLS_CERT_ALTNAME_INVALID: failed('certificate_refused', 'the certificate of the model provider is for another name'),
};

export interface CallFacts {
  readonly isCancelled: boolean;
  /** Whether the request was handed to the network. */
  readonly isSent: boolean;
  /** The status of the answer; null where there was none. */
  readonly status: number | null;
  readonly apiKey: string | undefined;
}

export function outcomeOf(error: unknown, { isCancelled, isSent, status: answered, apiKey }: CallFacts): NoAnswer {
  // First, since an aborted request looks like a lost connection.
  if (isCancelled) return CANCELLED;
  if (error instanceof UnsupportedContent) return failed('unsupported_content', `the model cannot be sent ${shortened(error.message, undefined)}`);
  if (!isSent) return failed('not_sent', 'the request to the model could not be made');
  if (error instanceof ProviderFailure) return providerFailed(error, apiKey);
  if (error instanceof MalformedStream) return unknown('malformed_stream', `the answer of the model is malformed: ${error.message}`);
  const status = statusOf(error);
  if (status !== null && status >= 400) {
    if (answered !== null && answered < 300) return ofStream(error, apiKey);
    return failed(`http_${status}`, `the model provider answered ${status}${reasonOf(error, apiKey)}`);
  }
  if (status !== null && status >= 300) return unknown(`http_${status}`, `the model provider answered ${status}`);
  const chain = causesOf(error);
  if (chain.some(({ name }) => name === 'AI_InvalidResponseDataError')) {
    return unknown('malformed_stream', 'the answer of the model is malformed');
  }
  if (chain.some(({ message }) => message === 'bad port')) {
    return failed('not_sent', 'the port of the model provider is one that no request may be sent to');
  }
  if (chain.some(({ message }) => message === 'unexpected redirect')) {
    return unknown('redirect_refused', 'the model provider redirects, which is not followed');
  }
  const never = chain.filter(isOfConnecting).map(codeOf).find((code) => Object.hasOwn(NEVER_CONNECTED, code));
  return (
    (never === undefined ? undefined : NEVER_CONNECTED[never]) ??
    unknown('connection_lost', 'the connection to the model provider was lost before the answer was complete')
  );
}

function failed(code: string, message: string): NoAnswer {
  return { outcome: 'failed', code, message };
}

function unknown(code: string, message: string): NoAnswer {
  return { outcome: 'unknown', code, message };
}

/**
 * Some libraries look at the beginning of a stream and make up a status for what they find there: an error that the
 * provider sent, which says of what type it is, or something that they could not read.
 */
function ofStream(error: unknown, apiKey: string | undefined): NoAnswer {
  const said = error instanceof Error && 'responseBody' in error && typeof error.responseBody === 'string' ? error.responseBody : '';
  if (said.startsWith('{"type":"')) return providerFailed(error, apiKey);
  return unknown('malformed_stream', 'the answer of the model is malformed');
}

function providerFailed(error: unknown, apiKey: string | undefined): NoAnswer {
  return failed('provider_error', `the model provider failed${reasonOf(error, apiKey)}`);
}

/** The error's own status, or that of the answer in which it came up. */
function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null;
}

function reasonOf(error: unknown, apiKey: string | undefined): string {
  const said = error instanceof Error ? shortened(error.message, apiKey) : '';
  return said === '' ? '' : `: ${said}`;
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

/** A connection that stood can be lost for some of the same reasons, while it is read or written. */
function isOfConnecting(error: Error): boolean {
  return !('syscall' in error) || error.syscall === 'connect' || error.syscall === 'getaddrinfo';
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
