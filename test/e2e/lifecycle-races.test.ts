/** Verbs of `/sessions` that cross each other and their turns: one wins, and the history explains it. */
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { inParallel } from '../../bench/in-parallel.ts';
import { eventually } from '../support/eventually.ts';
import { faultsOf } from '../support/history.ts';
import { eventFaultsOf, LifecycleApi, type LifecycleEvent } from '../support/lifecycle-api.ts';
import { calls, says, silence } from '../support/openai-server.ts';
import { runsLongForms } from '../support/slow-tests.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

const SESSIONS = 4;
const ROUNDS = (runsLongForms ? 1000 : 60) / SESSIONS;
const MS_MAX = 50;
const STOP_MS_MAX = 2_000;

let stage: Stage;
let api: LifecycleApi;
afterEach(async () => stage.strike());

async function set(options: Parameters<typeof Stage.set>[0]): Promise<void> {
  stage = await Stage.set(options);
  api = new LifecycleApi(stage.server.url);
}

async function until(id: string, ...statuses: readonly string[]): Promise<string> {
  return eventually(async () => {
    const { status } = await api.session(id);
    return statuses.includes(status) ? status : undefined;
  }, statuses.join(' or '));
}

async function expectSound(id: string): Promise<readonly LifecycleEvent[]> {
  const events = await api.events(id);
  expect(eventFaultsOf(events)).toEqual([]);
  expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  return events;
}

describe('an interrupt that races its message', () => {
  it('L-085, L-091: stops that turn or none, and the message after it completes', { timeout: 600_000 }, async () => {
    await set({
      model: async (call) => {
        if (call.request.messages.at(-1)?.content !== 'race') return says('Yes.');
        await setTimeout(20);
        return says('Done.');
      },
    });
    const ids = await Promise.all(Array.from({ length: SESSIONS }, async () => (await api.create()).id));
    const stopped = await inParallel(ids, SESSIONS, async (id, at) => {
      let interrupted = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        await api.send(id, 'race');
        // A wait for nothing: every distance is tried in turn.
        await setTimeout((round * SESSIONS + at) % (MS_MAX + 1));
        await api.interrupt(id);
        if ((await until(id, 'idle', 'interrupted')) === 'interrupted') {
          interrupted += 1;
          await api.resume(id);
        }
        const { id: after } = await api.send(id, 'after');
        await until(id, 'idle');
        const last = (await api.events(id)).filter(({ input_id }) => input_id === after);
        expect(last.map(({ type, status }) => status ?? type)).toEqual(['user.message', 'running', 'assistant.message', 'idle']);
      }
      await expectSound(id);
      return interrupted;
    });
    const total = stopped.reduce((sum, count) => sum + count, 0);
    console.log(`${SESSIONS * ROUNDS} interrupts within ${MS_MAX} ms of a message: ${total} stopped its turn`);
    expect(total).toBeGreaterThan(0);
  });
});

describe('an interrupt', () => {
  it('L-087, L-088: reaches the request to the model, and the tool, within two seconds', async () => {
    await set({
      model: (call) => (call.request.messages.some(({ content }) => content === 'think') ? silence(call) : calls({ id: 'call_1', name: 'slow', arguments: '{}' })),
      tools: [{ name: 'slow' }],
      tool: () => new Promise(() => undefined),
    });
    for (const text of ['think', 'use the tool']) {
      const { id } = await api.create({ tools: ['slow'] });
      const call = stage.model.calls.all.length;
      await api.send(id, text);
      const { hungUp } = text === 'think' ? await stage.model.calls.at(call) : await stage.tools.calls.at(0);
      const since = performance.now();
      await api.interrupt(id);
      await hungUp;
      expect(performance.now() - since).toBeLessThan(STOP_MS_MAX);
      await until(id, 'interrupted');
      await expectSound(id);
    }
  });

  it('L-091: is not held up by a tool that ignores it, whose late answer is no result', async () => {
    let answer = (_output: string): void => undefined;
    await set({
      model: () => calls({ id: 'call_1', name: 'deaf', arguments: '{}' }),
      tools: [{ name: 'deaf', ignoresCancellation: true }],
      tool: () => new Promise((resolve) => (answer = resolve)),
      environment: { BRAIN_CANCEL_SECS: '1' },
    });
    const { id } = await api.create({ tools: ['deaf'] });
    await api.send(id, 'go');
    await stage.tools.calls.at(0);
    await api.interrupt(id);
    await until(id, 'interrupted');
    const events = await expectSound(id);
    expect(events.find(({ type }) => type === 'tool.result')).toMatchObject({ outcome: 'cancelled', is_error: true });

    answer('too late');
    await api.resume(id);
    await api.close(id);
    expect((await expectSound(id)).filter(({ type }) => type === 'tool.result')).toHaveLength(1);
  });
});

