/** What every application here begins with, whatever its routes. */
import Koa, { type Middleware } from 'koa';
import type { Log } from '../services/ports.ts';

export function createBareApp(log: Log): Koa {
  const app = new Koa({ env: 'production' });
  // What is left to come here is a connection that broke under its answer.
  app.on('error', (error: unknown) => log.debug('connection_failed', { trace: String(error) }));
  app.use(setHeaders);
  return app;
}

/** On every answer, unless its route knows better. */
const setHeaders: Middleware = async (context, next) => {
  context.set('Cache-Control', 'no-store');
  context.set('X-Content-Type-Options', 'nosniff');
  await next();
};
