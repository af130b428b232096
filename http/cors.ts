/**
 * Pages of other origins: those that the operator lists may call this server and read what it answers, also where it
 * refuses them. The headers and the preflights are @koa/cors's.
 *
 *   X1. An origin is let in by being in the list, letter by letter. The page of any other gets an answer that its browser
 *       keeps from it.
 *   X2. Whoever calls shows a token: no page is let in by a cookie, so credentials in this sense are never allowed.
 */
import cors from '@koa/cors';
import type { Middleware } from 'koa';

/** What a page may read beside the few headers that browsers show of any answer. */
const EXPOSED_HEADERS = 'Allow,ETag,Idempotent-Replayed,Location,Preference-Applied,Retry-After,WWW-Authenticate';

// As long as browsers keep what a preflight said. An origin that is taken off the list cannot read answers from then on.
const PREFLIGHT_SECS = 7200;

/** Without origins nothing is said of any: answers are the same for everybody. */
export function allowOrigins(origins: readonly string[]): Middleware {
  if (origins.length === 0) return (_context, next) => next();
  const allowed = new Set(origins);
  return cors({
    origin: (context) => (allowed.has(context.get('Origin')) ? context.get('Origin') : ''),
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECS,
    // A page from elsewhere asks for this before it calls a server on its user's own machine.
    privateNetworkAccess: true,
    // Failures are answered inside of this: none passes.
    keepHeadersOnError: false,
  });
}

/** For an answer that is written past the application. `origin`: the request's, as far as it was read. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Readonly<Record<string, string>> {
  if (origins.length === 0) return {};
  if (origin === undefined || !origins.includes(origin)) return { Vary: 'Origin' };
  return { Vary: 'Origin', 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS };
}

/** The origin in the bytes of a request that the parser gave up on; undefined where it is not among them. */
export function originIn(bytes: Uint8Array): string | undefined {
  return /\r?\norigin:[ \t]*([^\s]+)[ \t]*\r?\n/i.exec(Buffer.from(bytes).toString('latin1'))?.[1];
}
