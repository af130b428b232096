/** For whoever starts, stops and balances this server. No token is asked for, and nothing is told. */
import type { Router } from '@koa/router';
import { HttpError } from './errors.ts';

export function addHealthRoutes(router: Router, isDraining: () => boolean): void {
  router.get('/health/live', (context) => {
    context.status = 204;
  });

  router.get('/health/ready', (context) => {
    if (isDraining()) throw new HttpError('draining', 'this server is shutting down and takes no new work');
    context.status = 204;
  });
}
