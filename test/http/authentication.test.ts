import { afterEach, describe, expect, it } from 'vitest';
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
