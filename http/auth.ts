/**
 * Who is calling. With an API key, whoever shows it or one of the other tokens; without one, whoever reaches the loopback
 * address, and a token still stands for itself.
 *
 *   U1. Without a key, a web page that some browser on this machine has open must not be taken for its user. A page of
 *       another site reaches this port by a name of its own (DNS rebinding), or blindly from its own origin: so the
 *       `Host` is a loopback name, and so is the `Origin` of whatever changes something, where the operator does not list it.
 *   U2. Tokens are compared in constant time, and no token is in a message, a log line or an answer.
 *   U3. The check comes before anything else of a request is looked at.
 *   U4. What is written like one of the other tokens and counts no more is refused, with a key or without: whoever had
 *       little would otherwise have everything once it is revoked. So is a host's token, which is for the host's own routes.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { isHostToken } from '../services/environments/host-tokens.ts';
import { KEY_ID, NOBODY_ID } from '../services/issuers.ts';
import type { TokenService } from '../services/tokens.ts';
import type { Caller } from './caller.ts';
import { HttpError } from './errors.ts';
import { isLoopbackAuthority } from './loopback.ts';
import { wantsEventStream } from './negotiation.ts';

const LOCAL = { tenant: 'local', scope: 'manage', sessionId: null, ended: null } as const satisfies Omit<Caller, 'tokenId'>;

export interface KnownTokens {
  /** That of the tenant `local`. Undefined: whoever reaches the server is its user. */
  readonly apiKey: string | undefined;
  readonly tokens: TokenService;
  /** The origins whose pages may call. */
  readonly corsOrigins: readonly string[];
}

/** Lets through who may call, and notes who that is. */
export function authenticate(known: KnownTokens): Middleware {
  const callerOf = createAuthentication(known);
  return async (context, next) => {
    context.state['caller'] = await callerOf(context);
    await next();
  };
}

/** The caller of a request; rejects for those who may not call at all. */
function createAuthentication({ apiKey, tokens, corsOrigins }: KnownTokens): (context: Context) => Promise<Caller> {
  const expected = apiKey === undefined ? null : digest(apiKey);
  return async (context) => {
    if (expected === null) refuseOtherSites(context, corsOrigins);
    const token = tokenOf(context);
    if (expected === null && (token === null || !(tokens.isToken(token) || isHostToken(token)))) return { ...LOCAL, tokenId: NOBODY_ID };
    if (token === null) throw unauthorized('this server needs a token: send Authorization: Bearer TOKEN', 'Bearer realm="brain"');
    if (expected !== null && timingSafeEqual(digest(token), expected)) return { ...LOCAL, tokenId: KEY_ID };
    const holder = await tokens.holderOf(token);
    if (holder === null) throw invalidToken();
    return holder;
  };
}

/** The token of a request that no caller's token opens; rejects where it shows none. */
export function ownTokenOf(context: Context): string {
  const token = bearerTokenOf(context);
  if (token === null) throw unauthorized('this route needs the token that was made for it: send Authorization: Bearer TOKEN', 'Bearer realm="brain"');
  return token;
}

export function invalidToken(): HttpError {
  return unauthorized('this token is not valid', 'Bearer realm="brain", error="invalid_token"');
}

function unauthorized(message: string, challenge: string): HttpError {
  return new HttpError('unauthorized', message, { headers: { 'WWW-Authenticate': challenge } });
}

function refuseOtherSites(context: Context, corsOrigins: readonly string[]): void {
  const { host, origin } = context.req.headers;
  if (host === undefined || !isLoopbackAuthority(host)) {
    throw new HttpError('forbidden', 'without BRAIN_API_KEY the Host must be a loopback name such as localhost or 127.0.0.1');
  }
  const changesSomething = context.method !== 'GET' && context.method !== 'HEAD';
  if (changesSomething && origin !== undefined && !isLoopbackOrigin(origin) && !corsOrigins.includes(origin)) {
    throw new HttpError('forbidden', 'without BRAIN_API_KEY a page of another site may not call this server');
  }
}

function isLoopbackOrigin(origin: string): boolean {
  const authority = /^https?:\/\/(.+)$/.exec(origin)?.[1];
  return authority !== undefined && isLoopbackAuthority(authority);
}

/** In its header: null for none, and empty, which no token is, for what is no bearer token. */
function bearerTokenOf(context: Context): string | null {
  const header = context.req.headers.authorization;
  return header === undefined ? null : (/^Bearer +([^\s]+) *$/i.exec(header)?.[1] ?? '');
}

/** The token that a request shows, in its header or its address. */
function tokenOf(context: Context): string | null {
  const shown = bearerTokenOf(context);
  if (shown !== null || !isEventStream(context)) return shown;
  const token = context.query['access_token'];
  return typeof token === 'string' ? token : null;
}

/** Only there may a token stand in the address: a browser's EventSource can set no header. */
function isEventStream(context: Context): boolean {
  return context.method === 'GET' && /^(?:\/v1)?\/sessions\/[^/]+\/events$/.test(context.path) && wantsEventStream(context);
}

/** Equal lengths, whatever was sent: the comparison needs them, and must not tell the length of the key. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
