/** `GET /openapi.json`: every route of this server, this one included. */
import { z } from 'zod';
import type { OpenContract, RouteContract } from './contract.ts';
import { answerJson } from './failures.ts';
import { openApiDocument } from './openapi.ts';
import type { RouteTable } from './route-table.ts';

const readOpenApi = {
  operation: 'readOpenApi',
  method: 'get',
  path: '/openapi.json',
  tag: 'Server',
  summary: 'This document',
  scope: null,
  answers: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
  refusals: [],
} as const satisfies OpenContract;

/** `contracts`: of all routes, asked for once they are all there. */
export function addOpenApiRoute(table: RouteTable, contracts: () => readonly RouteContract[]): void {
  // Made on the first request: most servers are never asked.
  let document: unknown = null;
  table.open(readOpenApi, (context) => {
    document ??= openApiDocument(contracts());
    answerJson(context, document);
  });
}
