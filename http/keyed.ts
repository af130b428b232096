/**
 * `Idempotency-Key`: a repeat of a request gets the first one's answer. The key is looked up once the caller is known and
 * before anything else is checked, since what is wrong by now (a busy session, a shutdown) was right the first time.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Context } from 'koa';
import type { JsonValue } from '../machines/messages.ts';
import type { Surface } from '../machines/records.ts';
import { KeyedCall, type KeyedRoute, type RouteAnswers } from '../services/keyed-call.ts';
import type { SessionService } from '../services/session-service.ts';
import { HttpError } from './errors.ts';

export const KEY_BYTES_MAX = 256;

const REPLAYED = 'Idempotent-Replayed';

export interface KeyedScope<R extends KeyedRoute> {
  readonly tenant: string;
  /** Null for a create. */
  readonly sessionId: string | null;
  readonly route: R;
  readonly body: JsonValue | undefined;
  /** Default: `v1`. */
  readonly surface?: Surface;
}

/** Answers a route's request: again, where its key was used before; else by `work`, which checks what is still to check. */
export async function answerOnce<R extends KeyedRoute>(
  context: Context,
  sessions: SessionService,
  { tenant, sessionId, route, body, surface }: KeyedScope<R>,
  work: (keyed: KeyedCall<R> | undefined) => Promise<RouteAnswers[R]>,
): Promise<RouteAnswers[R]> {
  const key = keyOf(context);
  if (key === null) return work(undefined);
  const call = new KeyedCall(route, key, hashOf(body), surface);
  try {
    const repeated = await sessions.repeated(tenant, sessionId, call);
    if (repeated === null) return await work(call);
    call.isReplayed = true;
    return repeated.answer;
  } finally {
    // The first answer may have been an error.
    if (call.isReplayed) context.set(REPLAYED, 'true');
  }
}

/** Whether the request is answered as an earlier one was. */
export function isReplay(context: Context): boolean {
  return context.res.hasHeader(REPLAYED);
}

/** Null where the request has none. */
function keyOf(context: Context): string | null {
  // Most requests have none, and a table of all headers is made for whoever asks how often one was sent.
  if (context.req.headers['idempotency-key'] === undefined) return null;
  const given = context.req.headersDistinct['idempotency-key'] ?? [];
  const [bytes = ''] = given;
  // A header comes as Latin-1, one character for each byte; what was sent is UTF-8.
  const key = decodeUtf8(Buffer.from(bytes, 'latin1'));
  const isText = key !== null && bytes.length >= 1 && bytes.length <= KEY_BYTES_MAX && !/\p{Cc}/u.test(key);
  if (given.length === 1 && isText) return key;
  throw new HttpError('invalid_request', `the Idempotency-Key must be sent once, as 1 to ${KEY_BYTES_MAX} bytes of text in UTF-8`, {
    field: '/Idempotency-Key',
  });
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    // A mark at the beginning is a part of the key: without it this would be another one.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Of the canonical JSON: the order of keys, white space and escapes make no other body. No body is the empty object. */
function hashOf(body: JsonValue | undefined): string {
  return createHash('sha256').update(canonicalize(body ?? {}) ?? '').digest('hex');
}
