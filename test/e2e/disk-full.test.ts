/** A disk that is full: nothing is acknowledged that is not on it, nothing is sent that is not on it, and room mends it. */
import { appendFile, statfs, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer, BrainApi, RecordedEvent } from '../support/brain-api.ts';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { canMount, mountMemory, type Mount } from '../support/mounts.ts';
import { OpenAiServer, says } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runsLongForms } from '../support/slow-tests.ts';

const mayMount = await canMount();

const DISK_BYTES = (runsLongForms ? 64 : 4) * 1024 * 1024;
const MESSAGE = 'a message of some length. '.repeat(1500);
const SCRIPTED = { model: { provider: 'openai', name: 'scripted' }, tools: [] };

// A session whose turn could not be recorded any more is at work until there is room.
const KNOWN_REFUSALS: readonly unknown[] = ['disk_full', 'session_busy'];

interface Acknowledged {
  readonly id: string;
  readonly sequence: number;
}

class FullDisk {
  readonly mount: Mount;
  readonly server: ServerProcess;
  readonly model: OpenAiServer;
  /** Every session and turn that was answered with success. */
  readonly acknowledged: Acknowledged[] = [];
  readonly refusals: { readonly status: number; readonly code: unknown }[] = [];

  private constructor(mount: Mount, server: ServerProcess, model: OpenAiServer) {
    this.mount = mount;
    this.server = server;
    this.model = model;
  }

  static async start(): Promise<FullDisk> {
    const mount = await mountMemory(DISK_BYTES);
    await writeFile(path.join(mount.path, 'ballast'), Buffer.alloc(DISK_BYTES / 2));
    const model = await OpenAiServer.start((call) => says(`Answer ${call.index}. ${'And so on. '.repeat(300)}`));
    const server = await ServerProcess.start({ environment: model.environment, dataDirectory: path.join(mount.path, 'data') });
    return new FullDisk(mount, server, model);
  }

  get api(): BrainApi {
    return this.server.api;
  }

  /** Takes all the room that is left. */
  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.mount.path);
    await appendFile(path.join(this.mount.path, 'filler'), Buffer.alloc(bavail * bsize));
  }

  async makeRoom(): Promise<void> {
    for (const name of ['filler', 'ballast']) await unlink(path.join(this.mount.path, name));
  }

  async create(): Promise<Answer> {
    return this.#note(await this.api.request('POST', '/v1/sessions', SCRIPTED), 201);
  }

  async createWithTurn(): Promise<string> {
    const { body } = await this.create();
    const { session_id: id } = body as { readonly session_id: string };
    await this.send(id);
    return id;
  }

  async send(id: string, isAsync = false): Promise<Answer> {
    const headers: Record<string, string> = isAsync ? { prefer: 'respond-async' } : {};
    return this.#note(await this.api.request('POST', `/v1/sessions/${id}/messages`, { input: MESSAGE }, headers), isAsync ? 202 : 200);
  }

  /** The model calls that journals know of, once every session is at rest. */
  async recordedModelCalls(): Promise<number> {
    const { sessions } = await this.api.sessions('?limit=1000');
    const journals = await Promise.all(sessions.map(async ({ session_id }) => this.api.journal(session_id)));
    return journals.flat().filter(({ type }) => type === 'model_call_started').length;
  }

  async expectAcknowledgedIsThere(): Promise<void> {
    for (const id of new Set(this.acknowledged.map((one) => one.id))) {
      const records = await this.api.journal(id);
      expect(faultsOf(records), id).toEqual([]);
      const acknowledged = this.acknowledged.filter((one) => one.id === id).map(({ sequence }) => records[sequence - 1]?.type);
      expect(acknowledged.filter((type) => type !== 'session_created' && type !== 'turn_started'), id).toEqual([]);
    }
  }

  async dispose(): Promise<void> {
    await this.server.dispose();
    await this.model.close();
    await this.mount.unmount();
  }

  #note(answer: Answer, success: number): Answer {
    const { session_id, sequence = 1, error } = answer.body as { session_id: string; sequence?: number; error?: { code: unknown } };
    if (answer.status === success) this.acknowledged.push({ id: session_id, sequence });
    else this.refusals.push({ status: answer.status, code: error?.code });
    return answer;
  }
}

let disk: FullDisk;
afterEach(async () => disk.dispose());

async function eventsOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> {
  return new Map(await Promise.all(ids.map(async (id) => [id, await disk.api.events(id)] as const)));
}

describe.skipIf(!mayMount)('a disk that gets full', () => {
  it.each([
    ['while the server runs on', () => Promise.resolve()],
    ['while the server is killed and started on it', async () => disk.server.killAndStart()],
    [
      'while the server is stopped and started on it',
      async () => {
        expect(await disk.server.stop()).toBe(0);
        await disk.server.start();
      },
    ],
  ])('S-030, S-033, S-168: %s costs nothing that was acknowledged, lets nothing be sent, and room mends it', { timeout: 600_000 }, async (_, happen) => {
    disk = await FullDisk.start();
    const atRest = await disk.createWithTurn();
    const busy = [await disk.createWithTurn(), await disk.createWithTurn(), await disk.createWithTurn()];
    const before = await disk.api.events(atRest);

    // It ends in the middle of anything: of a create, a message, a turn, an answer.
    for (let round = 0; disk.refusals.filter(({ status }) => status === 507).length < 8; round += 1) {
      if (round > DISK_BYTES / 40_000) throw new Error('the disk never got full');
      await Promise.all([disk.create(), ...busy.map(async (id, index) => disk.send(id, (index + round) % 2 === 0))]);
    }
    await happen();
    // What was half written when there was no more room is cleared away by and by, which makes some: until none is left.
    await eventually(async () => {
      await disk.fill();
      const sentBefore = disk.model.calls.all.length;
      const answers = await Promise.all([disk.create(), ...[atRest, ...busy].map(async (id) => disk.send(id))]);
      if (answers.some(({ status }) => status !== 507)) return undefined;
      expect(disk.model.calls.all).toHaveLength(sentBefore);
      return true;
    }, 'a disk that is full');
    console.log(summary(disk));

    expect((await disk.api.events(atRest)).slice(0, before.length)).toEqual(before);
    expect((await disk.api.sessions('?limit=1000')).sessions.map(({ session_id }) => session_id)).toContain(atRest);
    expect(disk.refusals.map(({ code }) => code).filter((code) => !KNOWN_REFUSALS.includes(code))).toEqual([]);

    await disk.makeRoom();
    for (const id of [atRest, ...busy]) expect(await disk.send(id)).toMatchObject({ status: 200, body: { outcome: 'ended' } });
    expect((await disk.create()).status).toBe(201);
    await disk.expectAcknowledgedIsThere();
    const events = await eventsOf(busy);
    await disk.server.killAndStart();
    expect(await eventsOf(busy)).toEqual(events);
    await disk.expectAcknowledgedIsThere();
    // A kill may come between a record and its call, and never the other way round.
    expect(await disk.recordedModelCalls()).toBeGreaterThanOrEqual(disk.model.calls.all.length);
    expect(disk.model.refusals).toEqual([]);
  });
});

function summary({ acknowledged, refusals, model }: FullDisk): string {
  const codes = refusals.map(({ status, code }) => `${status} ${String(code)}`);
  const counts = [...new Set(codes)].map((code) => `${codes.filter((other) => other === code).length} × ${code}`);
  return `a full disk: ${acknowledged.length} acknowledged, ${model.calls.all.length} model calls, ${counts.join(', ')}`;
}
