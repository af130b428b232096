/** Steps of the clients: what they ask for, and whom they follow. */
import type { Detail } from './choices.ts';
import { environmentsIn } from './clients.ts';
import type { EnvironmentName } from './environment-declarations.ts';
import type { FeedName } from './followers.ts';
import { READS, TENANTS, type Asked, type Request } from './request.ts';
import { PROGRAMS } from './test-loop.ts';
import type { World } from './world.ts';

const SESSIONS_MAX = 4;
type Keys = readonly [string | null, ...(string | null)[]];

const KEYS: Keys = [null, null, null, 'k1', 'k2'];

/** What clients are inclined to for a while. */
export interface Habit {
  readonly keys: Keys;
  readonly leaning: 'anything' | 'stop and go on' | 'come to an end';
}

export const NO_HABIT: Habit = { keys: KEYS, leaning: 'anything' };

export function takeUpHabit(world: World, detail: Detail): boolean {
  world.habit = { leaning: detail.of(['anything', 'stop and go on', 'come to an end']), keys: detail.of<Keys>([KEYS, [null], ['k1']]) };
  world.say(`clients: mostly ${world.habit.leaning}, with keys ${world.habit.keys.map(String).join(', ')}`);
  return true;
}

export function askSomething(world: World, detail: Detail): boolean {
  const { ids } = world.auditor.sessions;
  if (ids.length === 0) return createSession(world, detail);
  const sessionId = ids[detail.below(ids.length)] ?? '';
  const route = routeIn(world, sessionId, detail);
  const key = detail.of(world.habit.keys);
  return ask(world, { route, sessionId: route === 'list' ? null : sessionId, key: isKeyed(route) ? key : null }, detail);
}

/** A message to a session that takes one, or to the first there is. */
export function sendMessage(world: World, detail: Detail): boolean {
  const { sessions } = world.auditor;
  if (sessions.ids.length === 0) return createSession(world, detail);
  const route = detail.of<Request['route']>(['submit', 'send', 'queue', 'queue']);
  const open = route === 'queue' ? ['idle', 'suspended', 'running.working'] : ['idle', 'suspended'];
  const taking = sessions.ids.filter((id) => open.includes(sessions.ledger(id)?.state ?? ''));
  const sessionId = taking[detail.below(taking.length)] ?? sessions.ids[0];
  return sessionId !== undefined && ask(world, { route, sessionId, key: detail.of(world.habit.keys) }, detail);
}

/** A cancel or an end of a session whose turn runs, or is about to. */
export function stopTurn(world: World, detail: Detail): boolean {
  const { sessions } = world.auditor;
  const asked = [...world.clients.pending.values()].flatMap(({ route, sessionId }) => (route === 'submit' || route === 'send' || route === 'queue' ? (sessionId ?? []) : []));
  const running = sessions.ids.filter((id) => asked.includes(id) || sessions.ledger(id)?.state === 'running.working');
  const sessionId = running[detail.below(running.length)];
  if (sessionId === undefined) return false;
  const route = detail.of<Request['route']>(['cancel', 'interrupt', 'end', 'close', 'cancel']);
  return ask(world, { route, sessionId, key: isKeyed(route) ? detail.of(world.habit.keys) : null }, detail);
}

/** A client that had no answer, or forgot it, asks again; or one uses the key of an earlier request for another session. */
export function repeatRequest(world: World, detail: Detail): boolean {
  const earlier = world.keyed[detail.below(world.keyed.length)];
  const brain = world.brain;
  if (earlier === undefined || brain === null) return false;
  const { ids } = world.auditor.sessions;
  const other = ids[detail.below(ids.length)];
  if (earlier.route !== 'create' && other !== undefined) return ask(world, { route: earlier.route, sessionId: detail.below(2) === 0 ? earlier.sessionId : other, key: earlier.key }, detail);
  const environments = earlier.route === 'create' ? environmentsIn(earlier.body) : [];
  world.auditor.declared.createAsked(earlier.tenant, earlier.label, environments);
  const request = world.clients.ask(brain, world.process.number, earlier);
  world.say(`client: #${request.number} ${earlier.route} ${earlier.label} again with key ${String(earlier.key)}`);
  return true;
}

