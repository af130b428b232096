/** `/v1/environments`: a tenant's environments by name. Sessions keep what they were created with. */
import { answerJson } from '../failures.ts';
import type { RouteTable } from '../route-table.ts';
import { nameGivenIn, parseBody, parseQuery, storedNameIn, type RouteDependencies } from '../routes.ts';
import { declareEnvironmentBody, environmentAnswer, type EnvironmentListAnswer } from '../wire/environments.ts';
import { declareEnvironment, deleteEnvironment, getEnvironment, listEnvironments } from './environment-contracts.ts';

export function addEnvironmentRoutes(table: RouteTable, { environments, readBody }: RouteDependencies): void {
  table.guarded(declareEnvironment, async (context, tenant) => {
    parseQuery(declareEnvironment.query, context);
    const name = nameGivenIn(context);
    const declaration = parseBody(declareEnvironmentBody, await readBody(context));
    answerJson(context, environmentAnswer(await environments.put(tenant, name, declaration)));
  });

  table.guarded(listEnvironments, async (context, tenant) => {
    parseQuery(listEnvironments.query, context);
    const answer: EnvironmentListAnswer = { environments: (await environments.list(tenant)).map(environmentAnswer) };
    answerJson(context, answer);
  });

  table.guarded(getEnvironment, async (context, tenant) => {
    parseQuery(getEnvironment.query, context);
    answerJson(context, environmentAnswer(await environments.get(tenant, storedNameIn(context, 'environment'))));
  });

  table.guarded(deleteEnvironment, async (context, tenant) => {
    parseQuery(deleteEnvironment.query, context);
    await environments.delete(tenant, storedNameIn(context, 'environment'));
    context.status = 204;
  });
}
