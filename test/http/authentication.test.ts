import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../services/errors.ts';
import { SESSION_ID } from '../support/fake-session-service.ts';
import { errorOf, HttpStage, type StageOptions } from '../support/http-stage.ts';

const KEY = 'k-canary-5f2b';
const events = `/v1/sessions/${SESSION_ID}/events`;
let stage: HttpStage;

async function open(options: StageOptions): Promise<void> {
  stage = await HttpStage.open(options);
}

afterEach(async () => {
  await stage.close();
});

describe('with an API key', () => {
  it.each([
    ['GET', '/v1/sessions'],
    ['POST', '/v1/sessions'],
    ['GET', `/v1/sessions/${SESSION_ID}`],
    ['DELETE', `/v1/sessions/${SESSION_ID}`],
    ['POST', `/v1/sessions/${SESSION_ID}/messages`],
    ['POST', `/v1/sessions/${SESSION_ID}/cancel`],
    ['POST', `/v1/sessions/${SESSION_ID}/resume`],
    ['POST', `/v1/sessions/${SESSION_ID}/end`],
    ['GET', events],
    ['GET', `/v1/sessions/${SESSION_ID}/journal`],
    ['GET', `/v1/sessions/${SESSION_ID}/transcript`],
    ['GET', '/v1/sessions/not-an-id'],
    ['GET', '/nothing'],
    ['PUT', '/v1/sessions'],
  ])('asks for a token before it looks at anything else of %s %s', async (method, path) => {
    await open({ apiKey: KEY });
    const body = method === 'POST' ? { body: 'no JSON', headers: { 'content-type': 'text/plain' } } : {};
    const response = await stage.request(method, path, body);

    expect([response.status, (await errorOf(response)).code]).toEqual([401, 'unauthorized']);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="brain"');
    expect(stage.sessions.calls).toEqual([]);
  });

  it.each([`Bearer ${KEY}x`, `Bearer ${KEY.slice(1)}`, 'Bearer', 'Bearer  ', `Basic ${KEY}`, KEY, `Bearer ${KEY} ${KEY}`, `Bearer ${KEY.toUpperCase()}`])(
    'takes no other token: %s',
    async (authorization) => {
      await open({ apiKey: KEY });
      const response = await stage.request('GET', '/v1/sessions', { headers: { authorization } });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="brain", error="invalid_token"']);
      expect(JSON.stringify(await errorOf(response))).not.toContain('canary');
    },
  );

  it('L-009: takes whoever shows it for the tenant local, under any Host', async () => {
    await open({ apiKey: KEY });
    const connection = stage.connect();
    connection.send(`GET /v1/sessions HTTP/1.1\r\nHost: brain.example.com\r\nauthorization: bearer ${KEY}\r\nConnection: close\r\n\r\n`);
    expect(await connection.closed).toMatch(/^HTTP\/1.1 200 /);
    expect(stage.sessions.calls[0]?.args[0]).toBe('local');
  });

  it('takes it in the address of an event stream and nowhere else', async () => {
    await open({ apiKey: KEY });
    const stream = { headers: { accept: 'text/event-stream' } };
    expect((await stage.request('GET', `${events}?access_token=${KEY}`, stream)).status).toBe(204);

    const refused: readonly (readonly [string, RequestInit])[] = [
      [`${events}?access_token=wrong`, stream],
      [`${events}?access_token=${KEY}&access_token=${KEY}`, stream],
      [`${events}?access_token=${KEY}`, {}],
      [`/v1/sessions/${SESSION_ID}/journal?access_token=${KEY}`, stream],
      [`/v1/sessions?access_token=${KEY}`, stream],
      [`${events}?access_token=${KEY}`, { headers: { accept: 'text/event-stream', authorization: 'Bearer wrong' } }],
    ];
    for (const [path, init] of refused) expect((await stage.request('GET', path, init)).status).toBe(401);
    expect((await stage.request('POST', `${events}?access_token=${KEY}`, stream)).status).toBe(401);
  });

  it('writes it into no log line, whatever fails', async () => {
    await open({ apiKey: KEY });
    stage.sessions.instead.followEvents = () => Promise.reject(new Error('something'));
    const response = await stage.request('GET', `${events}?access_token=${KEY}`, { headers: { accept: 'text/event-stream' } });
    expect(response.status).toBe(500);
    expect(stage.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(stage.logged)).not.toContain('canary');
  });

  it('leaves health and the front page open', async () => {
    await open({ apiKey: KEY });
    expect((await stage.request('GET', '/health/live')).status).toBe(204);
    expect((await stage.request('GET', '/health/ready')).status).toBe(204);
    const page = await (await stage.request('GET', '/')).text();
    expect(page).toContain('Authorization: Bearer $BRAIN_API_KEY');
    expect(page).not.toContain('canary');
  });
});