describe('messages', () => {
  it('L-043, L-044, L-051, L-073: seventeen more while a turn hangs: sixteen wait, the next keeps its key, and all run in order', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await set({ model: async (call) => (call.index === 0 ? held.then(() => says('First.')) : says('Next.')) });
    const { id } = await api.create();
    const reader = await SseReader.open(api.streamOf(id));
    await api.send(id, '0');
    await stage.model.calls.at(0);

    const answers = await Promise.all(
      Array.from({ length: 17 }, (_, at) => api.request('POST', `/sessions/${id}/events`, { type: 'user.message', text: `${at}`, key: `${at}` })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 16 }, () => 202), 429]);
    const refused = answers.findIndex(({ status }) => status === 429);
    expect(answers[refused]?.headers.get('retry-after')).toBe('1');
    release();
    await reader.next(({ data }) => data.includes('"idle"'), 'the end of the last turn');
    const { id: last } = await api.send(id, `${refused}`, `${refused}`);
    await reader.next(({ data }) => data.includes('"idle"') && data.includes(`"input_id":"${last}"`), 'the end of the turn after it');
    reader.close();

    const events = await expectSound(id);
    expect(events.filter(({ status }) => status === 'running')).toHaveLength(18);
    expect(events.filter(({ status }) => status === 'idle')).toHaveLength(2);
    expect(reader.recorded).toEqual(events);
    expect(stage.model.calls.all).toHaveLength(18);
  });

  it('L-036, L-076: that arrive while a turn is being stopped are recorded and told of, or refused', { timeout: 600_000 }, async () => {
    await set({ model: silence });
    await inParallel(Array.from({ length: SESSIONS * ROUNDS }), SESSIONS, async (_, round) => {
      const { id } = await api.create();
      const first = await api.send(id, 'first');
      const [, ...answers] = await Promise.all([
        setTimeout(round % 5).then(() => api.interrupt(id)),
        ...Array.from({ length: 8 }, async (__, at) => {
          await setTimeout(at);
          return api.request('POST', `/sessions/${id}/events`, { type: 'user.message', text: `${at}` });
        }),
      ]);
      await until(id, 'interrupted');
      const events = await expectSound(id);
      const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => (body as LifecycleEvent).id);
      const refused = answers.filter(({ status }) => status !== 202).map(({ status, body }) => [status, (body as { readonly error: { readonly code: string } }).error.code]);
      expect(refused.filter(([status, code]) => status !== 409 || (code !== 'session_busy' && code !== 'must_resume'))).toEqual([]);
      const told = events.filter(({ type, code }) => type === 'session.error' && code === 'conflict').map(({ input_id }) => input_id);
      expect(told.toSorted()).toEqual([first.id, ...accepted].toSorted());
    });
  });
});

describe('a close, a message and a resume at the same moment', () => {
  it('L-106, L-108, L-115: have one outcome, which the history explains', { timeout: 600_000 }, async () => {
    await set({ model: () => says('Done.') });
    await inParallel(Array.from({ length: SESSIONS * ROUNDS }), SESSIONS, async (_, round) => {
      const { id } = await api.create();
      const ask = [
        () => api.request('POST', `/sessions/${id}/close`),
        () => api.request('POST', `/sessions/${id}/events`, { type: 'user.message', text: 'hello' }),
        () => api.request('POST', `/sessions/${id}/resume`),
      ];
      const order = [...ask.slice(round % 3), ...ask.slice(0, round % 3)];
      const answers = (await Promise.all(order.map((one) => one()))).map(({ status }) => status);
      const [closed, sent, resumed] = [0, 1, 2].map((at) => answers[(at - (round % 3) + 3) % 3]);
      expect([closed, [202, 409].includes(sent ?? 0), [200, 409].includes(resumed ?? 0)]).toEqual([202, true, true]);
      await until(id, 'closed');
      const events = await expectSound(id);
      expect(events.filter(({ type }) => type === 'user.message')).toHaveLength(sent === 202 ? 1 : 0);
      expect(events.at(-1)).toMatchObject({ status: 'closed' });
    });
  });
});
