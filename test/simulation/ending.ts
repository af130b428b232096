/**
 * The end of a run: nothing goes wrong any more, and everything that was asked for must come to its end. Then the process
 * dies once more, and what the next one finds must be what was there.
 */
import type { Detail } from './choices.ts';
import { answerPlainly } from './effect-steps.ts';
import { answerPostPlainly } from './environment-steps.ts';
import { answerCommandsPlainly } from './host-steps.ts';
import { TENANTS, type ReadRoute } from './request.ts';
import type { World } from './world.ts';

const ROUNDS_MAX = 200;

/** Heals what is broken, but for what has rotted, and lets everything come to its end. */
export async function bringToRest(world: World): Promise<void> {
  world.say('nothing goes wrong any more');
  world.port.limit(null);
  world.auditor.excuses.isHealed = true;
  await expectOthersGoOn(world);
  world.port.stalled = null;
  await untilQuiet(world);
  const left = [...[...world.clients.pending.values()].map(({ number, route, label }) => `#${number} ${route} ${label}`), ...world.asking];
  world.auditor.expect(left.length === 0, 13, () => `never answered: ${left.join(', ')}`);
}

/** Reads all there is, lets the process die, and reads it again, twice. */
export async function lookAtEverything(world: World, detail: Detail): Promise<void> {
  await read(world);
  for (const round of [1, 2]) {
    if (world.auditor.violation !== null) return;
    const before = lengths(world);
    world.say(round === 1 ? 'the process dies once more' : 'and again');
    if (detail.below(2) === 0) world.die('kill', () => world.port.kill(world.process.disk));
    else world.die('power cut', () => world.port.cutPower(detail.many));
    await untilQuiet(world);
    await read(world);
    for (const [id, last] of lengths(world)) {
      const isSame = before.get(id) === last || world.auditor.sessions.rotten.has(id);
      world.auditor.expect(isSame, 5, () => `${world.labelOf(id)} was at rest with ${String(before.get(id))} records, and has ${last} after a death`);
    }
  }
}

/** While one session's files stall, every other session's work must come to its end. */
async function expectOthersGoOn(world: World): Promise<void> {
  const { stalled } = world.port;
  if (stalled === null) return;
  await untilQuiet(world);
  const others = [...world.clients.pending.values()].filter(({ sessionId, route }) => sessionId !== stalled && sessionId !== null && route !== 'list');
  world.auditor.expect(world.brain === null || others.length === 0 || world.brain.isDraining, 11, () => {
    const names = others.map(({ number, route, label }) => `#${number} ${route} ${label}`);
    return `while the files of ${world.labelOf(stalled)} stall, these of others wait: ${names.join(', ')}`;
  });
}

async function untilQuiet(world: World): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX && world.auditor.violation === null; round += 1) {
    await world.settle();
    const before = seen(world);
    for (const follower of world.clients.followers) follower.read();
    await world.rest();
    if (world.port.ready.length > 0 || seen(world) !== before) continue;
    if (answerPlainly(world) || answerPostPlainly(world) || answerCommandsPlainly(world)) continue;
    if (world.process.server !== null && world.clients.pending.size === 0 && world.asking.size === 0 && !isAnyRunning(world) && world.brain?.isDraining !== true) return;
    if (!world.clock.fireNext()) return;
  }
}

function seen(world: World): number {
  return world.clients.followers.reduce((count, { shownCount }) => count + shownCount, 0);
}

function isAnyRunning(world: World): boolean {
  const { sessions } = world.auditor;
  return sessions.ids.some((id) => (sessions.ledger(id)?.open.size ?? 0) > 0 && !sessions.rotten.has(id));
}

async function read(world: World): Promise<void> {
  const brain = world.brain;
  if (brain === null) return;
  const ask = (route: ReadRoute, tenant: string, sessionId: string | null): void => {
    world.clients.ask(brain, world.process.number, { route, tenant, sessionId, label: sessionId === null ? '' : world.labelOf(sessionId), body: '', key: null });
  };
  for (const tenant of TENANTS) ask('list', tenant, null);
  for (const id of world.auditor.sessions.ids) for (const route of ['get', 'events', 'journal', 'transcript', 'waiting', 'lifecycle'] as const) ask(route, world.tenantOf(id), id);
  for (const follower of world.clients.followers) if (follower.status === 'away') follower.connect(brain);
  await untilQuiet(world);
  // A look recovers what could not be recovered before.
  world.auditor.expect(!isAnyRunning(world), 13, () => 'something under way never comes to its end');
  expectFollowersUpToDate(world);
  expectEachMessageOnce(world);
}

function expectFollowersUpToDate(world: World): void {
  const { sessions } = world.auditor;
  for (const { sessionId, feed, label, status } of world.clients.followers) {
    world.auditor.expect(!sessions.deleted.has(sessionId) || status !== 'connected', 13, () => `a stream of ${label} goes on, and the session is deleted`);
    if (sessions.leaving.has(sessionId) || sessions.rotten.has(sessionId) || status === 'away') continue;
    // A stream is over with its session: what a delete adds afterwards is for whoever reads.
    if (status === 'over' && sessions.ledger(sessionId)?.isDeleteAsked === true) continue;
    const missed = feed.missed();
    world.auditor.expect(missed === null, 8, () => `a stream of ${label} stays at ${feed.at}, and misses ${JSON.stringify(missed)}`);
  }
}

/** Nobody sends a text twice but under a key: each is in the journals once at most. */
function expectEachMessageOnce(world: World): void {
  const { sessions } = world.auditor;
  const texts = sessions.ids.flatMap((id) => (sessions.ledger(id)?.records ?? []).flatMap(({ type, data }) => (type === 'message_queued' ? [data['input']] : [])));
  world.auditor.expect(new Set(texts).size === texts.length, 9, () => 'one message was taken twice');
}

function lengths(world: World): ReadonlyMap<string, number> {
  const { sessions } = world.auditor;
  return new Map(sessions.ids.map((id) => [id, sessions.ledger(id)?.last ?? 0]));
}
