import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../services/errors.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';

const CANARY = 'sk-canary-0123456789abcdef';

let stage: HttpStage;

beforeEach(async () => {
  stage = await HttpStage.open();
});
afterEach(async () => {
  await stage.close();
});

function put(name: string, body: unknown): Promise<Response> {
  return stage.request('PUT', `/v1/credentials/${name}`, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe('PUT /v1/credentials/{name}', () => {
  it('stores a credential of the caller\'s tenant, and answers nothing', async () => {
    const response = await put('my.key:1_a-B', { value: CANARY });

    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(stage.credentials.calls).toEqual([['put', 'local', 'my.key:1_a-B', CANARY]]);
  });

  it.each([['x'], ['x'.repeat(8192)], ['two words'], ['schlüssel-你好🦀'], ['🦀'.repeat(8192)]])('takes printable characters, up to 8192 of them', async (value) => {
    expect((await put('mine', { value })).status).toBe(204);
    expect(stage.credentials.calls).toEqual([['put', 'local', 'mine', value]]);
  });

  it.each([
    [{}, '/value'],
    [{ value: '' }, '/value'],
    [{ value: 'x'.repeat(8193) }, '/value'],
    [{ value: `${CANARY}\n` }, '/value'],
    [{ value: `${CANARY}\u0007` }, '/value'],
    [{ value: `${CANARY}\u2028` }, '/value'],
    [{ value: [CANARY] }, '/value'],
    [{ value: null }, '/value'],
    [{ value: CANARY, name: 'mine' }, '/name'],
  ])('refuses what is no value, and does not repeat it: %j', async (body, field) => {
    const response = await put('mine', body);

    const error = await errorOf(response);
    expect([response.status, error.code, error.details?.field]).toEqual([400, 'invalid_request', field]);
    expect(JSON.stringify(error)).not.toContain('canary');
    expect(stage.credentials.calls).toEqual([]);
    expect(JSON.stringify(stage.logged)).not.toContain('canary');
  });

  it.each([`{"value": "${CANARY}"`, `"${CANARY}"`, `{"value": ${CANARY}}`])('does not repeat a body that it cannot read: %s', async (body) => {
    const response = await put('mine', body);

    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain('canary');
  });

  it.each(['-a', '.a', 'a%20b', 'a%2Fb', 'x'.repeat(129), 'ä', '%00', '%zz'])('takes no such name: %s', async (name) => {
    const response = await put(name, { value: CANARY });

    expect(response.status).toBe(400);
    expect(stage.credentials.calls).toEqual([]);
  });

  it('needs a token', async () => {
    await stage.close();
    stage = await HttpStage.open({ apiKey: 'k-0123456789' });

    for (const [method, path] of [['PUT', '/v1/credentials/mine'], ['GET', '/v1/credentials'], ['DELETE', '/v1/credentials/mine']] as const) {
      expect((await stage.request(method, path)).status).toBe(401);
    }
    expect(stage.credentials.calls).toEqual([]);
  });

  it('tells a failure of the vault to the log alone', async () => {
    stage.credentials.put = async () => {
      throw new ServiceError('internal', 'something went wrong', { cause: new Error('no key fits /srv/data/credentials') });
    };

    const response = await put('mine', { value: CANARY });

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('/srv/data');
    expect(JSON.stringify(stage.logged)).toContain('no key fits');
    expect(JSON.stringify(stage.logged)).not.toContain('canary');
  });
});

describe('GET /v1/credentials', () => {
  it('lists names and times, and nothing else', async () => {
    const response = await stage.request('GET', '/v1/credentials');

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ credentials: [{ name: 'known', updated_at: '2026-01-01T12:00:00Z' }] });
    expect(stage.credentials.calls).toEqual([['list', 'local']]);
  });

  it('takes no query, and shows no single one', async () => {
    expect((await stage.request('GET', '/v1/credentials?limit=1')).status).toBe(400);
    const response = await stage.request('GET', '/v1/credentials/known');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'DELETE, PUT']);
  });
});

describe('DELETE /v1/credentials/{name}', () => {
  it('deletes one, and has nothing to delete elsewhere', async () => {
    expect((await stage.request('DELETE', '/v1/credentials/known')).status).toBe(204);

    for (const name of ['other', '-no-name', 'a%20b']) {
      const response = await stage.request('DELETE', `/v1/credentials/${name}`);
      expect([response.status, (await errorOf(response)).code]).toEqual([404, 'not_found']);
    }
    expect(stage.credentials.calls).toEqual([['delete', 'local', 'known'], ['delete', 'local', 'other']]);
  });
});
