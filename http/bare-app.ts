/** What every application here begins with, whatever its routes. */
import Koa, { type Middleware } from 'koa';

export function createBareApp(): Koa {
  const app = new Koa({ env: 'production' });
  app.use(setHeaders);
  return app;
}

/** On every answer, unless its route knows better. */
const setHeaders: Middleware = async (context, next) => {
  context.set('Cache-Control', 'no-store');
  context.set('X-Content-Type-Options', 'nosniff');
  await next();
};
