/** The clients of the simulated world: what they ask of a process, and what they follow. Their answers go to the auditor. */
import type { Brain } from '../../services/brain.ts';
import { ServiceError } from '../../services/errors.ts';
import { KeyedCall, type KeyedRoute } from '../../services/keyed-call.ts';
import type { CreateSession, Followed, Following, SessionService } from '../../services/session-service.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import type { Auditor } from './auditor/auditor.ts';
import type { ReadRoute, Request } from './request.ts';
import { TENANT } from './server-process.ts';

const READS = new Set<string>(['get', 'list', 'events', 'journal', 'transcript']);

export class Clients {
  readonly pending = new Map<number, Request>();
  readonly followers: Follower[] = [];
  readonly #auditor: Auditor;
  readonly #uses = new Set<string>();
  #count = 0;

  constructor(auditor: Auditor) {
    this.#auditor = auditor;
  }

  ask(brain: Brain, process: number, asked: Pick<Request, 'route' | 'sessionId' | 'label' | 'body' | 'key'>): Request {
    this.#count += 1;
    const use = `${asked.route} ${asked.sessionId ?? ''} ${asked.key ?? ''}`;
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

  follow(brain: Brain, sessionId: string, label: string, isSlow: boolean): Follower {
    const follower = new Follower(this.#auditor, { sessionId, label, isSlow });
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

/** Follows one session's events, over as many connections as it takes. */
export class Follower {
  readonly sessionId: string;
  readonly label: string;
  /** Reads an event only when it is told to. */
  readonly isSlow: boolean;
  cursor = 0;
  status: 'away' | 'connected' | 'over' = 'away';
  readonly #auditor: Auditor;
  #abort = new AbortController();
  #items: AsyncIterator<Followed<PublicEvent>> | null = null;
  #isReading = false;
  #brain: Brain | null = null;

  constructor(auditor: Auditor, { sessionId, label, isSlow }: Pick<Follower, 'sessionId' | 'label' | 'isSlow'>) {
    this.#auditor = auditor;
    this.sessionId = sessionId;
    this.label = label;
    this.isSlow = isSlow;
  }

  connect(brain: Brain): void {
    this.status = 'connected';
    this.#brain = brain;
    const abort = new AbortController();
    this.#abort = abort;
    void brain.sessions.followEvents(TENANT, this.sessionId, this.cursor, abort.signal).then(
      (following) => this.#begin(following, abort),
      (error: unknown) => this.#end(abort, codeOf(error)),
    );
  }

  drop(): void {
    this.#abort.abort();
    this.status = 'away';
    this.#items = null;
  }

  lose(): void {
    this.#abort = new AbortController();
    this.status = this.status === 'over' ? 'over' : 'away';
    this.#items = null;
    this.#isReading = false;
  }

  /** Reads one event, if a connection stands and nothing is being read. */
  read(): void {
    const items = this.#items;
    const abort = this.#abort;
    if (items === null || this.#isReading) return;
    this.#isReading = true;
    void items.next().then(
      ({ done, value }) => {
        if (abort !== this.#abort || abort.signal.aborted) return;
        this.#isReading = false;
        if (done === true) {
          this.#end(abort, null);
          return;
        }
        if (value.kind === 'recorded') {
          this.#auditor.followed(this.sessionId, this.cursor, value.item);
          this.cursor = value.item.sequence;
        }
        if (!this.isSlow) this.read();
      },
      (error: unknown) => this.#end(abort, codeOf(error)),
    );
  }

  #begin(following: Following<PublicEvent>, abort: AbortController): void {
    if (abort !== this.#abort || abort.signal.aborted) return;
    this.#items = following.items[Symbol.asyncIterator]();
    this.#isReading = false;
    this.read();
  }

  #end(abort: AbortController, code: string | null): void {
    if (abort !== this.#abort || abort.signal.aborted) return;
    this.status = code === null || code === 'not_found' ? 'over' : 'away';
    this.#items = null;
    this.#isReading = false;
    const isDraining = this.#brain?.isDraining ?? false;
    if (isDraining) this.status = 'away';
    if (code !== 'not_found' && code !== 'journal_corrupt') this.#auditor.followingEnded(this.sessionId, this.cursor, { isDraining, code });
  }
}

async function answerTo(sessions: SessionService, request: Request): Promise<unknown> {
  if (READS.has(request.route)) return read(sessions, request, request.route as ReadRoute);
  const route = request.route as KeyedRoute;
  if (request.key === null) return change(sessions, request, route, undefined);
  const call = new KeyedCall(route, request.key, request.body);
  const repeated = await sessions.repeated(TENANT, request.sessionId, call);
  return repeated === null ? change(sessions, request, route, call) : repeated.answer;
}

function read(sessions: SessionService, { sessionId }: Request, route: ReadRoute): Promise<unknown> {
  const id = sessionId ?? '';
  switch (route) {
    case 'get':
      return sessions.get(TENANT, id);
    case 'list':
      return sessions.list(TENANT, { after: '', limit: 100 });
    case 'events':
      return sessions.events(TENANT, id, { after: 0, limit: 1_000 });
    case 'journal':
      return sessions.journal(TENANT, id, { after: 0, limit: 7 });
    case 'transcript':
      return sessions.transcript(TENANT, id);
  }
}

function change(sessions: SessionService, { sessionId, body, label }: Request, route: KeyedRoute, keyed: KeyedCall | undefined): Promise<unknown> {
  const id = sessionId ?? '';
  switch (route) {
    case 'create':
      return sessions.create(TENANT, creationOf(label, body), keyed);
    case 'send':
      return sessions.send(TENANT, id, body, keyed);
    case 'submit':
      return sessions.submit(TENANT, id, body, keyed);
    case 'cancel':
      return sessions.cancel(TENANT, id, keyed);
    case 'resume':
      return sessions.resume(TENANT, id, keyed);
    case 'end':
      return sessions.end(TENANT, id, keyed);
    case 'change_metadata': {
      const [name = '', value = ''] = body.split('=');
      return sessions.changeMetadata(TENANT, id, { [name]: value }, keyed);
    }
    case 'delete':
      return sessions.delete(TENANT, id, keyed);
  }
}

/** The body of a create: its loop, `after_stop` and time to live, and whether it brings a conversation. */
function creationOf(label: string, body: string): CreateSession {
  const [loop = 'test', afterStop = 'idle', ttl = 'null', seed] = body.split(' ');
  return {
    surface: 'v1',
    agentloop: { name: loop },
    model: { provider: 'world', name: label },
    system: label,
    tools: ['look', 'act'],
    after_stop: afterStop === 'hold' ? 'hold' : 'idle',
    idle_ttl_ms: JSON.parse(ttl) as number | null,
    ...(seed === undefined ? {} : { transcript: [{ role: 'user', content: [{ type: 'text', text: 'before' }] }] }),
  };
}

function codeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code === 'internal' ? `internal: ${causeOf(error)}` : error.code;
  return `not a service error: ${String(error)}`;
}

function causeOf(error: Error): string {
  const cause: unknown = error.cause;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
