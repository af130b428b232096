/** A system clock that is set while the server runs and between two runs, by hours and both ways. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BrainApi } from '../support/brain-api.ts';
import { canFakeClock, FakedClock } from '../support/faked-clock.ts';
import { faultsOf } from '../support/history.ts';
import { calls, OpenAiServer, says, silence, type ModelScript } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ToolServer } from '../support/tool-server.ts';

const mayFakeClock = await canFakeClock();

const HOUR_MS = 3_600_000;

describe.skipIf(!mayFakeClock)('a clock that is set', () => {
  let clock: FakedClock;
  let model: OpenAiServer;
  let tools: ToolServer;
  let server: ServerProcess;
  beforeEach(async () => {
    clock = await FakedClock.start();
    model = await OpenAiServer.start(() => says('Yes.'));
    tools = await ToolServer.start([{ name: 'work' }], () => 'done');
    const environment = { ...model.environment, ...tools.environment, ...clock.environment, BRAIN_CANCEL_SECS: '1' };
    server = await ServerProcess.start({ environment });
  });
  afterEach(async () => {
    await server.dispose();
    await model.close();
    await tools.close();
    await clock.dispose();
  });

  const create = async (): Promise<string> => (await server.api.create({ model: { provider: 'openai', name: 'scripted' }, tools: ['work'] })).session_id;
  const createdAt = async (id: string): Promise<number> => (await server.api.journal(id))[0]?.recorded_at ?? 0;

  it.each([
    ['while the server runs', () => Promise.resolve()],
    ['while the server is killed and started', async () => server.killAndStart()],
    [
      'while the server is stopped and started',
      async () => {
        await server.stop();
        await server.start();
      },
    ],
  ])('%s lets ids ascend, lets no record be older than the one before it, and takes no key away', async (_, happen) => {
    const first = await create();
    const ids = [first];
    const keyed = await send(server.api, first, 'once');
    const begun = await createdAt(first);
    for (const hours of [-2, -30, -9]) {
      await clock.setOffBy(hours);
      await happen();
      const id = await create();
      ids.push(id);
      // It does go by this clock.
      expect(Math.abs((await createdAt(id)) - begun - hours * HOUR_MS)).toBeLessThan(HOUR_MS / 2);
      expect(await server.api.send(first, `at ${hours}`)).toMatchObject({ outcome: 'ended' });
      await server.api.send(id, 'hello');

      expect(await send(server.api, first, 'once')).toEqual({ ...keyed, isReplayed: true });
    }

    expect(ids).toEqual(ids.toSorted());
    expect((await server.api.sessions()).sessions.map(({ session_id }) => session_id)).toEqual(ids);
    for (const id of ids) {
      const records = await server.api.journal(id);
      expect(faultsOf(records), id).toEqual([]);
      expect(records.map(({ recorded_at }) => recorded_at), id).toEqual(records.map(({ recorded_at }) => recorded_at).toSorted((a, b) => a - b));
    }
    expect(model.calls.all).toHaveLength(1 + 3 * 2);
  });

  it.each([-5, 5])('S-110, S-111: by %d hours in the middle of a turn neither ends that nor lets it run on', async (hours) => {
    await server.kill();
    await server.start({ BRAIN_MAX_TURN_SECS: '3', BRAIN_MAX_TOOL_SECS: '1' });
    const patient = await create();
    const hung = await create();
    let goOn = (): void => undefined;
    model.script = heldUntil(new Promise<void>((resolve) => (goOn = resolve)));
    const sent = server.api.send(patient, 'take your time');
    await model.calls.at(0);
    await clock.setOffBy(hours);
    await server.api.session(patient);
    goOn();
    expect(await sent).toMatchObject({ outcome: 'ended' });

    // The tool, and then the turn, are out of time by the time that has passed.
    tools.script = () => new Promise(() => undefined);
    model.script = (call) => (call.request.messages.at(-1)?.role === 'user' ? calls({ id: 'call_1', name: 'work', arguments: '{}' }) : silence(call));
    const startMs = performance.now();
    const late = server.api.send(hung, 'work');
    await tools.calls.at(0);
    await clock.setOffBy(-hours);
    expect(await late).toMatchObject({ outcome: 'failed', error: { code: 'turn_timeout' } });
    const passedMs = performance.now() - startMs;

    expect(passedMs).toBeGreaterThan(2900);
    expect(passedMs).toBeLessThan(30_000);
    const records = await server.api.journal(hung);
    expect(records.filter(({ type }) => type === 'tool_call_ended')).toMatchObject([{ data: { outcome: 'timeout' } }]);
    expect(faultsOf(records)).toEqual([]);
  });
});

function heldUntil(released: Promise<unknown>): ModelScript {
  return async () => {
    await released;
    return says('At last.');
  };
}

/** Under a key. */
async function send(api: BrainApi, id: string, input: string): Promise<{ readonly status: number; readonly body: unknown; readonly isReplayed: boolean }> {
  const { status, body, headers } = await api.request('POST', `/v1/sessions/${id}/messages`, { input }, { 'idempotency-key': 'the key' });
  return { status, body, isReplayed: headers.get('idempotent-replayed') === 'true' };
}
