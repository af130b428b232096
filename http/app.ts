/**
 * The order in which a request passes, and nothing else: what pages of other origins may read around all of it, failures
 * too, then who is calling, then the route. Health, the front page, the inspector's files and the OpenAPI document are open to
 * everybody. What a token of its own opens is not asked who is calling: it is an environment, from wherever it runs.
 */
import type Koa from 'koa';
import type { Clock, Log } from '../services/ports.ts';
import type { CredentialService } from '../services/credentials.ts';
import type { EnvironmentService } from '../services/environments/declarations.ts';
import type { CallbackService } from '../services/environments/callbacks.ts';
import type { HostService } from '../services/environments/hosts.ts';
import type { SessionService } from '../services/session-service.ts';
import type { TokenService } from '../services/tokens.ts';
import { createAdmission } from './admission.ts';
import { authenticate } from './auth.ts';
import { createBareApp } from './bare-app.ts';
import { createBodyReader } from './body.ts';
import type { BuiltPage } from './built-page.ts';
import { allowOrigins } from './cors.ts';
import { answerFailures, answerUnrouted } from './failures.ts';
import { addFrontPage } from './front-page.ts';
import { addHealthRoutes } from './health.ts';
import { addInspectorRoutes } from './inspector-routes.ts';
import { addLifecycleEventRoutes } from './lifecycle/events.ts';
import { addLifecycleSessionRoutes } from './lifecycle/sessions.ts';
import { addOpenApiRoute } from './openapi-route.ts';
import { RouteTable } from './route-table.ts';
import type { RouteDependencies } from './routes.ts';
import { EventStreams } from './sse.ts';
import { addCallbackRoutes } from './v1/callbacks.ts';
import { addCredentialRoutes } from './v1/credentials.ts';
import { addEnvironmentRoutes } from './v1/environments.ts';
import { addHistoryRoutes } from './v1/history.ts';
import { addHostRegistration, addHostRoutes, type HostDependencies } from './v1/hosts.ts';
import { addSessionReadRoutes } from './v1/session-reads.ts';
import { addSessionRoutes } from './v1/sessions.ts';
import { addTurnRoutes } from './v1/turns.ts';

export interface HttpDependencies {
  readonly sessions: SessionService;
  readonly credentials: CredentialService;
  readonly environments: EnvironmentService;
  readonly callbacks: CallbackService;
  readonly hosts: HostService;
  readonly tokens: TokenService;
  readonly page: BuiltPage;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: {
    /** Undefined: the server listens on loopback only, and whoever reaches it is its user. */
    readonly apiKey: string | undefined;
    readonly bodyBytesMax: number;
    /** Whose pages may call, as browsers write origins. */
    readonly corsOrigins: readonly string[];
  };
  isDraining(): boolean;
}

export function createApp(dependencies: HttpDependencies): Koa {
  const { sessions, credentials, environments, tokens, page, clock, log, options } = dependencies;
  const admit = createAdmission(sessions);
  const open = new RouteTable(admit);
  addHealthRoutes(open, () => dependencies.isDraining());
  addFrontPage(open, { needsToken: options.apiKey !== undefined });
  addInspectorRoutes(open, page);
  const streams = new EventStreams({ clock, log });
  const readBody = createBodyReader(options);
  const readReport = createBodyReader(options, { mends: true });
  addCallbackRoutes(open, { callbacks: dependencies.callbacks, readBody: readReport });
  const hosts: HostDependencies = { hosts: dependencies.hosts, streams, readBody };
  addHostRoutes(open, { ...hosts, readBody: readReport });

  const guarded = new RouteTable(admit);
  const routes: RouteDependencies = { sessions, credentials, environments, clock, streams, readBody };
  addSessionRoutes(guarded, routes);
  addSessionReadRoutes(guarded, routes);
  addTurnRoutes(guarded, routes);
  addHistoryRoutes(guarded, routes);
  addLifecycleSessionRoutes(guarded, routes);
  addLifecycleEventRoutes(guarded, routes);
  addCredentialRoutes(guarded, routes);
  addEnvironmentRoutes(guarded, routes);
  addHostRegistration(guarded, hosts);
  addOpenApiRoute(open, () => [...open.contracts, ...guarded.contracts]);

  const app = createBareApp();
  app.use(allowOrigins(options.corsOrigins));
  app.use(answerFailures({ clock, log }));
  open.addTo(app);
  app.use(authenticate({ apiKey: options.apiKey, tokens, corsOrigins: options.corsOrigins }));
  guarded.addTo(app);
  app.use(answerUnrouted);
  return app;
}
