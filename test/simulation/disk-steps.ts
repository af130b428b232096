/** Steps of the disk: in which order its calls are answered, and what goes wrong with them. */
import type { Detail } from './choices.ts';
import type { HeldCall } from './disk-port.ts';
import type { World } from './world.ts';
import { DATA } from './auditor/durable-sessions.ts';

export function letOneCallGo(world: World, detail: Detail): boolean {
  const held = pick(world.port.ready, detail);
  if (held === null) return false;
  world.say(`${nameOf(held)} is answered`);
  world.port.answer(held);
  return true;
}

/** At least one call, and on until one of a kind is the next: it can fail then, or a death can come beside it. */
export async function goOnUntil(world: World, detail: Detail): Promise<boolean> {
  if (world.port.ready.length === 0) return false;
  const kind = detail.of(['sync', 'write', 'sync', 'syncDirectory', 'rename', 'truncate', 'remove']);
  const isDue = (): boolean => world.port.ready.some(({ call, phase }) => call.kind === kind && phase === 'waits');
  let isFirst = true;
  world.say(`the disk answers until a ${kind} is due`);
  await world.settle(
    () => true,
    () => {
      const isEnough = !isFirst && isDue();
      isFirst = false;
      return isEnough;
    },
  );
  return true;
}

/** All but one call and what comes after it on its file is answered. */
export async function holdOneBack(world: World, detail: Detail): Promise<boolean> {
  const kept = pick(world.port.ready, detail);
  if (kept === null) return false;
  world.say(`the disk answers everything but ${nameOf(kept)}`);
  await world.settle((held) => held !== kept);
  return true;
}

/** It acts; the answer comes later, or never. */
export function actOnDisk(world: World, detail: Detail): boolean {
  const held = pick(world.port.ready.filter(({ phase }) => phase === 'waits'), detail);
  if (held === null) return false;
  world.say(`${nameOf(held)} acts, and is not answered yet`);
  world.port.act(held);
  return true;
}

export function failOnDisk(world: World, detail: Detail): boolean {
  const waiting = world.port.ready.filter(({ phase, call }) => phase === 'waits' && call.kind !== 'close' && call.kind !== 'unlock');
  const wanted = waiting.filter(({ call }) => call.kind === 'write' || call.kind === 'sync' || call.kind === 'syncDirectory');
  const held = pick(wanted.length > 0 && detail.below(4) < 3 ? wanted : waiting, detail);
  if (held === null) return false;
  const { kind, bytes, path } = held.call;
  if (kind === 'write' && detail.below(3) === 0) {
    const takes = 1 + detail.below(Math.max(1, bytes - 1));
    world.say(`${nameOf(held)} takes ${takes} of ${bytes} bytes`);
    world.coverage.failure('short write');
    // A disk that takes a little again and again is taken for a full one.
    world.auditor.excuses.failed(path);
    world.port.answer(held, { takes });
    return true;
  }
  const code = kind === 'write' ? detail.of(['EIO', 'ENOSPC']) : 'EIO';
  const takes = kind === 'write' && detail.below(2) === 1 ? { takes: detail.below(bytes) } : {};
  world.say(`${nameOf(held)} fails with ${code}${'takes' in takes ? ` after ${String(takes.takes)} bytes` : ''}`);
  world.coverage.failure(`${code} on ${kind}`);
  world.auditor.excuses.failed(path);
  world.port.answer(held, { fails: code, ...takes });
  return true;
}

export function stallDisk(world: World, detail: Detail): boolean {
  if (world.port.stalled !== null) {
    world.say('the stalled files answer again');
    world.port.stalled = null;
    return true;
  }
  const { ids } = world.auditor.sessions;
  const id = ids[detail.below(ids.length)];
  if (id === undefined) return false;
  world.say(`the files of ${world.labelOf(id)} stall`);
  world.coverage.failure('stall');
  world.port.stalled = id;
  return true;
}

export function fillDisk(world: World, detail: Detail): boolean {
  if (world.port.disk.capacityBytes !== Infinity) {
    world.say('there is room on the disk again');
    world.port.limit(null);
    return true;
  }
  const room = detail.below(2) === 0 ? 0 : detail.below(600);
  world.say(`the disk has room for ${room} bytes`);
  world.coverage.failure('full disk');
  world.auditor.excuses.failed('');
  world.port.limit(room);
  return true;
}

/** One bit of a session's journal, or of its checkpoint, flips. */
export function damageDisk(world: World, detail: Detail): boolean {
  const { sessions } = world.auditor;
  const ids = sessions.ids.filter((id) => !sessions.leaving.has(id));
  const id = ids[detail.below(ids.length)];
  // A session that is damaged leaves little to check: one of them is enough.
  if (id === undefined || sessions.rotten.size > 0) return false;
  const paths = world.port.disk.files(`${DATA}/sessions/${id}`);
  const isCheckpoint = detail.below(2) === 1 && paths.includes(`${DATA}/sessions/${id}/checkpoint`);
  const path = isCheckpoint ? `${DATA}/sessions/${id}/checkpoint` : paths.find((one) => one.endsWith('.segment'));
  if (path === undefined) return false;
  // At rest, and where nothing went wrong before: what is damaged then is what was acknowledged.
  if (world.port.held.some(({ call }) => call.path.includes(id)) || world.auditor.excuses.hasFailedOn(id)) return false;
  const size = world.port.disk.durableFiles(path).get(path)?.length ?? 0;
  if (size === 0) return false;
  if (!isCheckpoint) sessions.rotten.set(id, world.process.number);
  const at = detail.many(size);
  world.say(`a bit of byte ${at} of the ${isCheckpoint ? 'checkpoint' : 'journal'} of ${world.labelOf(id)} flips`);
  world.coverage.failure(isCheckpoint ? 'bit rot in a checkpoint' : 'bit rot in a journal');
  world.port.damage(path, (bytes) => {
    const flipped = Uint8Array.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << detail.below(8));
    return flipped;
  });
  return true;
}

function pick(held: readonly HeldCall[], detail: Detail): HeldCall | null {
  return held[detail.below(held.length)] ?? null;
}

function nameOf({ call, phase }: HeldCall): string {
  const path = call.path.replace(`${DATA}/`, '').replace(/[0-9a-f]{28}(?=[0-9a-f]{4})/, '…');
  return `${call.kind} of ${path}${phase === 'acted' ? ', which has acted,' : ''}`;
}
