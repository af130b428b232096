/** A server that may open no more files: it says so, loses nothing, and goes on as soon as it may again. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/brain-api.ts';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { says } from '../support/openai-server.ts';
import { Stage } from '../support/stage.ts';

const run = promisify(execFile);

/** Whether limits of another process can be set. Says so where not. */
async function canSetLimits(): Promise<boolean> {
  try {
    await run('prlimit', ['--pid', String(process.pid), '--nofile']);
    return process.platform === 'linux';
  } catch (error) {
    console.warn(`skipped: no limits can be set here (${error instanceof Error ? error.message.trim() : String(error)})`);
    return false;
  }
}

const maySetLimits = await canSetLimits();

let stage: Stage;
afterEach(async () => stage.strike());

/** Leaves room for so many more files: a new one gets the lowest number that is free, which must be below the limit. */
async function leaveRoomFor(room: number): Promise<void> {
  const taken = new Set((await readdir(`/proc/${stage.server.pid}/fd`)).map(Number));
  let limit = 0;
  for (let free = 0; free < room || taken.has(limit); limit += 1) if (!taken.has(limit)) free += 1;
  await limitTo(limit);
}

async function limitTo(count: number): Promise<void> {
  await run('prlimit', ['--pid', String(stage.server.pid), `--nofile=${count}:`]);
}

interface Sent {
  readonly id: string;
  readonly answer: Answer | null;
}

describe.skipIf(!maySetLimits)('a server that may open no more files', () => {
  it('S-168: answers what it cannot do with an error that may be tried again, keeps what it acknowledged, and goes on afterwards', async () => {
    stage = await Stage.set({ model: (call) => says(`Answer ${call.index}.`) });
    const sessions = await Promise.all(Array.from({ length: 8 }, async () => stage.create()));
    const ids = sessions.map(({ session_id }) => session_id);
    await Promise.all(ids.map(async (id) => stage.api.send(id, 'before')));
    const known = await Promise.all(ids.map(async (id) => stage.api.journal(id)));
    const answers: Sent[] = [];
    const ask = async (id: string, method: string, path: string, body?: unknown): Promise<void> => {
      // A connection that the server cannot take is closed.
      answers.push({ id, answer: await stage.api.request(method, path, body).catch(() => null) });
    };

    // Room for ever fewer files: the first that is refused is each time another one.
    for (const room of [12, 6, 4, 3, 2, 1, 0]) {
      await leaveRoomFor(room);
      await Promise.all([
        ...ids.map(async (id) => ask(id, 'POST', `/v1/sessions/${id}/messages`, { input: `with room for ${room}` })),
        ask('', 'POST', '/v1/sessions', { model: { provider: 'openai', name: 'scripted' } }),
        ask('', 'GET', '/v1/sessions'),
      ]);
      // One that is alone has its connection, and finds no file for itself.
      for (const id of ids.slice(0, 3)) await ask(id, 'GET', `/v1/sessions/${id}/events`);
    }
    await leaveRoomFor(0);
    for (const id of ids) await ask(id, 'POST', `/v1/sessions/${id}/messages`, { input: 'with no room' });
    await limitTo(4096);

    const refusals = answers.flatMap(({ answer }) => (answer === null || answer.status < 300 ? [] : [answer]));
    const codes = refusals.map(({ status, body }) => `${status} ${(body as { error: { code: string } }).error.code}`);
    console.log(`${answers.length} requests: ${answers.filter(({ answer }) => answer === null).length} without a connection, ${refusals.length} refused: ${[...new Set(codes)].join(', ')}`);
    expect(refusals.length).toBeGreaterThan(0);
    for (const code of codes) expect(['503 journal_unavailable', '409 session_busy']).toContain(code);

    for (const id of ids) {
      const sent = await eventually(async () => {
        const answer = await stage.api.request('POST', `/v1/sessions/${id}/messages`, { input: 'afterwards' });
        return answer.status === 200 ? answer : undefined;
      }, `${id} to go on`);
      expect(sent.body).toMatchObject({ session_id: id });
    }
    const created = answers.flatMap(({ answer }) => (answer?.status === 201 ? [(answer.body as { readonly session_id: string }).session_id] : []));
    const expectAllThere = async (): Promise<void> => {
      for (const id of created) expect(await stage.api.session(id)).toMatchObject({ status: 'idle' });
      for (const [index, id] of ids.entries()) {
        const records = await stage.api.journal(id);
        expect(records.slice(0, known[index]?.length)).toEqual(known[index]);
        expect(faultsOf(records)).toEqual([]);
        for (const { answer } of answers.filter((sent) => sent.id === id && sent.answer?.status === 200)) {
          const { sequence } = answer?.body as { readonly sequence?: number };
          if (sequence !== undefined) expect(records[sequence - 1]?.type).toBe('turn_started');
        }
      }
    };
    await expectAllThere();
    await stage.server.killAndStart();
    await expectAllThere();
    const journals = await Promise.all((await stage.api.sessions('?limit=1000')).sessions.map(async ({ session_id }) => stage.api.journal(session_id)));
    const started = journals.flat().filter(({ type }) => type === 'model_call_started').length;
    expect(stage.model.calls.all.length).toBeLessThanOrEqual(started);
    expect(stage.model.refusals).toEqual([]);
  });
});
