/** `/v1/credentials`: a tenant's credentials by name. What is stored is used and never shown again. */
import { answerJson } from '../failures.ts';
import type { RouteTable } from '../route-table.ts';
import { nameGivenIn, parseBody, parseQuery, storedNameIn, type RouteDependencies } from '../routes.ts';
import { credentialListAnswer } from '../wire/answers.ts';
import { deleteCredential, listCredentials, storeCredential } from './credential-contracts.ts';

export function addCredentialRoutes(table: RouteTable, { credentials, readBody }: RouteDependencies): void {
  table.guarded(storeCredential, async (context, tenant) => {
    parseQuery(storeCredential.query, context);
    const name = nameGivenIn(context);
    const { value } = parseBody(storeCredential.body.schema, await readBody(context));
    await credentials.put(tenant, name, value);
    context.status = 204;
  });

  table.guarded(listCredentials, async (context, tenant) => {
    parseQuery(listCredentials.query, context);
    answerJson(context, credentialListAnswer(await credentials.list(tenant)));
  });

  table.guarded(deleteCredential, async (context, tenant) => {
    parseQuery(deleteCredential.query, context);
    await credentials.delete(tenant, storedNameIn(context, 'credential'));
    context.status = 204;
  });
}
