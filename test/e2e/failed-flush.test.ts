/**
 * Flushes that fail under a server at work: the kernel takes every write into its cache, loses some of them on the way to
 * the disk, says so once, and shows them as if they were there from then on. What counts is what the disk holds.
 */
import { execFile } from 'node:child_process';
import { appendFile, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFrameHeader } from '../../storage/frame.ts';
import { frameEnd, segmentName } from '../../storage/segment.ts';
import type { Answer, BrainApi, JournalRecord } from '../support/brain-api.ts';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { OpenAiServer, says } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { canMakeLoopDisks, LoopDisk } from '../torture/loop-disk.ts';

const run = promisify(execFile);
const mayMakeLoopDisks = await canMakeLoopDisks();

const SCRIPTED = { model: { provider: 'openai', name: 'scripted' }, tools: [] };
const FAILED = [503, 507];

interface Accepted {
  readonly id: string;
  readonly sequence: number;
}

class FailingDisk {
  readonly disk: LoopDisk;
  readonly model: OpenAiServer;
  readonly server: ServerProcess;
  readonly accepted: Accepted[] = [];
  /** The words of each message whose commit failed. */
  readonly refused: string[] = [];
  #messageCount = 0;

  private constructor(disk: LoopDisk, model: OpenAiServer, server: ServerProcess) {
    this.disk = disk;
    this.model = model;
    this.server = server;
  }

  static async start(): Promise<FailingDisk> {
    const disk = await LoopDisk.make(32);
    const model = await OpenAiServer.start((call) => says(`Answer ${call.index}. ${'And so on. '.repeat(300)}`));
    // Calls that go through a ring of their own would not be seen where they are traced.
    const environment = { ...model.environment, UV_USE_IO_URING: '0' };
    const server = await ServerProcess.start({ environment, dataDirectory: path.join(disk.path, 'data') });
    return new FailingDisk(disk, model, server);
  }

  get api(): BrainApi {
    return this.server.api;
  }

  /** A session with a turn behind it. */
  async create(more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { session_id: id } = await this.api.create({ ...SCRIPTED, ...more });
    await this.api.send(id, 'at first');
    return id;
  }

  /** Submits a message that no block has room for which another one ended in. */
  async submit(id: string): Promise<Answer> {
    const words = `message number ${this.#messageCount++} of all`;
    const answer = await this.api.request('POST', `/v1/sessions/${id}/messages`, { input: `${words} ${'x'.repeat(20_000)}` }, { prefer: 'respond-async' });
    if (answer.status === 202) this.accepted.push({ id, sequence: (answer.body as Accepted).sequence });
    if (FAILED.includes(answer.status)) this.refused.push(words);
    return answer;
  }

  /** Submits until a flush has failed. */
  async submitUntilRefused(id: string): Promise<Answer> {
    return eventually(async () => {
      const answer = await this.submit(id);
      return FAILED.includes(answer.status) ? answer : undefined;
    }, 'a flush that fails');
  }

  /** Ends as soon as the session takes a message again, and its turn is over. */
  async goesOn(id: string): Promise<void> {
    await eventually(async () => ((await this.submit(id)).status === 202 ? true : undefined), `${id} to go on`);
    await atRest(this.api, id);
  }

  /** What the disk itself holds, as a server finds it that is started on a copy after the power failed. */
  async afterPowerCut<T>(look: (api: BrainApi) => Promise<T>): Promise<T> {
    return this.disk.withCopy(await this.disk.copy(), async (directory) => {
      const server = await ServerProcess.start({ environment: this.model.environment, dataDirectory: path.join(directory, 'data') });
      try {
        return await look(server.api);
      } finally {
        await server.dispose();
      }
    });
  }

  /** The bytes of a message's first commit, as a server on a copy of the disk makes it. */
  async commitElsewhere(id: string): Promise<Uint8Array> {
    const before = (await readFile(segmentOf(this.disk.path, id))).length;
    return this.disk.withCopy(await this.disk.copy(), async (directory) => {
      const server = await ServerProcess.start({ environment: this.model.environment, dataDirectory: path.join(directory, 'data') });
      try {
        await server.api.request('POST', `/v1/sessions/${id}/messages`, { input: 'x'.repeat(20_000) }, { prefer: 'respond-async' });
        const bytes = await readFile(segmentOf(directory, id));
        const header = readFrameHeader(bytes, before);
        if (header === null) throw new Error(`no commit of a message was made in ${bytes.length - before} bytes`);
        return bytes.subarray(before, frameEnd(before, header));
      } finally {
        await server.dispose();
      }
    });
  }