describe('with a token of the file', () => {
  it.each([KEY, undefined])('takes it for itself, with the key %s and without', async (apiKey) => {
    await open(apiKey === undefined ? {} : { apiKey });
    const authorization = `Bearer ${stage.tokens.give('a', { tenant: 'acme', scope: 'read' })}`;

    expect((await stage.request('GET', '/v1/sessions', { headers: { authorization } })).status).toBe(200);
    expect(stage.sessions.calls[0]?.args[0]).toBe('acme');
    const refused = await stage.request('POST', '/v1/sessions', { headers: { authorization } });
    expect([refused.status, await errorOf(refused)]).toEqual([403, expect.objectContaining({ code: 'forbidden', message: expect.stringContaining('manage') })]);
  });

  it.each([KEY, undefined])('refuses what is written like one and counts no more, with the key %s and without', async (apiKey) => {
    await open(apiKey === undefined ? {} : { apiKey });
    const token = stage.tokens.give('canary');
    stage.tokens.takeBack(token);
    const response = await stage.request('GET', '/v1/sessions', { headers: { authorization: `Bearer ${token}` } });

    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="brain", error="invalid_token"']);
    expect(await response.text()).not.toContain('canary');
    expect(stage.sessions.calls).toEqual([]);
  });

  it('looks at the Host all the same, where there is no key', async () => {
    await open({});
    const authorization = `authorization: Bearer ${stage.tokens.give('a')}`;
    expect(await statusUnder(`Host: evil.example.com\r\n${authorization}`)).toBe(403);
    expect(await statusUnder(`Host: localhost\r\n${authorization}`)).toBe(200);
  });

  it.each(['/v1/sessions', '/sessions'])('takes it in the address of an event stream under %s', async (sessions) => {
    await open({ apiKey: KEY });
    const token = stage.tokens.give('a', { scope: 'read' });
    const response = await stage.request('GET', `${sessions}/${SESSION_ID}/events?access_token=${token}`, { headers: { accept: 'text/event-stream' } });
    expect(response.status).toBe(204);
    expect((await stage.request('GET', `${sessions}/${SESSION_ID}/events?access_token=${token}`)).status).toBe(401);
  });
});

describe('with a token of one session', () => {
  const OTHER = SESSION_ID.replace(/1$/, '2');

  it('finds that session and no other, creates nothing and uses no credentials, whatever its scope (L-025, L-127)', async () => {
    await open({ apiKey: KEY });
    const authorization = `Bearer ${stage.tokens.give('one', { sessionId: SESSION_ID })}`;
    const status = async (method: string, path: string): Promise<number> => (await stage.request(method, path, { headers: { authorization } })).status;

    expect(await status('GET', `/v1/sessions/${SESSION_ID}`)).toBe(200);
    expect(await status('GET', `/v1/sessions/${OTHER}`)).toBe(404);
    expect(await status('DELETE', `/v1/sessions/${OTHER}`)).toBe(404);
    expect(await status('POST', '/v1/sessions')).toBe(403);
    expect(await status('GET', '/v1/credentials')).toBe(403);
    expect(await status('GET', '/v1/environments')).toBe(403);
    expect(stage.sessions.calls.map(({ args }) => args[1])).toEqual([SESSION_ID]);
  });

  it('asks for that session alone in a list', async () => {
    await open({ apiKey: KEY });
    const authorization = `Bearer ${stage.tokens.give('one', { sessionId: SESSION_ID })}`;
    await stage.request('GET', '/v1/sessions?limit=5', { headers: { authorization } });
    expect(stage.sessions.calls[0]?.args).toEqual(['acme', { after: '', limit: 5, session_id: SESSION_ID }]);
  });
});

