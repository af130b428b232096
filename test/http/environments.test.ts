import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, HttpStage } from '../support/http-stage.ts';
import { LivingServer } from '../support/living-server.ts';
import { ScriptedTools } from '../support/scripted-tools.ts';

const TOOL = { name: 'look', description: 'Looks.', input_schema: { type: 'object' } };
const HTTP = { driver: 'http', url: 'https://tools.example', tools: [TOOL] };
const HOST = { driver: 'host', tools: [TOOL] };

let stage: HttpStage;

beforeEach(async () => {
  stage = await HttpStage.open();
});
afterEach(async () => {
  await stage.close();
});

function put(name: string, body: unknown): Promise<Response> {
  return stage.request('PUT', `/v1/environments/${name}`, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

describe('PUT /v1/environments/{name}', () => {
  it.each<[unknown]>([
    [HTTP],
    [{ ...HTTP, credential: 'mine', configuration: { a: [null] } }],
    [HOST],
    [{ ...HOST, host: 'laptop', tools: [{ ...TOOL, effect: 'idempotent', configuration: {} }] }],
    [{ ...HOST, tools: [] }],
  ])("declares one of the caller's tenant, and answers it as it is stored: %j", async (body) => {
    const response = await put('my.env:1', body);

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ name: 'my.env:1', driver: 'http', created_at: '2026-01-01T12:00:00Z', updated_at: '2026-01-01T12:01:00Z' });
    expect(stage.environments.calls).toEqual([['put', 'local', 'my.env:1', body]]);
  });

  it.each<[unknown, string]>([
    [{}, '/driver'],
    [{ ...HTTP, driver: 'ssh' }, '/driver'],
    [{ driver: 'http', tools: [] }, '/url'],
    [{ ...HTTP, url: 7 }, '/url'],
    [{ ...HTTP, host: 'laptop' }, '/host'],
    [{ ...HTTP, credential: { value: 'sk-1' } }, '/credential'],
    [{ ...HTTP, token: 'sk-1' }, '/token'],
    [{ ...HOST, url: 'https://tools.example' }, '/url'],
    [{ ...HOST, credential: 'mine' }, '/credential'],
    [{ ...HOST, host: '-a' }, '/host'],
    [{ ...HOST, configuration: [] }, '/configuration'],
    [{ driver: 'host' }, '/tools'],
    [{ ...HOST, tools: Array.from({ length: 129 }, () => TOOL) }, '/tools'],
    [{ ...HOST, tools: [{ ...TOOL, name: 'a b' }] }, '/tools/0/name'],
    [{ ...HOST, tools: [{ ...TOOL, input_schema: 'object' }] }, '/tools/0/input_schema'],
    [{ ...HOST, tools: [{ ...TOOL, effect: 'twice' }] }, '/tools/0/effect'],
    [{ ...HOST, tools: [{ ...TOOL, url: 'https://tools.example' }] }, '/tools/0/url'],
    [{ ...HOST, tools: [{ name: 'look', input_schema: {} }] }, '/tools/0/description'],
  ])('refuses what is no declaration: %j', async (body, field) => {
    const response = await put('mine', body);

    const error = await errorOf(response);
    expect([response.status, error.code, error.details?.field]).toEqual([400, 'invalid_request', field]);
    expect(JSON.stringify(error)).not.toContain('sk-1');
    expect(stage.environments.calls).toEqual([]);
  });

  it.each(['-a', '.a', 'a%20b', 'a%2Fb', 'x'.repeat(129), 'ä', '%00', '%zz'])('takes no such name: %s', async (name) => {
    expect((await put(name, HOST)).status).toBe(400);
    expect(stage.environments.calls).toEqual([]);
  });
});