  /** Leaves bytes at the end of a journal as a process leaves them that dies in a write, before anything of it is flushed. */
  async appendUnflushed(id: string, bytes: Uint8Array): Promise<void> {
    await appendFile(segmentOf(this.disk.path, id), bytes);
  }

  async expectAcknowledgedAndNoMore(id: string, records: readonly JournalRecord[]): Promise<void> {
    expect(faultsOf(records)).toEqual([]);
    const mine = this.accepted.filter((one) => one.id === id);
    expect(mine.map(({ sequence }) => records[sequence - 1]?.type)).toEqual(mine.map(() => 'turn_started'));
    expect(this.refused.filter((words) => JSON.stringify(records).includes(words))).toEqual([]);
  }

  async dispose(): Promise<void> {
    await this.server.dispose();
    await this.model.close();
    await this.disk.dispose();
  }
}

function segmentOf(disk: string, id: string): string {
  return path.join(disk, 'data', 'sessions', id, 'journal', segmentName(1));
}

async function atRest(api: BrainApi, id: string): Promise<void> {
  await eventually(async () => ((await api.session(id)).status === 'idle' ? true : undefined), `${id} to come to rest`);
}

describe.skipIf(!mayMakeLoopDisks)('a disk whose flushes fail', () => {
  let stage: FailingDisk;
  beforeEach(async () => {
    stage = await FailingDisk.start();
  });
  afterEach(async () => stage.dispose());

  it('takes a write, fails its flush once, and reads it back whole from then on', async () => {
    await stage.disk.takeRoom();
    const file = await open(path.join(stage.disk.path, 'probe'), 'w+');
    try {
      expect(await file.write(Buffer.alloc(20_000, 'x'), 0, 20_000, 0)).toMatchObject({ bytesWritten: 20_000 });
      await expect(file.datasync()).rejects.toThrow();
      await file.datasync();
      expect((await file.read(Buffer.alloc(20_000), 0, 20_000, 0)).buffer.equals(Buffer.alloc(20_000, 'x'))).toBe(true);
    } finally {
      await file.close();
    }
  });

  it('S-030, S-168, S-169: acknowledges nothing of a failed commit, keeps and sends nothing of it, and goes on when there is room', async () => {
    const [busy, other] = [await stage.create(), await stage.create()];
    const ids = [busy, other, await stage.create({ idle_ttl_ms: 0 })];
    const known = await stage.api.journal(other);

    await stage.disk.takeRoom();
    for (const id of ids) await stage.submitUntilRefused(id);
    // It may find blocks that have room since another file had them. Then it is on the disk.
    for (const id of ids) expect([...FAILED, 202]).toContain((await stage.submit(id)).status);
    const held = await stage.afterPowerCut(async (api) => Promise.all(ids.map(async (id) => api.journal(id))));
    for (const [index, id] of ids.entries()) await stage.expectAcknowledgedAndNoMore(id, held[index] ?? []);
    expect((await stage.api.journal(other)).slice(0, known.length)).toEqual(known);

    await stage.disk.giveRoom();
    for (const id of ids) await stage.goesOn(id);
    const journals = await Promise.all(ids.map(async (id) => stage.api.journal(id)));
    const left = await stage.afterPowerCut(async (api) => Promise.all(ids.map(async (id) => api.journal(id))));
    expect(left).toEqual(journals);
    await stage.server.killAndStart();
    for (const [index, id] of ids.entries()) {
      expect(await stage.api.journal(id)).toEqual(journals[index]);
      await stage.expectAcknowledgedAndNoMore(id, journals[index] ?? []);
    }
    expect(stage.refused.filter((words) => stage.model.calls.all.some(({ request }) => JSON.stringify(request).includes(words)))).toEqual([]);
    expect(stage.model.calls.all).toHaveLength(journals.flat().filter(({ type }) => type === 'model_call_started').length);
  });

  it('S-168, S-169: shows nothing of a failed commit to a process that comes after a kill, and after a power cut, with or without room', async () => {
    const ids = [await stage.create(), await stage.create({ idle_ttl_ms: 0 })];
    await stage.disk.takeRoom();
    for (const id of ids) await stage.submitUntilRefused(id);

    const left = await stage.afterPowerCut(async (api) => Promise.all(ids.map(async (id) => api.journal(id))));
    for (const [index, id] of ids.entries()) await stage.expectAcknowledgedAndNoMore(id, left[index] ?? []);
    await stage.server.killAndStart();
    for (const id of ids) {
      // It may have to write that a turn was broken off, and cannot.
      const { status, body } = await stage.api.request('GET', `/v1/sessions/${id}/journal?limit=1000`);
      expect([200, ...FAILED]).toContain(status);
      expect(stage.refused.filter((words) => JSON.stringify(body).includes(words))).toEqual([]);
    }
    await stage.disk.giveRoom();
    for (const id of ids) {
      await stage.goesOn(id);
      await stage.expectAcknowledgedAndNoMore(id, await stage.api.journal(id));
    }
  });

  it('S-168, S-169: answers 503 to everybody while the file cannot be cut back, and leaves nothing of the commit to a process that comes after a kill', async () => {
    const id = await stage.create({ idle_ttl_ms: 0 });
    const other = await stage.create();
    const known = await stage.api.journal(id);
    const folder = path.join(stage.disk.path, 'data', 'sessions', id, 'journal');
    // Its open file goes on taking writes; it can be opened for none any more.
    await run('mount', ['--bind', folder, folder]);
    let isMounted = true;
    try {
      await run('mount', ['-o', 'remount,ro,bind', folder]);
      await stage.disk.takeRoom();
      await stage.submitUntilRefused(id);
      for (const [method, where, body] of [
        ['GET', '', undefined],
        ['GET', '/events', undefined],
        ['GET', '/transcript', undefined],
        ['GET', '/journal', undefined],
        ['POST', '/messages', { input: 'meanwhile' }],
      ] as const) {
        const answer = await stage.api.request(method, `/v1/sessions/${id}${where}`, body);
        expect(answer, `${method} ${where}`).toMatchObject({ status: 503, body: { error: { code: 'journal_unavailable' } } });
      }
      expect(await stage.api.session(other)).toMatchObject({ status: 'idle' });

      const left = await stage.afterPowerCut(async (api) => api.journal(id));
      await stage.expectAcknowledgedAndNoMore(id, left);
      expect(left.slice(0, known.length)).toEqual(known);
      await stage.server.kill();
      await run('umount', [folder]);
      isMounted = false;
      await stage.server.start();

      expect(await stage.api.journal(id)).toEqual(known);
      await stage.disk.giveRoom();
      await stage.goesOn(id);
      await stage.expectAcknowledgedAndNoMore(id, await stage.api.journal(id));
    } finally {
      if (isMounted) {
        await stage.server.kill();
        await run('umount', [folder]);
      }
    }
  });

  it('S-168, S-169: shows what a process that died had not flushed only once it is on the disk, however often that fails', async () => {
    const id = await stage.create({ idle_ttl_ms: 0 });
    const known = await stage.api.journal(id);
    const commit = await stage.commitElsewhere(id);
    await stage.server.kill();
    // Before the commit: the kernel writes out what is in its cache whenever it likes to.
    await stage.disk.takeRoom();
    await stage.appendUnflushed(id, commit);
    await stage.server.start();

    // The kernel has the whole commit in its cache, and shows it as if it had been flushed. Each look writes a new file, which
    // may get blocks that have room since another file had them: only then is it shown, and the disk has all that is shown.
    for (let time = 0; time < 3; time += 1) {
      const { status, body } = await stage.api.request('GET', `/v1/sessions/${id}/journal`);
      expect([...FAILED, 200]).toContain(status);
      const seen = status === 200 ? (body as { readonly records: readonly JournalRecord[] }).records : [];
      const held = await stage.afterPowerCut(async (api) => api.journal(id));
      expect(held.slice(0, seen.length)).toEqual(seen);
    }
    await stage.disk.giveRoom();
    const shown = await stage.api.journal(id);
    expect(shown.slice(0, known.length)).toEqual(known);
    expect(shown.slice(known.length).map(({ type }) => type)).toContain('turn_started');
    expect(faultsOf(shown)).toEqual([]);
    expect(await stage.afterPowerCut(async (api) => api.journal(id))).toEqual(shown);
  });
});
