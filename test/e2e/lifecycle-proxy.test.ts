/** A stream of `/sessions` through an nginx with its defaults, which buffers what it may and cuts what is silent. */
import { afterEach, describe, expect, it } from 'vitest';
import { gate } from '../support/gate.ts';
import { LifecycleApi } from '../support/lifecycle-api.ts';
import { canRunNginx, Nginx } from '../support/nginx.ts';
import { calls, says } from '../support/openai-server.ts';
import { SseReader } from '../support/sse-reader.ts';
import { runsSlowTests } from '../support/slow-tests.ts';
import { Stage } from '../support/stage.ts';

const isThere = await canRunNginx();
const READ_TIMEOUT_SECS = 20;
const SILENT_MS = 25_000;

let stage: Stage;
let proxy: Nginx;
afterEach(async () => {
  await proxy.stop();
  await stage.strike();
});

describe.skipIf(!isThere)('a stream through a proxy', () => {
  it('L-062: arrives piece by piece, while the answer is still being made', async () => {
    const [first, second] = [gate(), gate()];
    stage = await Stage.set({ model: () => ({ parts: [{ text: 'One. ' }, { wait: first.opened }, { text: 'Two. ' }, { wait: second.opened }, { text: 'Three.' }] }) });
    proxy = await Nginx.before(stage.server.url, { readTimeoutSecs: READ_TIMEOUT_SECS });
    const api = new LifecycleApi(proxy.url);
    const { id } = await api.create();
    const reader = await SseReader.open(api.streamOf(id));
    await api.send(id, 'slowly');

    await reader.next(({ event, data }) => event === 'assistant.delta' && data.includes('One.'), 'the first piece');
    first.open();
    await reader.next(({ event, data }) => event === 'assistant.delta' && data.includes('Two.'), 'the second piece');
    second.open();
    await reader.next(({ data }) => data.includes('"idle"'), 'the end of the turn');
    expect(reader.recorded).toEqual(await api.events(id));
    reader.close();
  });

  it.skipIf(!runsSlowTests)('L-066: lives through a tool that works in silence for longer than the proxy bears', async () => {
    const done = gate();
    stage = await Stage.set({
      model: (call) => (call.index === 0 ? calls({ id: 'call_1', name: 'work', arguments: '{}' }) : says('Worked.')),
      tools: [{ name: 'work' }],
      tool: async () => {
        await done.opened;
        return 'done';
      },
    });
    proxy = await Nginx.before(stage.server.url, { readTimeoutSecs: READ_TIMEOUT_SECS });
    const api = new LifecycleApi(proxy.url);
    const { id } = await api.create({ tools: ['work'] });
    const reader = await SseReader.open(api.streamOf(id));
    await api.send(id, 'work');
    await reader.nextOf('tool.call');

    const since = performance.now();
    for (let comment = 0; performance.now() - since < SILENT_MS; comment += 1) expect(await reader.comments.at(comment)).toBe('keepalive');
    done.open();
    await reader.next(({ data }) => data.includes('"idle"'), 'the end of the turn');
    expect(reader.recorded).toEqual(await api.events(id));
    reader.close();
  });
});
