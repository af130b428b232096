/**
 * `/v1/hosts`: processes that carry out operations come here for them. Registering needs a caller's token; all else the
 * token that the registration gave, which is asked for before anything else is looked at.
 */
import type { Context } from 'koa';
import type { HostHolder } from '../../services/environments/host-tokens.ts';
import type { HostService } from '../../services/environments/hosts.ts';
import { invalidToken } from '../auth.ts';
import type { BodyReader } from '../body.ts';
import { answerJson } from '../failures.ts';
import type { RouteTable } from '../route-table.ts';
import { callerOf, parameterOf, parseBody, parseQuery } from '../routes.ts';
import type { EventStreams } from '../sse.ts';
import type { RegisteredHostAnswer } from '../wire/hosts.ts';
import { followCommands, registerHost, reportHostEmit, reportHostProgress, reportHostResult } from './host-contracts.ts';

export interface HostDependencies {
  readonly hosts: HostService;
  readonly streams: EventStreams;
  readonly readBody: BodyReader;
}

export function addHostRegistration(table: RouteTable, { hosts, readBody }: HostDependencies): void {
  table.guarded(registerHost, async (context) => {
    parseQuery(registerHost.query, context);
    const process = parseBody(registerHost.body.schema, await readBody(context));
    const registered = await hosts.register(callerOf(context), process);
    if (registered === null) throw invalidToken();
    const answer: RegisteredHostAnswer = { host: registered.host, token: registered.token };
    context.status = registered.isNew ? 201 : 200;
    answerJson(context, answer);
  });
}

export function addHostRoutes(table: RouteTable, dependencies: HostDependencies): void {
  const { hosts, streams, readBody } = dependencies;
  const holderOf = async (context: Context, token: string): Promise<HostHolder> => {
    const holder = await hosts.holderOf(token);
    if (holder === null || holder.host !== parameterOf(context, 'name')) throw invalidToken();
    return holder;
  };

  table.withOwnToken(followCommands, async (context, token) => {
    const holder = await holderOf(context, token);
    parseQuery(followCommands.query, context);
    if (context.method === 'HEAD') {
      context.status = 200;
      context.set('Content-Type', 'text/event-stream');
      return;
    }
    const leaving = new AbortController();
    const stream = hosts.commands(holder, leaving.signal);
    await streams.answer(context, {
      ended: stream.ended,
      follow: async (signal) => {
        // Its end, however it comes.
        if (signal.aborted) leaving.abort();
        else signal.addEventListener('abort', () => leaving.abort(), { once: true });
        return { ended: false, items: stream };
      },
      frameOf: ({ type, ...data }) => ({ type, data }),
    });
  });

  table.withOwnToken(reportHostResult, async (context, token) => {
    const holder = await holderOf(context, token);
    parseQuery(reportHostResult.query, context);
    await hosts.result(holder, parseBody(reportHostResult.body.schema, await readBody(context)));
    context.status = 204;
  });

  table.withOwnToken(reportHostEmit, async (context, token) => {
    const holder = await holderOf(context, token);
    parseQuery(reportHostEmit.query, context);
    await hosts.emit(holder, parseBody(reportHostEmit.body.schema, await readBody(context)));
    context.status = 204;
  });

  table.withOwnToken(reportHostProgress, async (context, token) => {
    const holder = await holderOf(context, token);
    parseQuery(reportHostProgress.query, context);
    hosts.progress(holder, parseBody(reportHostProgress.body.schema, await readBody(context)));
    context.status = 204;
  });
}
