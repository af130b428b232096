/** What the services refuse, as a client meets it: each code comes where the OpenAPI document says that it may. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DescribedServer } from '../support/described-server.ts';
import { DATA } from '../support/living-brain.ts';
import type { OpenApiDocument } from '../support/openapi-document.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';

class KnownProvider extends ScriptedModel {
  override resolve(model: Parameters<ScriptedModel['resolve']>[0]): ReturnType<ScriptedModel['resolve']> {
    return model.provider === 'demo' ? super.resolve(model) : null;
  }
}

let document: OpenApiDocument;
let server: DescribedServer;

beforeAll(async () => {
  document = await DescribedServer.document();
});

afterEach(async () => {
  await server.close();
});

/** A server with a session whose turn waits for the test. */
async function running(body: unknown = {}): Promise<string> {
  const model = new KnownProvider((_call, index) => (index === 0 ? 'waits' : saying('done')));
  server = await DescribedServer.open({ model, document });
  const id = await server.create(body);
  await server.send('POST', `/v1/sessions/${id}/messages`, { body: { input: 'go' }, headers: { prefer: 'respond-async' } });
  await model.calls.at(0);
  return `/v1/sessions/${id}`;
}

const message = { body: { input: 'hello' } };

describe('a create is refused', () => {
  it.each([
    [{ agentloop: { name: 'nobody' } }, 'unknown_agentloop', '/agentloop/name'],
    [{ model: { provider: 'nobody', name: 'm' } }, 'unknown_provider', '/model'],
    [{ tools: ['look', 'nothing'] }, 'unknown_tool', '/tools/1'],
    [{ environments: ['nowhere'] }, 'unknown_environment', '/environments/0'],
    [{ model: { provider: 'demo', name: 'echo', credential: 'none' } }, 'unknown_credential', '/model/credential'],
  ])('for a name that stands for nothing: %j is %s', async (body, code, field) => {
    server = await DescribedServer.open({ model: new KnownProvider(), document });
    const answer = await server.send('POST', '/v1/sessions', { body });

    expect([answer.status, answer.code]).toEqual([422, code]);
    expect(answer.body).toMatchObject({ error: { details: { field } } });
  });

  it('where its body is too large, or no JSON', async () => {
    server = await DescribedServer.open({ document });
    expect((await server.send('POST', '/v1/sessions', { body: { system: 'x'.repeat(1024 * 1024) } })).code).toBe('too_large');
    const typed = await server.send('POST', '/v1/sessions', { body: '{}', headers: { 'content-type': 'text/plain' } });
    expect(typed.code).toBe('unsupported_media_type');
  });

  it('where the disk is full, and where it fails', async () => {
    server = await DescribedServer.open({ document });
    for (const [fails, code] of [
      ['ENOSPC', 'disk_full'],
      ['EIO', 'journal_unavailable'],
    ] as const) {
      server.living.disk.plan = ({ kind }) => (kind === 'write' ? { fails } : undefined);
      expect((await server.send('POST', '/v1/sessions')).code).toBe(code);
    }
  });
});

describe('a message is refused', () => {
  it('while a turn runs, while the session ends, and when it has ended', async () => {
    const session = await running();
    expect((await server.send('POST', `${session}/messages`, message)).code).toBe('session_busy');
    expect((await server.send('POST', `${session}/resume`)).code).toBe('not_resumable');
    expect((await server.send('DELETE', session)).code).toBe('must_end');

    const ended = server.send('POST', `${session}/end`);
    await expect.poll(async () => (await server.send('POST', `${session}/messages`, message)).code).toBe('session_ending');
    server.living.model.calls.all[0]?.answer(saying('done'));
    expect((await ended).status).toBe(200);

    expect((await server.send('POST', `${session}/messages`, message)).code).toBe('session_ended');
    expect((await server.send('PATCH', session, { body: { metadata: { a: 'b' } } })).code).toBe('session_ended');
    expect((await server.send('POST', `${session}/resume`)).code).toBe('not_resumable');
  });

  it('where a stopped session is held, until it is resumed', async () => {
    const session = await running({ after_stop: 'hold' });
    await server.send('POST', `${session}/cancel`);
    await expect.poll(async () => (await server.send('POST', `${session}/messages`, message)).code).toBe('must_resume');
    expect((await server.send('POST', `${session}/resume`)).status).toBe(200);
    expect((await server.send('POST', `${session}/messages`, message)).status).toBe(200);
  });
});

describe('a session is refused', () => {
  it('that is not there', async () => {
    server = await DescribedServer.open({ document });
    const missing = `/v1/sessions/${'0'.repeat(32)}`;
    for (const [method, path] of [
      ['GET', missing],
      ['DELETE', missing],
      ['PATCH', missing],
      ['POST', `${missing}/messages`],
      ['POST', `${missing}/cancel`],
      ['POST', `${missing}/resume`],
      ['POST', `${missing}/end`],
      ['GET', `${missing}/events`],
      ['GET', `${missing}/journal`],
      ['GET', `${missing}/transcript`],
    ] as const) {
      const body = method === 'PATCH' ? { metadata: {} } : path.endsWith('messages') ? { input: 'x' } : undefined;
      expect([path, (await server.send(method, path, body === undefined ? {} : { body })).code]).toEqual([path, 'not_found']);
    }
  });

  it('whose journal is damaged, with the file and where in it', async () => {
    server = await DescribedServer.open({ document });
    const id = await server.create();
    await server.send('POST', `/v1/sessions/${id}/messages`, message);
    const [file = ''] = server.living.disk.files(DATA).filter((name) => name.includes(id) && name.includes('journal'));
    server.living.disk.damage(file, (bytes) => bytes.map((byte, index) => (index === 200 ? byte ^ 1 : byte)));
    const again = await server.restart();
    server = again;

    const answer = await server.send('GET', `/v1/sessions/${id}`);
    expect([answer.status, answer.code]).toEqual([500, 'journal_corrupt']);
    expect((await server.send('GET', '/v1/sessions')).body).toMatchObject({ sessions: [{ session_id: id, damaged: true }] });
  });
});

describe('a server that is shutting down', () => {
  it('refuses creates, messages and resumes, is not ready, and goes on with the rest', async () => {
    server = await DescribedServer.open({ document });
    const session = `/v1/sessions/${await server.create()}`;
    await server.living.brain.drain(null);

    expect((await server.send('POST', '/v1/sessions')).code).toBe('draining');
    expect((await server.send('POST', `${session}/messages`, message)).code).toBe('draining');
    expect((await server.send('POST', `${session}/resume`)).code).toBe('draining');
    expect((await server.send('GET', '/health/ready')).code).toBe('draining');
    expect((await server.send('GET', session)).status).toBe(200);
    expect((await server.send('POST', `${session}/cancel`)).status).toBe(202);
    expect((await server.send('GET', '/health/live')).status).toBe(204);
  });
});
