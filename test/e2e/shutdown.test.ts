/** A server that is told to stop: what runs is finished or recorded, what is new is refused, and whoever reads sees the end. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/brain-api.ts';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/gate.ts';
import { faultsOf } from '../support/history.ts';
import { calls, says, silence } from '../support/openai-server.ts';
import { SseReader } from '../support/sse-reader.ts';
import { Stage } from '../support/stage.ts';

// Long enough for all that is asked meanwhile, on a machine that is busy.
const DRAIN_SECS = 5;
const CANCEL_SECS = 1;
// What is added to both bounds where everything is slow.
const SLACK_MS = 10_000;

let stage: Stage;
afterEach(async () => stage.strike());

const SCRIPTED = { model: { provider: 'openai', name: 'scripted' }, tools: [] };

function keyed(key: string): Record<string, string> {
  return { 'idempotency-key': key };
}

function streamOf(id: string): string {
  return `${stage.server.url}/v1/sessions/${id}/events`;
}

function codeIn({ body }: Answer): unknown {
  return (body as { readonly error?: { readonly code: string } } | undefined)?.error?.code;
}

async function untilDraining(): Promise<void> {
  const isRefused = async (): Promise<true | undefined> =>
    (await stage.api.request('GET', '/health/ready')).status === 503 ? true : undefined;
  await eventually(isRefused, 'the server to say that it is not ready');
}

describe('a server that is stopped within a bound', () => {
  it('S-102, S-217, S-220, S-222: completes the short turns, records the hung ones, and ends every stream after its last event', async () => {
    const short = gate();
    stage = await Stage.set({
      model: (call) => {
        const said = call.request.messages.at(-1)?.content;
        if (said === 'short') return { parts: [{ text: 'So ' }, { wait: short.opened }, { text: 'be it.' }] };
        if (said === 'soft tool' || said === 'deaf tool') return calls({ id: 'call_1', name: said.slice(0, 4), arguments: '{}' });
        return said === 'hello' ? says('Hello.') : silence(call);
      },
      tools: [{ name: 'soft' }, { name: 'deaf', ignoresCancellation: true }],
      tool: () => new Promise(() => undefined),
      environment: { BRAIN_DRAIN_SECS: String(DRAIN_SECS), BRAIN_CANCEL_SECS: String(CANCEL_SECS) },
    });
    const { api } = stage;
    const created = await api.request('POST', '/v1/sessions', SCRIPTED, keyed('create-1'));
    const { session_id: rested } = created.body as { session_id: string };
    const greeted = await api.request('POST', `/v1/sessions/${rested}/messages`, { input: 'hello' }, keyed('send-1'));
    const turns = ['short', 'short', 'hung model', 'soft tool', 'deaf tool', 'to be cancelled'];
    const running = await Promise.all(
      turns.map(async (input) => {
        const { session_id: id } = await stage.create();
        const reader = await SseReader.open(streamOf(id));
        return { id, reader, answer: api.send(id, input) };
      }),
    );
    await stage.model.calls.at(turns.length);
    await stage.tools.calls.at(1);
    const restedReader = await SseReader.open(streamOf(rested));

    const stoppedAt = performance.now();
    stage.server.signal('SIGTERM');
    await untilDraining();

    const last = running.at(-1);
    if (last === undefined) throw new Error('no turn runs');
    const refused = await Promise.all([
      api.request('POST', '/v1/sessions', SCRIPTED),
      api.request('POST', `/v1/sessions/${rested}/messages`, { input: 'more' }),
      api.request('POST', `/v1/sessions/${rested}/messages`, { input: 'more' }, { prefer: 'respond-async', ...keyed('send-2') }),
      api.request('POST', `/v1/sessions/${rested}/resume`),
    ]);
    const repeated = await Promise.all([
      api.request('POST', '/v1/sessions', SCRIPTED, keyed('create-1')),
      api.request('POST', `/v1/sessions/${rested}/messages`, { input: 'hello' }, keyed('send-1')),
    ]);
    const mismatched = await api.request('POST', `/v1/sessions/${rested}/messages`, { input: 'other' }, keyed('send-1'));
    await api.cancel(last.id);
    const looked = await Promise.all([api.session(last.id), api.events(rested), api.transcript(rested), api.journal(rested), api.sessions()]);
    const live = await api.request('GET', '/health/live');
    const lateReader = await SseReader.open(streamOf(rested));
    short.open();
    const answers = await Promise.all(running.map(async ({ answer }) => answer));
    await Promise.all([...running.map(({ reader }) => reader), restedReader, lateReader].map(async (reader) => reader.ended));
    const code = await stage.server.exited();
    const tookMs = performance.now() - stoppedAt;

    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503));
    expect(refused.map(codeIn)).toEqual(refused.map(() => 'draining'));
    expect(repeated.map(({ status, body }) => ({ status, body }))).toEqual([created, greeted].map(({ status, body }) => ({ status, body })));
    expect(repeated.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual(['true', 'true']);
    expect({ status: mismatched.status, code: codeIn(mismatched) }).toEqual({ status: 422, code: 'idempotency_mismatch' });
    expect(live.status).toBe(204);
    expect(looked[4].sessions).toHaveLength(turns.length + 1);
    expect(answers.map(({ outcome, error }) => error?.code ?? outcome)).toEqual(['ended', 'ended', 'shutdown', 'shutdown', 'shutdown', 'cancelled']);
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan((DRAIN_SECS + CANCEL_SECS) * 1000 + SLACK_MS);
    expect(stage.server.errors).not.toMatch(/stop_failed|answer_failed|"level":"?error/);

    await stage.server.start();
    for (const { id, reader } of running) {
      expect(reader.recorded).toEqual(await stage.api.events(id));
      expect(faultsOf(await stage.api.journal(id))).toEqual([]);
    }
    expect(running.map(({ reader }) => reader.frames.filter(({ id }) => id !== undefined).at(-1)?.event)).toEqual([
      ...['turn_ended', 'turn_ended'],
      ...['turn_failed', 'turn_failed', 'turn_failed', 'turn_failed'],
    ]);
    expect(restedReader.recorded).toEqual(await stage.api.events(rested));
    expect(lateReader.recorded).toEqual(restedReader.recorded);
    // The key of a request that was refused while draining is not used up.
    const sentAgain = await stage.api.request('POST', `/v1/sessions/${rested}/messages`, { input: 'hello' }, keyed('send-2'));
    expect(sentAgain).toMatchObject({ status: 200, body: { outcome: 'ended' } });
    expect(stage.model.refusals).toEqual([]);
    expect(stage.tools.repeated).toEqual([]);
  });
});

describe('a server with one slot that is stopped within a bound', () => {
  it('S-217, S-220, S-222: lets the turns that wait run while there is time, and records those that never got to run', async () => {
    const short = gate();
    stage = await Stage.set({
      model: (call) =>
        call.request.messages.at(-1)?.content === 'short' ? { parts: [{ text: 'So ' }, { wait: short.opened }, { text: 'be it.' }] } : silence(call),
      environment: { BRAIN_MAX_RUNNING_TURNS: '1', BRAIN_DRAIN_SECS: String(DRAIN_SECS), BRAIN_CANCEL_SECS: String(CANCEL_SECS) },
    });
    const turns: { readonly id: string; readonly reader: SseReader }[] = [];
    for (const input of ['short', 'short', 'hung', 'hung', 'hung']) {
      const { session_id: id } = await stage.create();
      turns.push({ id, reader: await SseReader.open(streamOf(id)) });
      await stage.api.submit(id, input);
    }
    await stage.model.calls.at(0);

    const stoppedAt = performance.now();
    stage.server.signal('SIGTERM');
    await untilDraining();
    expect(stage.model.calls.all).toHaveLength(1);
    short.open();
    await Promise.all(turns.map(async ({ reader }) => reader.ended));
    const code = await stage.server.exited();
    const tookMs = performance.now() - stoppedAt;

    expect(code).toBe(0);
    expect(tookMs).toBeLessThan((DRAIN_SECS + CANCEL_SECS) * 1000 + SLACK_MS);
    expect(stage.model.calls.all).toHaveLength(3);
    await stage.server.start();
    const journals = await Promise.all(turns.map(async ({ id }) => stage.api.journal(id)));
    expect(journals.map((records) => records.at(-1))).toMatchObject([
      { type: 'turn_ended' },
      { type: 'turn_ended' },
      { type: 'turn_failed', data: { code: 'shutdown' } },
      { type: 'turn_failed', data: { code: 'shutdown' } },
      { type: 'turn_failed', data: { code: 'shutdown' } },
    ]);
    expect(journals.map((records) => records.some(({ type }) => type === 'activation_started'))).toEqual([true, true, true, false, false]);
    for (const [index, { id, reader }] of turns.entries()) {
      expect(reader.recorded).toEqual(await stage.api.events(id));
      expect(faultsOf(journals[index] ?? [])).toEqual([]);
    }
  });
});

describe('a server that is stopped without a bound', () => {
  it.each([
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('S-102, S-218: waits for its turns after a %s, and a %s that comes at once changes nothing', async (first, second) => {
    const held = gate();
    stage = await Stage.set({ model: () => ({ parts: [{ text: 'Well' }, { wait: held.opened }] }) });
    const { session_id: id } = await stage.create();
    await stage.api.submit(id, 'think');
    await stage.model.calls.at(0);
    const reader = await SseReader.open(streamOf(id));

    stage.server.signal(first);
    stage.server.signal(second);
    await untilDraining();
    expect(await stage.api.session(id)).toMatchObject({ status: 'running' });
    expect(codeIn(await stage.api.request('POST', '/v1/sessions', SCRIPTED))).toBe('draining');
    held.open();

    await reader.ended;
    expect(await stage.server.exited()).toBe(0);
    expect(reader.frames.at(-1)?.event).toBe('turn_ended');
    expect(stage.server.errors).not.toContain('stopped_at_once');
    await stage.server.start();
    expect(reader.recorded).toEqual(await stage.api.events(id));
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  });

  it('S-103, S-222: is ended at once by a signal a second later, and the next start records what that broke off', async () => {
    stage = await Stage.set({ model: silence });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'think').catch((error: unknown) => error);
    await stage.model.calls.at(0);

    const stoppedAt = performance.now();
    stage.server.signal('SIGINT');
    await untilDraining();
    const again = setInterval(() => stage.server.signal('SIGINT'), 50);
    const code = await stage.server.exited().finally(() => clearInterval(again));
    const tookMs = performance.now() - stoppedAt;

    expect(code).toBe(0);
    expect(tookMs).toBeGreaterThan(1000);
    expect(tookMs).toBeLessThan(1000 + SLACK_MS);
    expect(await sent).toBeInstanceOf(Error);
    await stage.server.start();
    expect(await stage.record(id, 'model_call_failed')).toMatchObject({ data: { outcome: 'unknown' } });
    expect(await stage.record(id, 'turn_failed')).toMatchObject({ data: { code: 'interrupted_by_restart' } });
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
    expect(stage.model.calls.all).toHaveLength(1);
  });
});
