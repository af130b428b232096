/** A session whose environments are being set up, as `/sessions` has it: it is not there to be read, and is there to be stopped. */
import { afterEach, describe, expect, it } from 'vitest';
import { DescribedServer } from '../support/described-server.ts';
import { TENANT } from '../support/living-brain.ts';
import { ScriptedEnvironments } from '../support/scripted-environments.ts';

let server: DescribedServer;
afterEach(async () => server.close());

/** The path of one that is being created. */
async function creating(): Promise<string> {
  const environments = new ScriptedEnvironments(({ call }) => (call.operation.request.type === 'setup' ? 'waits' : { type: 'accepted' }));
  server = await DescribedServer.open({ environments });
  await server.living.brain.environments.put(TENANT, 'home', { driver: 'http', url: 'http://home.test', tools: [] });
  void server.living.sessions.create(TENANT, { surface: 'v1', environments: ['home'], agentloop: { name: 'test' } }).catch(() => undefined);
  return `/sessions/${(await environments.first('setup')).call.operation.session_id}`;
}

describe('a session that is still being created', () => {
  it('is not there for whoever reads or labels it, takes no message, and changes by neither', async () => {
    const session = await creating();
    const before = await server.living.journal(session.slice('/sessions/'.length));
    const asked: readonly (readonly [string, string, unknown?])[] = [
      ['GET', session],
      ['PATCH', session, { metadata: { a: 'b' } }],
      ['GET', `${session}/events`],
      ['GET', `${session}/queue`],
      ['POST', `${session}/events`, { type: 'user.message', text: 'hello' }],
    ];
    const answers = [];
    for (const [method, path, body] of asked) answers.push((await server.send(method, path, body === undefined ? {} : { body })).code);
    answers.push((await server.send('GET', `${session}/events`, { headers: { accept: 'text/event-stream' } })).code);

    expect(answers).toEqual(['not_found', 'not_found', 'not_found', 'not_found', 'session_busy', 'not_found']);
    expect(await server.living.journal(session.slice('/sessions/'.length))).toEqual(before);
  });

  it('is interrupted and closed like any other', async () => {
    const session = await creating();
    expect((await server.send('POST', `${session}/events`, { body: { type: 'user.interrupt' } })).status).toBe(202);
    expect((await server.send('POST', `${session}/close`)).status).toBe(202);
    await expect.poll(async () => (await server.send('GET', session)).body).toMatchObject({ status: 'closed' });
  });
});
