/** What an environment does to a session's life, and a server that stops while operations are under way. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { FAR_DRIVERS, FarStage } from '../support/far-stage.ts';
import { faultsOf } from '../support/history.ts';
import { calls, says } from '../support/openai-server.ts';

let stage: FarStage;
afterEach(async () => stage.strike());

const NO = { type: 'failure', code: 'not_today', message: 'not today', retryable: false } as const;

async function untilDraining(): Promise<void> {
  const isRefused = async (): Promise<true | undefined> => ((await stage.api.request('GET', '/health/ready')).status === 503 ? true : undefined);
  await eventually(isRefused, 'the server to say that it is not ready');
}

describe.each(FAR_DRIVERS)('an environment of the driver %s', (driver) => {
  it('that cannot be set up fails the create with 502, and leaves a failed session that says why', async () => {
    stage = await FarStage.set({ driver });
    stage.script = () => NO;

    const body = { model: { provider: 'openai', name: 'scripted' }, environments: ['far'] };
    const refused = await stage.api.request('POST', '/v1/sessions', body);

    expect(refused).toMatchObject({ status: 502, body: { error: { code: 'environment_failed' } } });
    const { session_id: id } = (refused.body as { error: { details: { session_id: string } } }).error.details;
    expect(await stage.api.session(id)).toMatchObject({ status: 'failed', explanation: expect.stringContaining('far') });
    await stage.killAndStart();
    expect(await stage.api.session(id)).toMatchObject({ status: 'failed', explanation: expect.stringContaining('far') });
    expect(stage.operations.all.map(({ request }) => request.type)).toEqual(['setup']);
    expect(faultsOf(await stage.api.journal(id))).toEqual([]);
  });

  it('that cannot be torn down fails the delete with 502, again for the same key, and another one asks anew', async () => {
    stage = await FarStage.set({ driver });
    const { session_id: id } = await stage.create();
    expect((await stage.api.end(id)).status).toBe('ended');
    stage.script = () => NO;
    const ask = (key: string) => stage.api.request('DELETE', `/v1/sessions/${id}`, undefined, { 'idempotency-key': key });

    expect(await ask('first')).toMatchObject({ status: 502, body: { error: { code: 'teardown_failed' } } });
    await stage.killAndStart();
    stage.script = () => ({ type: 'accepted' });
    expect(await ask('first')).toMatchObject({ status: 502, body: { error: { code: 'teardown_failed' } } });
    expect((await stage.api.session(id)).status).toBe('ended');
    expect((await ask('second')).status).toBe(204);

    expect((await stage.api.request('GET', `/v1/sessions/${id}`)).status).toBe(404);
    expect(stage.operations.all.map(({ request }) => request.type)).toEqual(['setup', 'detach', 'teardown', 'teardown']);
    expect(stage.repeated).toEqual([]);
  });

  it('S-219: is heard while the server stops: events, results, and the commands of what still runs', async () => {
    stage = await FarStage.set({ driver, tools: ['one', 'two'], model: ({ request }) => answerOf(request.messages.at(-1)) });
    stage.script = ({ request }) => (request.type === 'invoke' ? 'waits' : { type: 'accepted' });
    const { session_id: id } = await stage.create();
    const sent = stage.api.send(id, 'go');
    const one = await stage.called('one');

    const exited = stage.stage.server.stop();
    await untilDraining();
    expect(await stage.api.request('POST', '/v1/sessions', {})).toMatchObject({ status: 503, body: { error: { code: 'draining' } } });
    expect(await stage.emit(one, 'far.seen', { during: 'the drain' })).toBeNull();
    expect(await stage.report(one, 'the first')).toBeNull();
    // The turn goes on: its next call is sent out while the server stops.
    const two = await stage.called('two');
    expect(await stage.report(two, 'the second')).toBeNull();
    expect(await sent).toMatchObject({ outcome: 'ended', result: { text: 'Both are done.' } });
    expect(await exited).toBe(0);

    await stage.stage.server.start();
    const journal = await stage.api.journal(id);
    expect(journal.filter(({ type }) => type === 'tool_call_ended').map(({ data }) => [data['outcome'], data['output']])).toEqual([['ok', 'the first'], ['ok', 'the second']]);
    expect(journal.filter(({ type }) => type === 'extension_emitted')).toHaveLength(1);
    expect(faultsOf(journal)).toEqual([]);
    expect(stage.repeated).toEqual([]);
  });
});

/** One call after the other. */
function answerOf(last: { readonly role: string; readonly content?: unknown } | undefined): ReturnType<typeof says> {
  if (last?.role === 'user') return calls({ id: 'call_1', name: 'one', arguments: '{}' });
  return last?.content === 'the first' ? calls({ id: 'call_2', name: 'two', arguments: '{}' }) : says('Both are done.');
}
