/** Steps of the clients: what they ask for, and whom they follow. */
import type { Detail } from './choices.ts';
import type { Request } from './request.ts';
import { PROGRAMS } from './test-loop.ts';
import type { World } from './world.ts';

const SESSIONS_MAX = 4;
const KEYS = [null, null, null, 'k1', 'k2'] as const;

export function askSomething(world: World, detail: Detail): boolean {
  const brain = world.brain;
  if (brain === null) return false;
  const { ids } = world.auditor.sessions;
  if (ids.length === 0 || (world.sessionCount < SESSIONS_MAX && detail.below(6) === 1)) return create(world, detail);
  const sessionId = ids[detail.below(ids.length)] ?? '';
  const label = world.labelOf(sessionId);
  const state = world.auditor.sessions.ledger(sessionId)?.state ?? 'none';
  const route = routeIn(state, detail);
  if (route === 'create') return createAgain(world, detail);
  const key = detail.of(KEYS);
  const asked = { route, sessionId: route === 'list' ? null : sessionId, label: route === 'list' ? '' : label, body: '', key: isKeyed(route) ? key : null };
  const body = bodyOf(world, { ...asked, detail });
  const request = world.clients.ask(brain, world.process.number, { ...asked, body });
  world.say(`client: #${request.number} ${route} ${asked.label}${body === '' ? '' : ` "${body}"`}${asked.key === null ? '' : ` with key ${asked.key}`}`);
  return true;
}

export function followSomething(world: World, detail: Detail): boolean {
  const brain = world.brain;
  if (brain === null) return false;
  const { followers } = world.clients;
  const follower = followers[detail.below(followers.length)];
  const isFull = followers.length >= SESSIONS_MAX;
  if (follower === undefined || (!isFull && detail.below(2) === 0)) {
    const { ids } = world.auditor.sessions;
    const sessionId = ids[detail.below(ids.length)];
    if (sessionId === undefined) return false;
    const isSlow = detail.below(3) === 2;
    world.say(`client: follows ${world.labelOf(sessionId)}${isSlow ? ', slowly' : ''}`);
    world.clients.follow(brain, sessionId, world.labelOf(sessionId), isSlow);
    return true;
  }
  if (follower.status === 'away') {
    world.say(`client: follows ${follower.label} again after ${follower.cursor}`);
    follower.connect(brain);
  } else if (follower.status === 'connected' && detail.below(3) === 0) {
    world.say(`client: drops its stream of ${follower.label} at ${follower.cursor}`);
    follower.drop();
  } else {
    follower.read();
  }
  return true;
}

function create(world: World, detail: Detail): boolean {
  const brain = world.brain;
  if (brain === null) return false;
  world.sessionCount += 1;
  const loop = detail.of(['test', 'chat', 'test']);
  const afterStop = detail.of(['idle', 'hold']);
  const ttl = detail.of(['null', '60000', '0']);
  const seed = detail.below(4) === 3 ? ' seeded' : '';
  const key = detail.of(KEYS);
  const label = `s${world.sessionCount}`;
  const asked = { route: 'create', sessionId: null, label, body: `${loop} ${afterStop} ${ttl}${seed}`, key: key === null ? null : `${key}-${label}` } as const;
  world.creates.push(asked);
  const request = world.clients.ask(brain, world.process.number, asked);
  world.say(`client: #${request.number} create ${label} "${asked.body}"${asked.key === null ? '' : ` with key ${asked.key}`}`);
  return true;
}

/** A client that had no answer, or forgot it, sends its create again under the same key. */
function createAgain(world: World, detail: Detail): boolean {
  const keyed = world.creates.filter(({ key }) => key !== null);
  const asked = keyed[detail.below(keyed.length)];
  const brain = world.brain;
  if (asked === undefined || brain === null) return false;
  const request = world.clients.ask(brain, world.process.number, asked);
  world.say(`client: #${request.number} create ${asked.label} again with key ${String(asked.key)}`);
  return true;
}

/** Mostly what makes sense where the session stands. */
function routeIn(state: string, detail: Detail): Request['route'] {
  const isOdd = detail.below(8) === 7;
  if (isOdd) return detail.of(['get', 'list', 'events', 'journal', 'transcript', 'send', 'cancel', 'end', 'resume', 'delete', 'change_metadata', 'create']);
  if (state.startsWith('running')) return detail.of(['cancel', 'get', 'change_metadata', 'send', 'end', 'events', 'list', 'cancel']);
  if (state === 'interrupted' || state === 'failed') return detail.of(['resume', 'get', 'resume', 'transcript', 'send', 'delete', 'end', 'change_metadata']);
  if (state === 'ended' || state === 'unusable') return detail.of(['get', 'delete', 'events', 'send', 'end', 'list', 'delete']);
  return detail.of(['submit', 'send', 'submit', 'send', 'submit', 'change_metadata', 'transcript', 'end', 'cancel', 'resume', 'journal', 'events']);
}

function isKeyed(route: Request['route']): boolean {
  return !['get', 'list', 'events', 'journal', 'transcript'].includes(route);
}

/** A repeat of a key has the body of the first request with it, but for a client that makes a mistake. */
function bodyOf(world: World, asked: Pick<Request, 'route' | 'sessionId' | 'key'> & { readonly detail: Detail }): string {
  const { route, sessionId, key, detail } = asked;
  const scope = `${route} ${sessionId ?? ''} ${key ?? ''}`;
  const first = key === null ? undefined : world.bodies.get(scope);
  if (first !== undefined && detail.below(8) < 7) return first;
  const body = newBody(world, route, detail);
  if (key !== null && first === undefined) world.bodies.set(scope, body);
  return body;
}

function newBody(world: World, route: Request['route'], detail: Detail): string {
  switch (route) {
    case 'send':
    case 'submit':
      world.messageCount += 1;
      return `m${world.messageCount}|${PROGRAMS[detail.below(PROGRAMS.length)] ?? ''}`;
    case 'change_metadata':
      world.messageCount += 1;
      return `${detail.of(['color', 'size'])}=v${world.messageCount}`;
    default:
      return '';
  }
}