describe('for a session that is not there', () => {
  it.each([
    ['POST', 'messages', { body: '{', headers: { 'content-type': 'application/json' } }],
    ['POST', 'messages', { body: '{}', headers: { 'content-type': 'text/plain' } }],
    ['POST', 'messages', { body: `{"input":"${'x'.repeat(200)}"}`, headers: { 'content-type': 'application/json' } }],
    ['POST', 'messages', { body: '{"input":"hello"}', headers: { 'content-type': 'application/json', 'idempotency-key': '' } }],
    ['POST', 'cancel?what=1', {}],
    ['GET', 'events?after=x', {}],
    ['GET', 'journal?limit=0', {}],
    ['GET', 'events?after=x', { headers: { accept: 'text/event-stream', 'last-event-id': 'x' } }],
  ])('says so before anything else that is wrong with a request: %s %s %j (L-126)', async (method, path, init) => {
    await open({ bodyBytesMax: 100 });
    stage.sessions.assertThere = () => Promise.reject(new ServiceError('not_found', 'there is no such session'));
    const response = await stage.request(method, `/v1/sessions/${SESSION_ID}/${path}`, init);
    expect([response.status, await errorOf(response)]).toEqual([404, { code: 'not_found', message: 'there is no such session', retryable: false }]);
    expect(stage.sessions.calls).toEqual([]);
  });
});

describe('without an API key', () => {
  it.each([undefined, 'Bearer anything', 'Basic eDp5'])('takes whoever comes with %s for the tenant local', async (authorization) => {
    await open({});
    const response = await stage.request('DELETE', `/v1/sessions/${SESSION_ID}`, authorization === undefined ? {} : { headers: { authorization } });
    expect(response.status).toBe(204);
    expect(stage.sessions.calls[0]?.args[0]).toBe('local');
  });

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:8080', '127.8.9.255', '[::1]', '[::1]:8080'])(
    'answers to the Host %s',
    async (host) => {
      await open({});
      expect(await statusUnder(`Host: ${host}`)).toBe(200);
    },
  );

  it.each([
    'evil.example.com',
    'localhost.evil.com',
    '127.0.0.1.evil.com',
    '127.evil.com',
    '127.0.0.256',
    '10.0.0.1:8080',
    '[::2]',
    'localhost:8080@evil.com',
    '',
  ])('refuses the Host %j, which a page of another site would have', async (host) => {
    await open({});
    expect(await statusUnder(`Host: ${host}`)).toBe(403);
    expect(stage.sessions.calls).toEqual([]);
  });

  it.each([
    ['https://evil.example.com', 403],
    ['null', 403],
    ['http://localhost.evil.com', 403],
    ['http://localhost:3000', 201],
    ['http://127.0.0.1:8080', 201],
  ])('lets a page from %s create nothing it may not: %i', async (origin, status) => {
    await open({});
    expect(await statusUnder(`Host: localhost\r\nOrigin: ${origin}`, 'POST')).toBe(status);
  });
});

async function statusUnder(headers: string, method = 'GET'): Promise<number> {
  const connection = stage.connect();
  connection.send(`${method} /v1/sessions HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
  return Number(/^HTTP\/1.1 (\d+)/.exec(await connection.closed)?.[1]);
}
