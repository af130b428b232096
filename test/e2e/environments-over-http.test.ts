/** Tools that run elsewhere, over HTTP: a server that is built, an environment that is not it, and a kill between the two. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answering, EnvironmentServer } from '../support/environment-server.ts';
import { eventually } from '../support/eventually.ts';
import { calls, says } from '../support/openai-server.ts';
import { Stage } from '../support/stage.ts';

const TOOL = { name: 'book', description: 'Books a seat', input_schema: { type: 'object' }, effect: 'once' };
const RESULT = { type: 'result', output: 'booked' } as const;

let stage: Stage;
let environment: EnvironmentServer;

beforeEach(async () => {
  environment = await EnvironmentServer.start();
  stage = await Stage.set({
    model: ({ request }) => (request.messages.at(-1)?.role === 'user' && request.messages.at(-1)?.content === 'book it' ? calls({ id: 'c', name: 'book', arguments: '{"seat":1}' }) : says('Done.')),
  });
});

afterEach(async () => {
  await stage.strike();
  await environment.close();
});

async function createdWithEnvironment(): Promise<string> {
  const declared = await stage.api.request('PUT', '/v1/environments/air', { driver: 'http', url: environment.url, tools: [TOOL] });
  expect(declared.status).toBe(200);
  const { session_id } = await stage.create({ environments: ['air'], tools: ['book'] });
  return session_id;
}

describe('a tool of an environment over HTTP', () => {
  it('is called once, and its result comes by the callback', async () => {
    environment.script = ({ operation }) => answering(operation.request.type === 'invoke' ? { type: 'accepted' } : { type: 'result', output: null });
    const id = await createdWithEnvironment();
    const turn = stage.api.send(id, 'book it');
    const { report, operation } = await environment.first('invoke');
    expect(operation.callback?.url).toBe(`${stage.server.url}/v1/callbacks/${id}/${operation.sequence}`);
    expect(await report('emit', { type: 'air.seat_taken', data: { seat: 1 } })).toBe(204);
    expect(await report('emit', { type: 'session.ended', data: {} })).toBe(400);
    expect(await report('progress', { message: 'half', fraction: 0.5 })).toBe(204);
    expect(await report('result', { receipt: RESULT })).toBe(204);
    expect(await turn).toMatchObject({ outcome: 'ended', result: { text: 'Done.' } });
    expect(await report('result', { receipt: RESULT })).toBe(409);

    expect(await stage.record(id, 'tool_call_ended')).toMatchObject({ data: { started_sequence: operation.sequence, outcome: 'ok', output: 'booked' } });
    expect(await stage.record(id, 'extension_emitted')).toMatchObject({ data: { name: 'air.seat_taken', origin: { kind: 'tool', sequence: operation.sequence } } });
    expect([environment.repeated, environment.asked.length]).toEqual([[], 2]);
    expect(JSON.stringify(await stage.api.journal(id))).not.toContain(operation.callback?.token);
  });

  it('S-034, S-103: is unknown where the server was killed meanwhile, is not called again, and its late result is told so (cases 10, 11)', async () => {
    environment.script = ({ operation }) => (operation.request.type === 'invoke' ? { kind: 'hangs' } : answering({ type: 'accepted' }));
    const id = await createdWithEnvironment();
    await stage.api.submit(id, 'book it');
    const { report, operation, hungUp } = await environment.first('invoke');
    const { port } = new URL(stage.server.url);
    await stage.server.kill();
    await hungUp;
    await stage.server.start({}, Number(port));

    expect(await report('result', { receipt: RESULT })).toBe(409);
    const wrong = await stage.api.request('POST', `/v1/callbacks/${id}/${operation.sequence}/result`, { receipt: RESULT }, { authorization: 'Bearer x' });
    expect(wrong.status).toBe(401);
    expect(await stage.record(id, 'tool_call_ended')).toMatchObject({ data: { outcome: 'unknown' } });
    expect(await stage.api.send(id, 'and now?')).toMatchObject({ outcome: 'ended' });
    expect([environment.repeated, environment.asked.length]).toEqual([[], 2]);
  });

  it('is told when its turn is cancelled, and its connection closes (cases 21, 22)', async () => {
    environment.script = ({ operation }) => (operation.request.type === 'invoke' ? { kind: 'hangs' } : answering({ type: 'accepted' }));
    const id = await createdWithEnvironment();
    await stage.api.submit(id, 'book it');
    const { report, operation, hungUp } = await environment.first('invoke');
    await stage.api.request('POST', `/v1/sessions/${id}/cancel`);
    await hungUp;
    const cancel = await environment.first('cancel');
    expect(cancel.operation.request).toEqual({ type: 'cancel', target_sequence: operation.sequence });
    expect(await report('result', { receipt: RESULT })).toBe(409);
    const ended = await eventually(() => stage.record(id, 'tool_call_ended'), 'the end of the call');
    expect(ended).toMatchObject({ sequence: cancel.operation.sequence, data: { outcome: 'cancelled' } });
    expect([environment.repeated, environment.asked.length]).toEqual([[], 3]);
  });
});
