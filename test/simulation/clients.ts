/** The clients of the simulated world: what they ask of a process, and what they follow. Their answers go to the auditor. */
import type { Brain } from '../../services/brain.ts';
import { KeyedCall, type KeyedRoute } from '../../services/keyed-call.ts';
import type { LifecycleCursor, LifecycleEvent } from '../../machines/projections/lifecycle-events.ts';
import type { CreateSession, SessionService } from '../../services/session-service.ts';
import type { Auditor } from './auditor/auditor.ts';
import { codeOf } from './error-codes.ts';
import { ENVIRONMENT_NAMES, TOOL_OF, type EnvironmentName } from './environment-declarations.ts';
import { Follower, type FeedName } from './followers.ts';
import { READS, type Asked, type ReadRoute, type Request } from './request.ts';

const LIFECYCLE_PAGE = 2;

/** Of the body of a create. */
export function environmentsIn(body: string): readonly EnvironmentName[] {
  const names = body.split(' ')[4]?.split(',') ?? [];
  return ENVIRONMENT_NAMES.filter((name) => names.includes(name));
}

export class Clients {
  readonly pending = new Map<number, Request>();
  readonly followers: Follower[] = [];
  readonly #auditor: Auditor;
  readonly #uses = new Set<string>();
  #count = 0;

  constructor(auditor: Auditor) {
    this.#auditor = auditor;
  }

  ask(brain: Brain, process: number, asked: Asked): Request {
    this.#count += 1;
    const use = `${asked.route} ${asked.tenant} ${asked.sessionId ?? ''} ${asked.key ?? ''}`;
    const request: Request = { ...asked, number: this.#count, isRepeat: asked.key !== null && this.#uses.has(use), process, status: 'pending' };
    this.#uses.add(use);
    this.pending.set(request.number, request);
    this.#auditor.asked(request);
    void answerTo(brain.sessions, request).then(
      (answer) => {
        this.#settle(request, 'answered');
        this.#auditor.answered(request, answer);
      },
      (error: unknown) => {
        this.#settle(request, 'refused');
        this.#auditor.refused(request, codeOf(error));
      },
    );
    return request;
  }

  follow(brain: Brain, followed: { readonly tenant: string; readonly sessionId: string; readonly label: string; readonly isSlow: boolean; readonly feed: FeedName }): Follower {
    const follower = new Follower(this.#auditor, followed);
    this.followers.push(follower);
    follower.connect(brain);
    return follower;
  }

  /** The process is gone, and with it every answer. */
  lose(): void {
    for (const request of this.pending.values()) request.status = 'lost';
    this.pending.clear();
    for (const follower of this.followers) follower.lose();
  }

  #settle(request: Request, status: Request['status']): void {
    request.status = status;
    this.pending.delete(request.number);
  }
}

async function answerTo(sessions: SessionService, request: Request): Promise<unknown> {
  const { route, tenant, body, key } = request;
  const sessionId = request.sessionId ?? '';
  switch (route) {
    case 'queue':
      return sessions.queue(tenant, sessionId, { text: body, ...(key === null ? {} : { key }) });
    case 'withdraw':
      return sessions.withdraw(tenant, sessionId, Number(body));
    case 'interrupt':
      return sessions.cancel(tenant, sessionId);
    default:
      if (isRead(route)) return read(sessions, request, route);
  }
  if (key === null) return change(sessions, request, route, undefined);
  const call = new KeyedCall(route, key, body, route === 'close' ? 'sessions' : 'v1');
  const repeated = await sessions.repeated(tenant, request.sessionId, call);
  return repeated === null ? change(sessions, request, route, call) : repeated.answer;
}

function isRead(route: Request['route']): route is ReadRoute {
  return READS.has(route);
}

function read(sessions: SessionService, { tenant, sessionId }: Request, route: ReadRoute): Promise<unknown> {
  const id = sessionId ?? '';
  switch (route) {
    case 'get':
      return sessions.get(tenant, id);
    case 'list':
      return sessions.list(tenant, { after: '', limit: 100 });
    case 'events':
      return sessions.events(tenant, id, { after: 0, limit: 1_000 });
    case 'journal':
      return sessions.journal(tenant, id, { after: 0, limit: 7 });
    case 'transcript':
      return sessions.transcript(tenant, id);
    case 'waiting':
      return sessions.waiting(tenant, id);
    case 'lifecycle':
      return lifecyclePages(sessions, tenant, id);
  }
}

/** All of it, a few events at a time, so that pages begin within records. */
async function lifecyclePages(sessions: SessionService, tenant: string, id: string): Promise<{ readonly items: readonly LifecycleEvent[] }> {
  const items: LifecycleEvent[] = [];
  let after: LifecycleCursor = { sequence: 0, index: null };
  for (;;) {
    const page = await sessions.lifecycleEvents(tenant, id, { after, limit: LIFECYCLE_PAGE });
    items.push(...page.items);
    after = page.next_cursor;
    if (page.items.length < LIFECYCLE_PAGE) return { items };
  }
}

function change(sessions: SessionService, { tenant, sessionId, body, label }: Request, route: KeyedRoute, keyed: KeyedCall | undefined): Promise<unknown> {
  const id = sessionId ?? '';
  switch (route) {
    case 'create':
      return sessions.create(tenant, creationOf(label, body), keyed);
    case 'send':
      return sessions.send(tenant, id, body, keyed);
    case 'submit':
      return sessions.submit(tenant, id, body, keyed);
    case 'cancel':
      return sessions.cancel(tenant, id, keyed);
    case 'resume':
      return sessions.resume(tenant, id, keyed);
    case 'end':
      return sessions.end(tenant, id, keyed);
    case 'close':
      return sessions.close(tenant, id, keyed);
    case 'change_metadata': {
      const [name = '', value = ''] = body.split('=');
      return sessions.changeMetadata(tenant, id, { [name]: value }, keyed);
    }
    case 'delete':
      return sessions.delete(tenant, id, keyed);
  }
}

/** The body of a create: its loop, `after_stop` and time to live, whether it brings a conversation, and its environments. */
function creationOf(label: string, body: string): CreateSession {
  const [loop = 'test', afterStop = 'idle', ttl = 'null', seed] = body.split(' ');
  const environments = environmentsIn(body);
  return {
    surface: 'v1',
    agentloop: { name: loop },
    model: { provider: 'world', name: label },
    system: label,
    tools: ['look', 'act', ...environments.map((name) => TOOL_OF[name])],
    ...(environments.length === 0 ? {} : { environments }),
    after_stop: afterStop === 'hold' ? 'hold' : 'idle',
    idle_ttl_ms: JSON.parse(ttl) as number | null,
    ...(seed !== 'seeded' ? {} : { transcript: [{ role: 'user', content: [{ type: 'text', text: 'before' }] }] }),
  };
}
