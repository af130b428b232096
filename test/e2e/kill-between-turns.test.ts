/** A server that is killed while sessions come, go, or fall asleep: what was acknowledged is so, and nothing is half. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { ServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
beforeEach(async () => {
  server = await ServerProcess.start();
});
afterEach(async () => server.dispose());

/** Sends all at once and kills the server as soon as so many were answered; the answers that came. */
async function killAfter<T>(answered: number, requests: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const answers: T[] = [];
  const enough = new Promise<void>((resolve) => {
    if (answered === 0) resolve();
    const sent = requests.map(async (request) => {
      answers.push(await request());
      if (answers.length >= answered) resolve();
    });
    // The kill cuts off the rest.
    for (const request of sent) request.catch(() => undefined);
  });
  await enough;
  await server.kill();
  return answers;
}

const KILL_AFTER = [0, 1, 2, 5, 9];

describe('a kill', () => {
  it('S-141, L-014: during creates leaves the sessions that were acknowledged, and of the others whole ones or none', async () => {
    const acknowledged: string[] = [];
    for (const answered of KILL_AFTER) {
      const { api } = server;
      const created = await killAfter(answered, Array.from({ length: 12 }, () => async () => api.create()));
      acknowledged.push(...created.map(({ session_id }) => session_id));
      await server.start();
    }

    const { sessions } = await server.api.sessions('?limit=1000');

    expect(sessions.map(({ session_id }) => session_id)).toEqual(expect.arrayContaining(acknowledged));
    for (const { session_id: id, status } of sessions) {
      expect(faultsOf(await server.api.journal(id))).toEqual([]);
      expect(['idle', 'failed']).toContain(status);
      if (acknowledged.includes(id)) expect(status).toBe('idle');
      if (status === 'idle') expect(await server.api.send(id, 'hello')).toMatchObject({ outcome: 'ended' });
    }
  });

  it('S-201: during deletes leaves each session whole or gone, and gone where that was acknowledged', async () => {
    for (const answered of KILL_AFTER) {
      const ids = await Promise.all(Array.from({ length: 12 }, async () => endedSession(server)));
      const { api } = server;
      const deleted = await killAfter(answered, ids.map((id) => async () => api.delete(id).then(() => id)));
      await server.start();

      for (const id of ids) {
        const { status, body } = await server.api.request('GET', `/v1/sessions/${id}`);
        if (deleted.includes(id)) expect(status).toBe(404);
        if (status === 404) continue;
        expect({ status, body }).toMatchObject({ status: 200, body: { status: 'ended' } });
        expect(faultsOf(await server.api.journal(id))).toEqual([]);
        await server.api.delete(id);
      }
    }

    expect((await server.api.sessions()).sessions).toEqual([]);
    const trash = path.join(server.dataDirectory, 'trash');
    await eventually(async () => ((await readdir(trash)).length === 0 ? true : undefined), 'an empty trash');
  });

  it('S-133: while sessions fall asleep leaves them at rest, with all that they knew', async () => {
    const ids = await Promise.all(
      [1, 5, 10, 20, 40, 80].map(async (idle_ttl_ms) => (await server.api.create({ idle_ttl_ms })).session_id),
    );
    await Promise.all(ids.map(async (id) => server.api.send(id, 'remember this')));
    const [, , third = ''] = ids;
    await eventually(async () => ((await server.api.session(third)).resident ? undefined : true), 'a session that is asleep');

    await server.killAndStart();

    for (const id of ids) {
      expect(await server.api.session(id)).toMatchObject({ status: 'idle', resident: false });
      expect(await server.api.transcript(id)).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
      expect(await server.api.send(id, 'and this')).toMatchObject({ outcome: 'ended' });
      expect(faultsOf(await server.api.journal(id))).toEqual([]);
    }
  });
});

async function endedSession(on: ServerProcess): Promise<string> {
  const { session_id: id } = await on.api.create();
  await on.api.end(id);
  return id;
}
