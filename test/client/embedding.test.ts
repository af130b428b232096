/** A server in the process of whoever uses it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer } from '../../cli/server.ts';
import { Brain } from '../../client/index.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'brain-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe('a server that a program starts in itself', () => {
  it('serves, gives its directory up when it is stopped, and has everything when it is started again', async () => {
    const settings = { BRAIN_DATA_DIR: path.join(directory, 'data'), BRAIN_LISTEN: '127.0.0.1:0', BRAIN_LOG_LEVEL: 'error' };
    const first = await startServer(settings);
    const one = new Brain(first.url);
    const { id } = await one.sessions.create();
    const turn = await (await one.sessions.get(id)).send('hello');
    await one.close();
    await first.stop();
    await expect(new Brain(first.url).sessions.create()).rejects.toMatchObject({ name: 'BrainConnectionError' });

    const second = await startServer(settings);
    const session = await new Brain(second.url).sessions.get(id);

    expect(turn.result?.text).toBe('You said: hello');
    expect((await session.transcript()).messages).toHaveLength(2);
    await second.stop();
  });

  it('leaves nothing open where it does not start: its address is taken, or its telemetry file cannot be written', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const settings = { BRAIN_DATA_DIR: path.join(directory, 'data'), BRAIN_LISTEN: '127.0.0.1:0', BRAIN_LOG_LEVEL: 'error' };
    const other = await startServer({ ...settings, BRAIN_DATA_DIR: path.join(directory, 'other') });
    await expect(startServer({ ...settings, BRAIN_LISTEN: new URL(other.url).host })).rejects.toThrow('is in use');
    await expect(startServer({ ...settings, BRAIN_TELEMETRY_FILE: directory })).rejects.toThrow('cannot be written');
    await other.stop();

    expect(timers()).toBeLessThanOrEqual(before);
    await (await startServer(settings)).stop();
  });

  it('says what is wrong with an option', async () => {
    await expect(startServer({ BRAIN_LISTEN: 'nowhere' })).rejects.toThrow('BRAIN_LISTEN');
  });
});
