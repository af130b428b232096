/** `/v1/credentials`: a tenant's credentials by name. What is stored is used and never shown again. */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { tenantWith } from '../caller.ts';
import { HttpError } from '../errors.ts';
import { answerJson } from '../failures.ts';
import { callerOf, parseBody, parseQuery, type RouteDependencies } from '../routes.ts';
import { credentialListAnswer } from '../wire/answers.ts';
import { nameSchema } from '../wire/names.ts';
import { noQuery } from '../wire/queries.ts';
import { storeCredentialBody } from '../wire/requests.ts';

export function addCredentialRoutes(router: Router, { credentials, readBody }: RouteDependencies): void {
  router.put('/v1/credentials/:name', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    parseQuery(noQuery, context);
    const name = nameSchema.safeParse(nameIn(context));
    if (!name.success) {
      throw new HttpError('invalid_request', `the name ${name.error.issues[0]?.message ?? 'is not accepted'}`, { field: '/name' });
    }
    const { value } = parseBody(storeCredentialBody, await readBody(context));
    await credentials.put(tenant, name.data, value);
    context.status = 204;
  });

  router.get('/v1/credentials', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    parseQuery(noQuery, context);
    answerJson(context, credentialListAnswer(await credentials.list(tenant)));
  });

  router.delete('/v1/credentials/:name', async (context) => {
    const tenant = tenantWith(callerOf(context), 'manage');
    parseQuery(noQuery, context);
    const name = nameSchema.safeParse(nameIn(context));
    if (!name.success) throw new HttpError('not_found', 'there is no such credential');
    await credentials.delete(tenant, name.data);
    context.status = 204;
  });
}

function nameIn(context: Context): unknown {
  const params: unknown = context['params'];
  return typeof params === 'object' && params !== null && 'name' in params ? params.name : undefined;
}