/** Mostly the session's own tenant asks; a stranger has no key of anybody's. */
export function ask(world: World, { route, sessionId, key, body: given }: Pick<Request, 'route' | 'sessionId' | 'key'> & { readonly body?: string }, detail: Detail): boolean {
  const brain = world.brain;
  if (brain === null) return false;
  const label = sessionId === null ? '' : world.labelOf(sessionId);
  const body = given ?? bodyOf(world, { route, sessionId, key }, detail);
  const owner = sessionId === null ? detail.of(TENANTS) : world.tenantOf(sessionId);
  const isStranger = sessionId !== null && detail.below(24) === 23;
  const asked: Asked = { route, tenant: isStranger ? strangerTo(owner) : owner, sessionId, label, body, key: isStranger ? null : key };
  if (asked.key !== null) world.keyed.push(asked);
  const request = world.clients.ask(brain, world.process.number, asked);
  world.say(`${isStranger ? 'stranger' : 'client'}: #${request.number} ${route} ${label}${body === '' ? '' : ` "${body}"`}${asked.key === null ? '' : ` with key ${asked.key}`}`);
  return true;
}

function strangerTo(owner: string): string {
  return TENANTS.find((tenant) => tenant !== owner) ?? owner;
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
    const feed = detail.of<FeedName>(['events', 'lifecycle']);
    const label = world.labelOf(sessionId);
    world.say(`client: follows the ${feed === 'events' ? '' : 'lifecycle '}events of ${label}${isSlow ? ', slowly' : ''}`);
    world.clients.follow(brain, { tenant: world.tenantOf(sessionId), sessionId, label, isSlow, feed });
    return true;
  }
  if (follower.status === 'away') {
    world.say(`client: follows ${follower.label} again after ${follower.feed.at}`);
    follower.connect(brain);
  } else if (follower.status === 'connected' && detail.below(3) === 0) {
    world.say(`client: drops its stream of ${follower.label} at ${follower.feed.at}`);
    follower.drop();
  } else {
    follower.read();
  }
  return true;
}

export function createSession(world: World, detail: Detail): boolean {
  if (world.brain === null || world.sessionCount >= SESSIONS_MAX) return false;
  world.sessionCount += 1;
  const loop = detail.of(['test', 'chat', 'test']);
  const afterStop = detail.of(['idle', 'hold']);
  const ttl = detail.of(['null', '60000', '0']);
  const seed = detail.below(4) === 3 ? ' seeded' : '';
  const key = detail.of(world.habit.keys);
  const tenant = detail.of(TENANTS);
  return askForSession(world, { tenant, body: `${loop} ${afterStop} ${ttl}${seed}`, key });
}

/** One that has environments. */
export function newSession(world: World, { tenant, environments }: { readonly tenant: string; readonly environments: readonly EnvironmentName[] }, detail: Detail): boolean {
  // Beside as many as there may be without.
  if (world.brain === null || world.sessionCount >= SESSIONS_MAX + 2) return false;
  world.sessionCount += 1;
  const loop = detail.of(['test', 'test', 'chat']);
  const afterStop = detail.of(['idle', 'hold']);
  const ttl = detail.of(['null', '0']);
  const seed = detail.of(['plain', 'plain', 'seeded']);
  world.auditor.declared.createAsked(tenant, `s${world.sessionCount}`, environments);
  return askForSession(world, { tenant, body: `${loop} ${afterStop} ${ttl} ${seed} ${environments.join(',')}`, key: detail.of(world.habit.keys) });
}

function askForSession(world: World, { tenant, body, key }: Pick<Asked, 'tenant' | 'body' | 'key'>): boolean {
  const brain = world.brain;
  if (brain === null) return false;
  const label = `s${world.sessionCount}`;
  const asked: Asked = { route: 'create', tenant, sessionId: null, label, body, key: key === null ? null : `${key}-${label}` };
  if (asked.key !== null) world.keyed.push(asked);
  const request = world.clients.ask(brain, world.process.number, asked);
  world.say(`client: #${request.number} create ${label} "${asked.body}"${tenant === TENANTS[0] ? '' : ` of ${tenant}`}${asked.key === null ? '' : ` with key ${asked.key}`}`);
  return true;
}

