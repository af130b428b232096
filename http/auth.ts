/**
 * Who is calling. With an API key, whoever shows it; without one, whoever reaches the loopback address.
 *
 *   U1. Without a key, a web page that some browser on this machine has open must not be taken for its user. A page of
 *       another site reaches this port by a name of its own (DNS rebinding), or blindly from its own origin: so the
 *       `Host` is a loopback name, and so is the `Origin` of whatever changes something.
 *   U2. Tokens are compared in constant time, and no token is in a message, a log line or an answer.
 *   U3. The check comes before anything else of a request is looked at.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import type { Caller } from './caller.ts';
import { HttpError } from './errors.ts';
import { isLoopbackAuthority } from './loopback.ts';
import { wantsEventStream } from './negotiation.ts';

const LOCAL: Caller = { tenant: 'local', scope: 'manage' };

/** The caller of a request; throws for those who may not call at all. */
export function createAuthentication(apiKey: string | undefined): (context: Context) => Caller {
  if (apiKey === undefined) return authenticateLocal;
  const expected = digest(apiKey);
  return (context) => {
    const token = tokenOf(context);
    if (token !== null && timingSafeEqual(digest(token), expected)) return LOCAL;
    throw new HttpError(
      'unauthorized',
      token === null ? 'this server needs a token: send Authorization: Bearer TOKEN' : 'this token is not valid',
      { headers: { 'WWW-Authenticate': token === null ? 'Bearer realm="brain"' : 'Bearer realm="brain", error="invalid_token"' } },
    );
  };
}

function authenticateLocal(context: Context): Caller {
  const { host, origin } = context.req.headers;
  if (host === undefined || !isLoopbackAuthority(host)) {
    throw new HttpError('forbidden', 'without BRAIN_API_KEY the Host must be a loopback name such as localhost or 127.0.0.1');
  }
  const changesSomething = context.method !== 'GET' && context.method !== 'HEAD';
  if (changesSomething && origin !== undefined && !isLoopbackOrigin(origin)) {
    throw new HttpError('forbidden', 'without BRAIN_API_KEY a page of another site may not call this server');
  }
  return LOCAL;
}

function isLoopbackOrigin(origin: string): boolean {
  const authority = /^https?:\/\/(.+)$/.exec(origin)?.[1];
  return authority !== undefined && isLoopbackAuthority(authority);
}

/** The token that a request shows: null for none, and empty, which no key is, for what is no bearer token. */
function tokenOf(context: Context): string | null {
  const header = context.req.headers.authorization;
  if (header !== undefined) return /^Bearer +([^\s]+) *$/i.exec(header)?.[1] ?? '';
  if (!isEventStream(context)) return null;
  const token = context.query['access_token'];
  return typeof token === 'string' ? token : null;
}

/** Only there may a token stand in the address: a browser's EventSource can set no header. */
function isEventStream(context: Context): boolean {
  return context.method === 'GET' && /^\/v1\/sessions\/[^/]+\/events$/.test(context.path) && wantsEventStream(context);
}

/** Equal lengths, whatever was sent: the comparison needs them, and must not tell the length of the key. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
