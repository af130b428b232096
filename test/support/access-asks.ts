/** What can be asked of each route, who may ask it, and what is answered in each state of a session. */
import type { Scope } from '../../services/scopes.ts';
import { KNOWN_PROCESS, STATES, type AccessStage, type StandingSession, type State } from './access-stage.ts';
import type { Sent } from './living-server.ts';
import type { OpenApiDocument, Route } from './openapi-document.ts';

/** What a route is about: one session, sessions in a list, or the tenant. */
type Subject = 'session' | 'list' | 'tenant';

export interface Ask {
  /** The operation, and what of it where there is more than one thing to ask. */
  readonly name: string;
  readonly subject: Subject;
  readonly scope: Scope;
  readonly sent?: Sent;
  /** For whoever may, by state. */
  readonly answers: Readonly<Record<State, number>>;
  /** Answered when the session has ended. */
  readonly waitsForTheEnd?: boolean;
}

// prettier-ignore
function inEach(idle: number, running: number, waiting: number, ending: number, interrupted: number, failed: number, ended: number, unusable: number, deleted: number): Ask['answers'] {
  return { idle, running, waiting, ending, interrupted, failed, ended, unusable, deleted };
}
const always = (status: number): Ask['answers'] => inEach(status, status, status, status, status, status, status, status, status);
const whileThere = (status: number): Ask['answers'] => ({ ...always(status), deleted: 404 });

const json = (body: unknown, headers: Readonly<Record<string, string>> = {}): Sent => ({ body, headers });
const STREAM: Sent = { headers: { accept: 'text/event-stream' } };
const ASYNC = { prefer: 'respond-async' };

//                                   idle running waiting ending interrupted failed ended unusable deleted
const TAKES_A_TURN = (status: number) => inEach(status, 409, 409, 409, 409, 409, 409, 409, 404);
const TAKES_A_MESSAGE = inEach(202, 202, 202, 409, 409, 409, 409, 409, 404);
const RESUMES = inEach(200, 409, 409, 409, 200, 200, 409, 409, 404);
const CHANGES = inEach(200, 200, 200, 200, 200, 200, 409, 200, 404);
const DELETES = inEach(409, 409, 409, 409, 409, 204, 204, 204, 404);
const WITHDRAWS = inEach(409, 409, 204, 409, 409, 409, 409, 409, 404);