describe('what is declared', () => {
  it('is shown, one and all, and deleted; what is not there is not', async () => {
    const known = await stage.request('GET', '/v1/environments/known');
    const all = await stage.request('GET', '/v1/environments');
    expect([known.status, all.status]).toEqual([200, 200]);
    expect(await all.json()).toEqual({ environments: [await known.json()] });
    expect((await stage.request('DELETE', '/v1/environments/known')).status).toBe(204);

    const missing = await Promise.all(
      ['GET', 'DELETE'].flatMap((method) => ['other', '-no-name', 'a%20b'].map((name) => stage.request(method, `/v1/environments/${name}`))),
    );
    for (const response of missing) expect([response.status, (await errorOf(response)).message]).toEqual([404, 'there is no such environment']);
    expect((await stage.request('GET', '/v1/environments?limit=1')).status).toBe(400);
  });

  it('needs a token', async () => {
    await stage.close();
    stage = await HttpStage.open({ apiKey: 'k-0123456789' });

    for (const [method, path] of [['PUT', '/known'], ['GET', ''], ['GET', '/known'], ['DELETE', '/known']] as const) {
      expect((await stage.request(method, `/v1/environments${path}`)).status).toBe(401);
    }
    expect(stage.environments.calls).toEqual([]);
  });
});

describe('the tools of a create', () => {
  /** Has one that the tenant may not use. */
  class OfOthers extends ScriptedTools {
    override find(tenant: string, name: string): ReturnType<ScriptedTools['find']> {
      return name === 'theirs' && tenant === 'local' ? null : super.find(tenant, name);
    }
  }

  let server: LivingServer;
  beforeEach(async () => {
    server = await LivingServer.open({ tools: new OfOthers(['look', 'theirs', ...Array.from({ length: 129 }, (_, index) => `t${index}`)]) });
  });
  afterEach(() => server.close());

  async function v1(body: object): Promise<readonly unknown[]> {
    return answerOf(await server.send('POST', '/v1/sessions', { body }));
  }

  async function lifecycle(tools: readonly string[]): Promise<readonly unknown[]> {
    return answerOf(await server.send('POST', '/sessions', { body: { harness: 'chat', config: { model: 'demo/echo', tools } } }));
  }

  async function answerOf(response: Response): Promise<readonly unknown[]> {
    if (response.status === 201) return [201];
    const { code, details } = await errorOf(response);
    return [response.status, code, details?.field];
  }

  const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `t${index}`);

  it('L-031, L-032: are 128 at most, each named once, on both surfaces', async () => {
    expect([await v1({ tools: many(128) }), await lifecycle(many(128))]).toEqual([[201], [201]]);
    expect([await v1({ tools: many(129) }), await lifecycle(many(129))]).toEqual([[400, 'invalid_request', '/tools'], [400, 'invalid_request', '/config/tools']]);
    const twice = ['look', 't1', 'look'];
    expect([await v1({ tools: twice }), await lifecycle(twice)]).toEqual([[400, 'invalid_request', '/tools/2'], [400, 'invalid_request', '/config/tools/2']]);
  });

  it('L-033: are answered alike where they are of other tenants and where there are none, on both surfaces', async () => {
    for (const name of ['theirs', 'nothing']) {
      expect([name, await v1({ tools: ['look', name] })]).toEqual([name, [422, 'unknown_tool', '/tools/1']]);
      expect([name, await lifecycle(['look', name])]).toEqual([name, [403, 'forbidden', '/config/tools/1']]);
    }
  });

  it('come from the environments that it names, where a name is offered once', async () => {
    for (const name of ['shop', 'desk']) expect((await server.send('PUT', `/v1/environments/${name}`, { body: { ...HTTP, tools: [{ ...TOOL, name: `of-${name}` }, { ...TOOL, name: 'both' }, { ...TOOL, name: 't1' }] } })).status).toBe(200);

    expect(await v1({ environments: ['shop'] })).toEqual([201]);
    expect(await v1({ environments: ['shop', 'desk'], tools: ['of-shop', 'of-desk', 'look'] })).toEqual([201]);
    expect(await v1({ environments: ['shop', 'desk'] })).toEqual([400, 'invalid_request', '/environments/1']);
    expect(await v1({ environments: ['shop', 'desk'], tools: ['both'] })).toEqual([400, 'invalid_request', '/tools/0']);
    expect(await v1({ environments: ['shop'], tools: ['t1'] })).toEqual([400, 'invalid_request', '/tools/0']);
    expect(await v1({ environments: ['shop'], tools: ['of-desk'] })).toEqual([422, 'unknown_tool', '/tools/0']);
    expect(await v1({ environments: ['shop', 'nowhere'] })).toEqual([422, 'unknown_environment', '/environments/1']);
  });
});
