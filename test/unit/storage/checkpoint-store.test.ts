import { beforeEach, describe, expect, it } from 'vitest';
import type { FileSessionStore } from '../../../storage/file-session-store.ts';
import { frameOf, ID, textOf } from '../../support/frames.ts';
import { SimulatedDisk, type DiskCallKind } from '../../support/simulated-disk.ts';
import { callsOf, failAll, failNext, heal, ROOT, startStore, type Logged } from '../../support/stores.ts';
import { flipped } from '../../support/segments.ts';

const SESSION = `sessions/${ID}`;
const FILE = `${ROOT}/${SESSION}/checkpoint`;

let disk: SimulatedDisk;
let store: FileSessionStore;
let logged: readonly Logged[];

beforeEach(async () => {
  disk = new SimulatedDisk();
  ({ store, logged } = await startStore(disk));
  await (await store.create(ID)).append(frameOf(1, 1, 'a'));
});

async function read(): Promise<string | null> {
  const payload = await store.readCheckpoint(ID);
  return payload === null ? null : textOf(payload);
}

describe('a checkpoint', () => {
  it('takes the place of the one before in one step, its contents flushed before its name', async () => {
    await store.writeCheckpoint(ID, Buffer.from('first'));

    const calls = await callsOf(disk, () => store.writeCheckpoint(ID, Buffer.from('second')));

    expect(calls.filter((call) => !call.startsWith('close'))).toEqual([
      `remove ${SESSION}/checkpoint.new`,
      `open ${SESSION}/checkpoint.new`,
      `write ${SESSION}/checkpoint.new`,
      `sync ${SESSION}/checkpoint.new`,
      `rename ${SESSION}/checkpoint.new`,
      `syncDirectory ${SESSION}`,
    ]);
    disk.cutPower(() => 0);
    ({ store } = await startStore(disk));
    expect(await read()).toBe('second');
  });

  it('S-018: reads as missing when any one bit of it is flipped, when it is cut, and when bytes follow it', async () => {
    await store.writeCheckpoint(ID, Buffer.from('payload'));
    const whole = disk.contents(FILE) ?? new Uint8Array();
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      disk.damage(FILE, () => flipped(whole, bit));
      expect(await read()).toBeNull();
    }
    for (let length = 0; length < whole.length; length += 1) {
      disk.damage(FILE, () => whole.subarray(0, length));
      expect(await read()).toBeNull();
    }
    disk.damage(FILE, () => Buffer.concat([whole, Buffer.from('x')]));
    expect(await read()).toBeNull();
    expect(logged.at(-1)).toEqual({ event: 'checkpoint_damaged', session_id: ID, file: `${SESSION}/checkpoint` });

    disk.damage(FILE, () => whole);
    expect(await read()).toBe('payload');
  });

  it('that cannot be read is as good as missing, and logged', async () => {
    await store.writeCheckpoint(ID, Buffer.from('payload'));
    failNext(disk, 'read', 'EIO');

    expect(await read()).toBeNull();
    expect(logged).toMatchObject([{ event: 'checkpoint_unreadable', session_id: ID }]);
    expect(await read()).toBe('payload');
  });

  it('that cannot be written is answered with false and logged, and the one before stays', async () => {
    await store.writeCheckpoint(ID, Buffer.from('before'));
    const kinds: readonly DiskCallKind[] = ['open', 'write', 'sync', 'rename'];
    for (const kind of kinds) {
      failAll(disk, [kind], 'EIO');
      expect(await store.writeCheckpoint(ID, Buffer.from('after'))).toBe(false);
      heal(disk);
      expect(await read()).toBe('before');
    }
    expect(logged.map(({ event }) => event)).toEqual(kinds.map(() => 'checkpoint_not_written'));
  });

  it('leaves nothing behind on a full disk, and can be written again when there is room', async () => {
    disk.capacityBytes = 0;
    expect(await store.writeCheckpoint(ID, Buffer.from('x'.repeat(3_000)))).toBe(false);
    expect(disk.files(`${ROOT}/${SESSION}`)).not.toContain(`${FILE}.new`);

    disk.capacityBytes = Infinity;
    expect(await store.writeCheckpoint(ID, Buffer.from('x'))).toBe(true);
    expect(await read()).toBe('x');
  });

  it('is written by one call at a time', async () => {
    const both = await Promise.all([store.writeCheckpoint(ID, Buffer.from('one')), store.writeCheckpoint(ID, Buffer.from('two'))]);

    expect(both).toEqual([true, false]);
    expect(await read()).toBe('one');
  });

  it('is the old one or the new one, whole, whenever the process dies and whatever the device kept', async () => {
    for (let atCall = 1, hasDied = true; hasDied; atCall += 1) {
      for (const dies of ['before', 'after'] as const) {
        for (const kept of [0, 1]) {
          disk = new SimulatedDisk();
          const running = await startStore(disk);
          await (await running.store.create(ID)).append(frameOf(1, 1, 'a'));
          await running.store.writeCheckpoint(ID, Buffer.from('old'));
          const first = disk.callCount;
          disk.plan = ({ number }) => (number === first + atCall ? { dies } : undefined);
          await Promise.race([running.store.writeCheckpoint(ID, Buffer.from('new')), running.process.died]);
          hasDied = running.process.hasEnded;
          disk.cutPower((count) => Math.min(kept, count - 1));
          heal(disk);

          ({ store } = await startStore(disk));
          expect(['old', 'new']).toContain(await read());
          if (!hasDied) expect(await read()).toBe('new');
        }
      }
    }
  });
});
