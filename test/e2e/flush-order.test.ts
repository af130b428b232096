/**
 * What the kernel is asked for, and in which order, until a request is answered. A segment is written through: its write is
 * its flush, as the flags say that it was opened with.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ServerProcess } from '../support/server-process.ts';
import { canTrace, SystemCallTrace, type SystemCall } from '../torture/system-calls.ts';

const mayTrace = await canTrace();

let server: ServerProcess;
beforeEach(async () => {
  server = await ServerProcess.start({ environment: { UV_USE_IO_URING: '0' } });
});
afterEach(async () => server.dispose());

async function callsDuring<T>(action: () => Promise<T>): Promise<{ readonly calls: readonly SystemCall[]; readonly value: T }> {
  const trace = await SystemCallTrace.attach(server.pid);
  const value = await action().catch(async (error: unknown) => {
    await trace.end();
    throw error;
  });
  return { calls: await trace.end(), value };
}

/** Each step was over before the next began; a step is a call's name and what its text has in it. */
function expectInOrder(calls: readonly SystemCall[], steps: readonly (readonly [name: string, text: string])[]): void {
  let after = -1;
  for (const [index, [name, text]] of steps.entries()) {
    const found = calls.find((call) => call.began > after && call.name === name && call.text.includes(text) && /= \d/.test(call.text));
    if (found === undefined) {
      expect.fail(`no ${name} of ${text} after ${index === 0 ? 'the beginning' : steps[index - 1]?.join(' ')}:\n${calls.map((call) => call.text.slice(0, 200)).join('\n')}`);
    }
    after = found.over;
  }
}

/** What answers a request is the last step. */
function answered(calls: readonly SystemCall[], status: number): readonly [string, string] {
  const call = calls.find(({ text }) => text.includes(`HTTP/1.1 ${status}`));
  return [call?.name ?? 'write', `HTTP/1.1 ${status}`];
}

const segment = (id: string, first: number): string => `${id}/journal/${String(first).padStart(16, '0')}.segment`;

describe.skipIf(!mayTrace)('the order of writes, flushes and renames', () => {
  it('of a create is the frame, written through, and each directory above it, and then the answer', async () => {
    const { calls, value: session } = await callsDuring(async () => server.api.create());
    const { session_id: id } = session;

    const file = segment(id, 1);
    // What is flushed is flushed at once, once all the names are there.
    for (const flush of [
      ['pwrite64', file],
      ['fsync', `sessions/${id}/journal>`],
      ['fsync', `sessions/${id}>`],
      ['fsync', `${path.basename(server.dataDirectory)}/sessions>`],
    ] as const) {
      expectInOrder(calls, [['mkdir', `sessions/${id}`], ['openat', `${file}", O_RDWR|O_CREAT|O_EXCL|O_DSYNC`], flush, answered(calls, 201)]);
    }
  });

  it('of a message is the frame, written through, and then the answer', async () => {
    const { calls, value: id } = await callsDuring(async () => {
      const { session_id } = await server.api.create();
      await server.api.submit(session_id, 'hello');
      return session_id;
    });

    // The file is the one that the create opened.
    expectInOrder(calls, [
      ['openat', `${segment(id, 1)}", O_RDWR|O_CREAT|O_EXCL|O_DSYNC`],
      answered(calls, 201),
      ['pwrite64', segment(id, 1)],
      answered(calls, 202),
    ]);
    expect(calls.filter(({ name, text }) => name === 'openat' && text.includes(segment(id, 1)))).toHaveLength(1);
  });

  it('of a commit that begins a segment is the new file, written through, and its directory, and then the answer', async () => {
    const { session_id: id } = await server.api.create();
    await server.api.send(id, 'a'.repeat(3_000_000));
    const folder = path.join(server.dataDirectory, 'sessions', id, 'journal');
    const before = await readdir(folder);

    const { calls } = await callsDuring(async () => server.api.submit(id, 'b'.repeat(3_000_000)));

    const name = (await readdir(folder)).toSorted().find((found) => !before.includes(found)) ?? 'no new segment';
    for (const flush of [['pwrite64', name], ['fsync', `${id}/journal>`]] as const) {
      expectInOrder(calls, [['openat', `${name}", O_RDWR|O_CREAT|O_EXCL|O_DSYNC`], flush, answered(calls, 202)]);
    }
  });

  it('of a checkpoint is its contents, their flush, the rename, and the directory', async () => {
    const { session_id: id } = await server.api.create();
    const folder = path.join(server.dataDirectory, 'sessions', id);

    const { calls } = await callsDuring(async () => {
      await server.api.send(id, 'a long story '.repeat(20_000));
      await eventually(async () => ((await readdir(folder)).includes('checkpoint') ? true : undefined), 'a checkpoint');
      // What follows the rename is over before the next request of this session is.
      await server.api.send(id, 'and then?');
    });

    const rename = calls.find(({ name, text }) => name === 'rename' && text.includes(`${id}/checkpoint"`));
    const temporary = /rename\("([^"]+)"/.exec(rename?.text ?? '')?.[1] ?? 'no rename to a checkpoint';
    const file = temporary.slice(temporary.indexOf(id));
    expectInOrder(calls, [['pwrite64', file], ['fdatasync', file], ['rename', `${id}/checkpoint"`], ['fsync', `sessions/${id}>`]]);
  });

  it('of a delete is one rename and both directories, and then the answer', async () => {
    const { session_id: id } = await server.api.create();
    await server.api.end(id);

    const { calls } = await callsDuring(async () => server.api.delete(id));

    const answer = answered(calls, 204);
    expectInOrder(calls, [['rename', `sessions/${id}`], ['fsync', '/sessions>'], answer]);
    expectInOrder(calls, [['rename', `sessions/${id}`], ['fsync', '/trash>'], answer]);
    expect(calls.filter(({ name, text }) => name === 'rename' && text.includes(`"${server.dataDirectory}/sessions/${id}"`))).toHaveLength(1);
  });
});
