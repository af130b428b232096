/**
 * Turns whatever a route throws into the one error shape, and hears of the failures that the operator must know.
 *
 *   F1. An answer that refuses a body is given while the rest of it may still be coming. What is not read yet is not
 *       read at all; the client gets a moment to see the answer, since closing with unread bytes would take it away.
 */
import type { RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { Clock, Log, LogFacts } from '../services/ports.ts';
import { answerTo, HttpError, traceOf } from './errors.ts';
import { isReplay } from './keyed.ts';
import type { ErrorAnswer } from './wire/answers.ts';

// Long enough for the answer to cross any network, short enough that a client that sends on for ever holds nothing.
const UNREAD_BODY_GRACE_MS = 1000;

export function answerFailures(ports: { readonly clock: Clock; readonly log: Log }): Middleware {
  return async (context, next) => {
    try {
      refuseUnreadable(context);
      await next();
    } catch (error) {
      logFailure(ports.log, context, error);
      const { rule, headers, body } = answerTo(error);
      context.status = rule.status;
      context.set(headers);
      answerJson(context, body);
      if (!context.req.complete) await answerAndHangUp(context, JSON.stringify(body), ports.clock);
    }
  };
}

/** Text is made of the answer here, so that what cannot be rendered fails where failures are answered. */
export function answerJson(context: Context, body: unknown): void {
  context.body = JSON.stringify(body);
  context.type = 'application/json; charset=utf-8';
}

/** No route took the request: its path is unknown, or known with other methods. */
export const answerUnrouted: Middleware = (context) => {
  const layers = context['matched'] as readonly { readonly methods: readonly string[] }[] | undefined;
  const methods = [...new Set((layers ?? []).flatMap((layer) => layer.methods))].sort();
  if (methods.length === 0) throw new HttpError('not_found', 'there is nothing at this path');
  const allowed = methods.join(', ');
  throw new HttpError('method_not_allowed', `this path takes ${allowed}`, { headers: { Allow: allowed } });
};

function refuseUnreadable(context: Context): void {
  if (context.req.httpVersion === '1.1' && context.req.headers.host === undefined) {
    throw new HttpError('invalid_request', 'a request in HTTP/1.1 must have a Host header');
  }
  try {
    // A target such as `http://[` has no path, and asking for one throws.
    void context.path;
  } catch (error) {
    throw new HttpError('invalid_request', 'the address of the request cannot be read', { cause: error });
  }
}

function logFailure(log: Log, context: Context, error: unknown): void {
  const { rule, body } = answerTo(error);
  if (rule.log === 'never') return;
  const about = { code: body.error.code, method: context.method, ...routeOf(context) };
  if (rule.isOutcome !== true) log[rule.log]('request_failed', { ...about, trace: traceOf(error) });
  else if (!isReplay(context)) log[rule.log]('request_failed', { ...about, session_id: sessionIn(body), message: body.error.message });
}

/** A create's address names no session. */
function sessionIn({ error: { details } }: ErrorAnswer): string | null {
  const id = details?.['session_id'];
  return typeof id === 'string' ? id : null;
}

/** The route and the session, and never the address itself: that of a stream may hold a token. */
export function routeOf(context: Context): LogFacts {
  const { _matchedRoute: route, params } = context as Context & Partial<RouterContext>;
  return { route: route ?? null, session_id: params?.['session_id'] ?? null };
}

async function answerAndHangUp(context: Context, body: string, clock: Clock): Promise<void> {
  const { res } = context;
  context.respond = false;
  context.set('Connection', 'close');
  res.write(body);
  await new Promise<void>((resolve) => {
    const cancel = clock.after(UNREAD_BODY_GRACE_MS, resolve);
    res.once('close', () => {
      cancel();
      resolve();
    });
  });
  res.end();
}
