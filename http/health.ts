/** For whoever starts, stops and balances this server. No token is asked for, and nothing is told. */
import type { OpenContract } from './contract.ts';
import { HttpError } from './errors.ts';
import type { RouteTable } from './route-table.ts';

const live = {
  operation: 'isLive',
  method: 'get',
  path: '/health/live',
  tag: 'Server',
  summary: 'Whether the server answers',
  scope: null,
  answers: { 204: { description: 'It does.' } },
  refusals: [],
} as const satisfies OpenContract;

const ready = {
  operation: 'isReady',
  method: 'get',
  path: '/health/ready',
  tag: 'Server',
  summary: 'Whether the server takes new work',
  scope: null,
  answers: { 204: { description: 'It does.' } },
  refusals: ['draining'],
} as const satisfies OpenContract;

export function addHealthRoutes(table: RouteTable, isDraining: () => boolean): void {
  table.open(live, (context) => {
    context.status = 204;
  });

  table.open(ready, (context) => {
    if (isDraining()) throw new HttpError('draining', 'this server is shutting down and takes no new work');
    context.status = 204;
  });
}
