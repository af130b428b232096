/**
 * An application as a handler of requests: Koa's contexts and Koa's middleware, and an end of our own. Koa's keeps the
 * context of a request, with all that hangs on it, for as long as its response is open, to tell of a socket that breaks:
 * for a stream that is followed for hours this was more than the stream itself. Ours keeps nothing.
 *
 *   H1. A body is text or bytes, or there is none. Where a middleware says that it answers by itself, nothing is done.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function handlerOf(app: Koa): Handler {
  const run = chained(app.middleware);
  return async (request, response) => {
    response.statusCode = 404;
    const context = app.createContext(request, response);
    await run(context);
    if (context.respond !== false) end(context);
  };
}

function chained(middleware: readonly Middleware[]): (context: Context) => Promise<void> {
  return (context) => {
    const pass = async (at: number): Promise<void> => {
      await middleware[at]?.(context, () => pass(at + 1));
    };
    return pass(0);
  };
}

function end(context: Context): void {
  const { res, body } = context;
  if (context.method === 'HEAD' || !context.writable || body === null || body === undefined) res.end();
  else if (typeof body === 'string' || Buffer.isBuffer(body)) res.end(body);
  else throw new TypeError('a body is text or bytes');
}