type Routes = readonly [Request['route'], ...Request['route'][]];

const ANY: Routes = ['get', 'list', 'events', 'journal', 'transcript', 'waiting', 'lifecycle', 'send', 'queue', 'withdraw', 'cancel', 'interrupt', 'end', 'close', 'resume', 'delete', 'change_metadata'];
/** What makes sense where a session stands, by what its clients are inclined to. */
const SENSIBLE: Readonly<Record<'running' | 'held' | 'over' | 'free', Readonly<Record<Habit['leaning'], Routes>>>> = {
  running: {
    anything: ['cancel', 'get', 'change_metadata', 'queue', 'send', 'end', 'queue', 'withdraw', 'events', 'list', 'interrupt', 'close', 'lifecycle', 'waiting', 'queue', 'cancel'],
    'stop and go on': ['cancel', 'queue', 'interrupt'],
    'come to an end': ['end', 'cancel', 'close', 'queue'],
  },
  held: {
    anything: ['resume', 'get', 'resume', 'transcript', 'send', 'queue', 'delete', 'end', 'close', 'change_metadata', 'lifecycle'],
    'stop and go on': ['resume'],
    'come to an end': ['end', 'delete', 'close'],
  },
  over: {
    anything: ['get', 'delete', 'events', 'send', 'queue', 'end', 'close', 'list', 'lifecycle', 'delete'],
    'stop and go on': ['get', 'queue', 'lifecycle'],
    'come to an end': ['delete'],
  },
  free: {
    anything: ['submit', 'send', 'queue', 'submit', 'queue', 'change_metadata', 'transcript', 'end', 'cancel', 'resume', 'journal', 'close', 'lifecycle', 'withdraw'],
    'stop and go on': ['submit', 'queue'],
    'come to an end': ['end', 'close', 'submit'],
  },
};

function routeIn(world: World, sessionId: string, detail: Detail): Request['route'] {
  const isOdd = detail.below(8) === 7;
  if (isOdd) return detail.of(ANY);
  return detail.of(SENSIBLE[standing(world.auditor.sessions.ledger(sessionId)?.state ?? 'none')][world.habit.leaning]);
}

function standing(state: string): keyof typeof SENSIBLE {
  if (state.startsWith('running')) return 'running';
  if (state === 'interrupted' || state === 'failed') return 'held';
  return state === 'ended' || state === 'unusable' ? 'over' : 'free';
}

function isKeyed(route: Request['route']): boolean {
  return !READS.has(route) && route !== 'withdraw' && route !== 'interrupt';
}

/** A repeat of a key has the body of the first request with it, but for a client that makes a mistake. */
function bodyOf(world: World, { route, sessionId, key }: Pick<Request, 'route' | 'sessionId' | 'key'>, detail: Detail): string {
  const scope = `${route} ${sessionId ?? ''} ${key ?? ''}`;
  const first = key === null ? undefined : world.bodies.get(scope);
  if (first !== undefined && detail.below(8) < 7) return first;
  const body = newBody(world, { route, sessionId }, detail);
  if (key !== null && first === undefined) world.bodies.set(scope, body);
  return body;
}

function newBody(world: World, { route, sessionId }: Pick<Request, 'route' | 'sessionId'>, detail: Detail): string {
  switch (route) {
    case 'withdraw': {
      const ledger = world.auditor.sessions.ledger(sessionId ?? '');
      const waiting = ledger?.waiting ?? [];
      return String(waiting[detail.below(waiting.length)] ?? ledger?.turn?.message ?? 1);
    }
    case 'send':
    case 'submit':
    case 'queue':
      world.messageCount += 1;
      return `m${world.messageCount}|${PROGRAMS[detail.below(PROGRAMS.length)] ?? ''}`;
    case 'change_metadata':
      world.messageCount += 1;
      return `${detail.of(['color', 'size'])}=v${world.messageCount}`;
    default:
      return '';
  }
}
