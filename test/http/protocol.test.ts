import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer } from 'node:net';
import { eventually } from '../support/eventually.ts';
import { SESSION, SESSION_ID } from '../support/fake-session-service.ts';
import { gate } from '../support/gate.ts';
import { errorOf, HttpStage, type ErrorBody, type RawConnection } from '../support/http-stage.ts';

let stage: HttpStage;

beforeEach(async () => {
  stage = await HttpStage.open();
});

afterEach(async () => {
  await stage.close();
});

async function exchange(bytes: string): Promise<RawConnection> {
  const connection = stage.connect();
  connection.send(bytes);
  await connection.closed;
  return connection;
}

function bodyOf(connection: RawConnection): ErrorBody['error'] {
  return (JSON.parse(connection.body) as ErrorBody).error;
}

/** A request for a session that the service does not answer before its release. */
async function answerUnderWay(): Promise<{ readonly connection: RawConnection; readonly release: () => void }> {
  const asked = gate();
  const answer = gate();
  stage.sessions.instead.get = async () => {
    asked.open();
    await answer.opened;
    return SESSION;
  };
  const connection = stage.connect();
  connection.send(`GET /v1/sessions/${SESSION_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await asked.opened;
  return { connection, release: () => answer.open() };
}

describe('routes', () => {
  it.each(['/v1', '/v1/nothing', `/v1/sessions/${SESSION_ID}/nothing`, '/session', '/V1/Sessions', '/favicon.ico', '/health'])(
    'answers 404 at %s',
    async (path) => {
      const response = await stage.request('GET', path);
      expect([response.status, await errorOf(response)]).toEqual([
        404,
        { code: 'not_found', message: 'there is nothing at this path', retryable: false },
      ]);
    },
  );

  it.each([
    ['PUT', '/v1/sessions', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/sessions', 'GET, HEAD, POST'],
    ['PUT', `/v1/sessions/${SESSION_ID}`, 'DELETE, GET, HEAD, PATCH'],
    ['GET', `/v1/sessions/${SESSION_ID}/messages`, 'POST'],
    ['DELETE', `/v1/sessions/${SESSION_ID}/cancel`, 'POST'],
    ['POST', `/v1/sessions/${SESSION_ID}/events`, 'GET, HEAD'],
    ['GET', '/v1/hosts', 'POST'],
    ['POST', '/v1/hosts/mill/commands', 'GET, HEAD'],
    ['GET', '/v1/hosts/mill/results', 'POST'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ])('answers 405 to %s %s and allows %s', async (method, path, allowed) => {
    const response = await stage.request(method, path);
    expect([response.status, response.headers.get('allow'), (await errorOf(response)).code]).toEqual([
      405,
      allowed,
      'method_not_allowed',
    ]);
  });

  it.each([
    'x',
    SESSION_ID.toUpperCase(),
    SESSION_ID.slice(1),
    `${SESSION_ID}0`,
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    '%00',
    '%ff',
    '%',
    '__proto__',
    `${SESSION_ID}%0a`,
  ])('knows no session by the id %s, on any route, and asks no service for it', async (id) => {
    const path = `/v1/sessions/${id}`;
    const routes: readonly (readonly [string, string])[] = [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/messages`],
      ['POST', `${path}/cancel`],
      ['POST', `${path}/resume`],
      ['POST', `${path}/end`],
      ['GET', `${path}/events`],
      ['GET', `${path}/journal`],
      ['GET', `${path}/transcript`],
    ];
    for (const [method, route] of routes) {
      const connection = await exchange(`${method} ${route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(connection.text).toMatch(/^HTTP\/1.1 404 /);
      expect(bodyOf(connection)).toEqual({ code: 'not_found', message: 'there is no such session', retryable: false });
    }
    expect(stage.sessions.calls).toEqual([]);
  });

  it.each(['/v1/sessions/../../etc/passwd', '//etc/passwd', '/v1/sessions/..', '/./v1/sessions'])(
    'takes the path %s as it is written, and finds nothing there',
    async (path) => {
      const connection = await exchange(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(connection.text).toMatch(/^HTTP\/1.1 404 /);
      expect(stage.sessions.calls).toEqual([]);
    },
  );

  it('answers a HEAD as a GET without its body, and opens no stream for it', async () => {
    const got = await stage.request('GET', `/v1/sessions/${SESSION_ID}`);
    const head = await stage.request('HEAD', `/v1/sessions/${SESSION_ID}`);
    expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([
      200,
      '',
      String((await got.arrayBuffer()).byteLength),
    ]);

    const events = await stage.request('HEAD', `/v1/sessions/${SESSION_ID}/events`, { headers: { accept: 'text/event-stream' } });
    expect(events.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const missing = await stage.request('HEAD', '/nothing');
    expect([missing.status, await missing.text()]).toEqual([404, '']);
  });

  it('lets no cache keep an answer, and no browser guess at its type', async () => {
    for (const path of ['/v1/sessions', '/nothing', '/']) {
      const { headers } = await stage.request('GET', path);
      expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    }
  });
});

describe('health and the front page', () => {
  it('is alive and ready, and no longer ready once it drains', async () => {
    expect([(await stage.request('GET', '/health/live')).status, (await stage.request('GET', '/health/ready')).status]).toEqual([204, 204]);
    stage.isDraining = true;
    const ready = await stage.request('GET', '/health/ready');
    expect([ready.status, (await errorOf(ready)).code]).toEqual([503, 'draining']);
    expect((await stage.request('GET', '/health/live')).status).toBe(204);
  });

  it('leads on from / with commands for this very address', async () => {
    const response = await stage.request('GET', '/');
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.match(/<pre>curl .*<\/pre>/g)).toHaveLength(3);
    expect(page).toContain(`${stage.url}/v1/sessions`);
    expect(page).not.toContain('Authorization');
  });

  it('puts no Host into the page that is none', async () => {
    const connection = await exchange('GET / HTTP/1.1\r\nHost: <script>alert(1)</script>\r\nConnection: close\r\n\r\n');
    expect(connection.text).not.toContain('<script>');
  });
});

describe('what is no request', () => {
  it.each([
    ['a line that is none', 'HELO brain\r\n\r\n', 400],
    ['a method of nobody', 'FETCH / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['a length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['a chunk of no size', 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 400],
    ['no host', 'GET /v1/sessions HTTP/1.1\r\n\r\n', 400],
    ['an address that cannot be read', 'GET http://[ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['a header of 20 KB', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['an expectation of nobody', 'GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n', 417],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
  ])('answers %s in the shape of every error', async (_, bytes, status) => {
    const connection = stage.connect();
    connection.send(bytes);
    await eventually(async () => (connection.body.endsWith('}') ? true : undefined), 'the answer');
    connection.socket.destroy();

    expect(connection.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(connection.text).toMatch(/Content-Type: application\/json; charset=utf-8/i);
    expect(bodyOf(connection)).toMatchObject({ code: expect.any(String) as string, message: expect.any(String) as string, retryable: false });
    expect(stage.sessions.calls).toEqual([]);
  });

  it('says nothing into an answer that is under way', async () => {
    const { connection, release } = await answerUnderWay();
    connection.send('nonsense\r\n\r\n');
    expect(await connection.closed).toBe('');
    release();
  });
});

describe('connections', () => {
  it('rejects a listen on a port that is taken', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => {
      blocker.listen(0, '127.0.0.1', resolve);
    });
    const address = blocker.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(HttpStage.open({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => blocker.close(resolve));
  });

  it('keeps a connection for more than a minute after its answer', async () => {
    const response = await stage.request('GET', '/health/live');
    const seconds = Number(/timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '')?.[1]);
    expect(seconds).toBeGreaterThan(60);
  });

  it('closes at once where every connection waits for a request, also for its first', async () => {
    const silent = stage.connect();
    await new Promise((resolve) => silent.socket.once('connect', resolve));
    await stage.request('GET', '/health/live');

    await stage.close({});
    expect(await silent.closed).toBe('');
  });

  it('gives the answers that are under way before it closes, and asks for no more on their connections', async () => {
    const { connection, release } = await answerUnderWay();

    const closed = stage.close({});
    await expect(stage.request('GET', '/health/live')).rejects.toThrow();
    release();
    expect(await connection.closed).toMatch(/^HTTP\/1.1 200 [^]*Connection: close[^]*"session_id"/);
    await closed;
  });

  it('cuts what is not answered within the bound that it is given', async () => {
    stage.sessions.instead.get = () => new Promise(() => undefined);
    const connection = stage.connect();
    connection.send(`GET /v1/sessions/${SESSION_ID} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await eventually(async () => (stage.sessions.calls.length > 0 ? true : undefined), 'the call');

    await stage.close({ withinMs: 1 });
    expect(await connection.closed).toBe('');
  });
});
