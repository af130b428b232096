/**
 * The application of a read-only look: the inspector, and the part of `/v1` that it reads, over sessions as they lie on a
 * disk. It asks for no token, and so it takes only whoever reaches it under a loopback name, like a server without a key.
 */
import type Koa from 'koa';
import type { Middleware } from 'koa';
import type { Clock, Log } from '../services/ports.ts';
import type { SessionReads } from '../services/session-service.ts';
import type { TokenService } from '../services/tokens.ts';
import { createAdmission } from './admission.ts';
import { authenticate } from './auth.ts';
import { createBareApp } from './bare-app.ts';
import type { BuiltPage } from './built-page.ts';
import { HttpError } from './errors.ts';
import { answerFailures } from './failures.ts';
import { addInspectorRoutes } from './inspector-routes.ts';
import { addOpenApiRoute } from './openapi-route.ts';
import { RouteTable } from './route-table.ts';
import { EventStreams } from './sse.ts';
import { addHistoryRoutes } from './v1/history.ts';
import { addSessionReadRoutes } from './v1/session-reads.ts';

export interface LookDependencies {
  readonly sessions: SessionReads;
  readonly page: BuiltPage;
  readonly clock: Clock;
  readonly log: Log;
}

/** A page may send the token of the server that it was last opened on. It opens nothing here, and closes nothing. */
const NO_TOKENS: TokenService = { isToken: () => false, holderOf: () => Promise.resolve(null) };

export function createLook({ sessions, page, clock, log }: LookDependencies): Koa {
  const admit = createAdmission(sessions);
  const open = new RouteTable(admit);
  addInspectorRoutes(open, page);
  const guarded = new RouteTable(admit);
  addSessionReadRoutes(guarded, { sessions });
  addHistoryRoutes(guarded, { sessions, streams: new EventStreams({ clock, log }) });
  addOpenApiRoute(open, () => [...open.contracts, ...guarded.contracts]);

  const app = createBareApp();
  app.use(tellMethods);
  app.use(answerFailures({ clock, log }));
  app.use(refuseChanges);
  app.use(leadToPage);
  open.addTo(app);
  app.use(authenticate({ apiKey: undefined, tokens: NO_TOKENS, corsOrigins: [] }));
  guarded.addTo(app);
  app.use(refuseOtherReads);
  return app;
}

const METHODS = 'GET, HEAD';

/** On every answer: a page learns from any of them that there is nothing here to change. */
const tellMethods: Middleware = async (context, next) => {
  context.set('Allow', METHODS);
  await next();
};

const refuseChanges: Middleware = async ({ method }, next) => {
  if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError('method_not_allowed', 'this is a read-only look, without a server: it takes GET and HEAD', {
      headers: { Allow: METHODS },
    });
  }
  await next();
};

const leadToPage: Middleware = async (context, next) => {
  if (context.path === '/') context.redirect('/inspector');
  else await next();
};

const refuseOtherReads: Middleware = () => {
  throw new HttpError('forbidden', 'this is a read-only look, without a server: it shows sessions, their journals and their transcripts');
};
