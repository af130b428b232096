/** A disk that takes nothing for a while: nothing is acknowledged or sent, nothing is lost, and it goes on afterwards. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { canMount } from '../support/mounts.ts';
import { OpenAiServer, says } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';

const run = promisify(execFile);
const mayMount = await canMount();

/** How many journals stay open that nobody uses. */
const OPEN_MAX = 256;

let cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.toReversed()) await step();
  cleanUp = [];
});

describe.skipIf(!mayMount)('sessions on a file system that becomes read-only', () => {
  it('S-030, S-168: are answered 503 where something has to be written, send nothing, and go on where they were', async () => {
    const dataDirectory = await mkdtemp(path.join(tmpdir(), 'brain-read-only-'));
    cleanUp.push(() => rm(dataDirectory, { recursive: true, force: true }));
    const model = await OpenAiServer.start(() => says('Yes.'));
    cleanUp.push(() => model.close());
    const server = await ServerProcess.start({ environment: model.environment, dataDirectory });
    cleanUp.push(() => server.dispose());
    const create = { model: { provider: 'openai', name: 'scripted' }, tools: [] };
    const { session_id: id } = await server.api.create(create);
    await server.api.send(id, 'before');
    const before = await server.api.journal(id);
    // A file that is open goes on taking writes: so many others are released that this one is closed.
    const others = Array.from({ length: OPEN_MAX });
    await inParallel(others, 8, () => server.api.create(create));

    const sessions = path.join(dataDirectory, 'sessions');
    await run('mount', ['--bind', sessions, sessions]);
    let isMounted = true;
    cleanUp.push(async () => isMounted && run('umount', [sessions]));
    await run('mount', ['-o', 'remount,ro,bind', sessions]);
    const calls = model.calls.all.length;
    for (const [method, where, body] of [
      ['POST', `/v1/sessions/${id}/messages`, { input: 'meanwhile' }],
      ['POST', '/v1/sessions', create],
      ['PATCH', `/v1/sessions/${id}`, { metadata: { a: 'b' } }],
    ] as const) {
      expect(await server.api.request(method, where, body)).toMatchObject({ status: 503, body: { error: { code: 'journal_unavailable' } } });
    }
    expect(model.calls.all).toHaveLength(calls);

    await run('umount', [sessions]);
    isMounted = false;
    expect(await server.api.send(id, 'after')).toMatchObject({ outcome: 'ended' });
    const after = await server.api.journal(id);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.filter(({ type }) => type === 'turn_started')).toHaveLength(2);
    expect((await server.api.sessions('?limit=1000')).sessions).toHaveLength(1 + OPEN_MAX);
    await server.killAndStart();
    expect(await server.api.journal(id)).toEqual(after);
  });
});
