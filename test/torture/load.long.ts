/** `npm run torture`: many sessions, tool loops and followers at once over some deaths; then nothing is left open, and memory returns. */
import { readdir, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { torture, USUAL } from './torture.ts';

const seed = Number(process.env['BRAIN_TORTURE_SEED']);
const MEMORY_BYTES_MAX = 300e6;

it(
  'carries 64 sessions over ten deaths, and holds nothing of them afterwards',
  async () => {
    const load = { clients: 48, sessions: 64, followersPerSession: 2, lifeMsMax: 4000 };
    const { faults, summary } = await torture({ ...USUAL, ...load, seed, kills: 10, msMax: 600_000 }, async ({ server }) => {
      await server.killAndStart();
      // Of the data directory: connections come and go with the followers.
      const handles = async (): Promise<number> => {
        const names = await readdir(`/proc/${server.pid}/fd`);
        const files = await Promise.all(names.map(async (name) => readlink(`/proc/${server.pid}/fd/${name}`).catch(() => '')));
        return files.filter((file) => file.startsWith(server.dataDirectory)).length;
      };
      // The first use of everything opens what stays open.
      for (let round = 0; round < 2; round += 1) await useAll();
      const floor = await handles();
      for (let round = 0; round < 5; round += 1) await useAll();
      await eventually(async () => ((await handles()) <= floor ? true : undefined), `${floor} open files again`);
      await delay(1000);
      const resident = await server.residentBytes();
      console.log(`${floor} open files, ${await handles()} after the load; ${Math.round(resident / 1e6)} MB`);
      expect(resident).toBeLessThan(MEMORY_BYTES_MAX);

      async function useAll(): Promise<void> {
        const { sessions } = await server.api.sessions('?limit=1000');
        await Promise.all(sessions.map(async ({ session_id: id }) => Promise.all([server.api.events(id), server.api.transcript(id)])));
      }
    });

    console.log(summary);
    expect(faults, `seed ${seed}`).toEqual([]);
  },
  0,
);