export const ASKS: readonly Ask[] = [
  { name: 'createSession', subject: 'tenant', scope: 'manage', sent: json({}), answers: always(201) },
  { name: 'listSessions', subject: 'list', scope: 'read', answers: always(200) },
  { name: 'getSession', subject: 'session', scope: 'read', answers: whileThere(200) },
  { name: 'changeMetadata', subject: 'session', scope: 'manage', sent: json({ metadata: { a: 'b' } }), answers: CHANGES },
  { name: 'deleteSession', subject: 'session', scope: 'manage', answers: DELETES },
  { name: 'deleteSession with a key', subject: 'session', scope: 'manage', sent: { headers: { 'idempotency-key': 'k' } }, answers: DELETES },
  { name: 'sendMessage', subject: 'session', scope: 'send', sent: json({ input: 'hello' }), answers: TAKES_A_TURN(200) },
  { name: 'sendMessage async', subject: 'session', scope: 'send', sent: json({ input: 'hello' }, ASYNC), answers: TAKES_A_TURN(202) },
  { name: 'sendMessage with a key', subject: 'session', scope: 'send', sent: json({ input: 'hello' }, { 'idempotency-key': 'k' }), answers: TAKES_A_TURN(200) },
  { name: 'cancelTurn', subject: 'session', scope: 'send', answers: whileThere(202) },
  { name: 'resumeSession', subject: 'session', scope: 'manage', answers: RESUMES },
  { name: 'endSession', subject: 'session', scope: 'manage', answers: whileThere(200), waitsForTheEnd: true },
  { name: 'readEvents', subject: 'session', scope: 'read', answers: whileThere(200) },
  { name: 'readEvents as a stream', subject: 'session', scope: 'read', sent: STREAM, answers: whileThere(200) },
  { name: 'readJournal', subject: 'session', scope: 'manage', answers: whileThere(200) },
  { name: 'readJournal as a stream', subject: 'session', scope: 'manage', sent: STREAM, answers: whileThere(200) },
  { name: 'readTranscript', subject: 'session', scope: 'read', answers: whileThere(200) },
  { name: 'storeCredential', subject: 'tenant', scope: 'manage', sent: json({ value: 'v' }), answers: always(204) },
  { name: 'listCredentials', subject: 'tenant', scope: 'manage', answers: always(200) },
  { name: 'deleteCredential', subject: 'tenant', scope: 'manage', answers: always(204) },
  { name: 'declareEnvironment', subject: 'tenant', scope: 'manage', sent: json({ driver: 'host', tools: [] }), answers: always(200) },
  { name: 'listEnvironments', subject: 'tenant', scope: 'manage', answers: always(200) },
  { name: 'getEnvironment', subject: 'tenant', scope: 'manage', answers: always(200) },
  { name: 'deleteEnvironment', subject: 'tenant', scope: 'manage', answers: always(204) },
  // The stage has registered this very process for every tenant.
  { name: 'registerHost', subject: 'tenant', scope: 'send', sent: json(KNOWN_PROCESS), answers: always(200) },
  { name: 'createLifecycleSession', subject: 'tenant', scope: 'manage', sent: json({ harness: 'chat', config: { model: 'demo/echo', tools: [] } }), answers: always(201) },
  { name: 'listLifecycleSessions', subject: 'list', scope: 'read', answers: always(200) },
  { name: 'getLifecycleSession', subject: 'session', scope: 'read', answers: whileThere(200) },
  { name: 'changeLifecycleMetadata', subject: 'session', scope: 'manage', sent: json({ metadata: { a: 'b' } }), answers: CHANGES },
  { name: 'resumeLifecycleSession', subject: 'session', scope: 'manage', answers: RESUMES },
  { name: 'closeLifecycleSession', subject: 'session', scope: 'manage', answers: whileThere(202) },
  { name: 'sendLifecycleEvent', subject: 'session', scope: 'send', sent: json({ type: 'user.message', text: 'hello' }), answers: TAKES_A_MESSAGE },
  { name: 'sendLifecycleEvent to interrupt', subject: 'session', scope: 'send', sent: json({ type: 'user.interrupt' }), answers: whileThere(202) },
  { name: 'readLifecycleEvents', subject: 'session', scope: 'read', answers: whileThere(200) },
  { name: 'readLifecycleEvents as a stream', subject: 'session', scope: 'read', sent: STREAM, answers: whileThere(200) },
  { name: 'readQueue', subject: 'session', scope: 'read', answers: whileThere(200) },
  { name: 'withdrawMessage', subject: 'session', scope: 'send', answers: WITHDRAWS },
];

export function operationOf({ name }: Pick<Ask, 'name'>): string {
  return name.split(' ', 1)[0] ?? '';
}

/** The server with its document, which says where each operation is. */
export class Asking {
  readonly stage: AccessStage;
  readonly document: OpenApiDocument;

  constructor(stage: AccessStage, document: OpenApiDocument) {
    this.stage = stage;
    this.document = document;
  }

  routeOf(ask: Pick<Ask, 'name'>): Route {
    const route = this.document.routes.find(({ operation }) => operation.operationId === operationOf(ask));
    if (route === undefined) throw new Error(`there is no ${operationOf(ask)}`);
    return route;
  }

  send(ask: Ask, { id, lastInput }: StandingSession, token: string | null, more: Sent & { readonly query?: string } = {}): Promise<Response> {
    const { method, path } = this.routeOf(ask);
    const { query = '', ...sent } = more;
    const target = path.replace('{session_id}', id).replace('{input_id}', lastInput).replace('{name}', 'known');
    return this.stage.send(method, `${target}${query}`, token, { ...ask.sent, ...sent, headers: { ...ask.sent?.headers, ...sent.headers } });
  }
}

/** The text of an answer; of a stream, what it has said so far. */
export async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? new Uint8Array()).toString('utf8');
}

/** A session in each state, of the tenant that is asked about. */
export type StandingSessions = Readonly<Record<State, StandingSession>>;

export async function standingSessions(stage: AccessStage, tenant: 'red'): Promise<StandingSessions> {
  const sessions: [State, StandingSession][] = [];
  for (const state of STATES) sessions.push([state, await stage.session(tenant, state)]);
  return Object.fromEntries(sessions) as StandingSessions;
}
