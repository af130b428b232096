/** Web pages of other origins: what their browsers are told, and what they are not. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventAt, SESSION_ID } from '../support/fake-session-service.ts';
import type { PublicEvent } from '../../machines/projections/public-events.ts';
import { errorOf, HttpStage, type StageOptions } from '../support/http-stage.ts';
import type { Document } from '../support/openapi-document.ts';
import { ScriptedFollowing } from '../support/scripted-following.ts';

const PAGE = 'https://app.example.com';
const OTHER = 'https://elsewhere.example.com';
const SESSION = `/v1/sessions/${SESSION_ID}`;

let stage: HttpStage;
afterEach(async () => stage.close());

async function open(options: StageOptions = {}): Promise<void> {
  stage = await HttpStage.open({ corsOrigins: [PAGE, 'http://localhost:5173'], ...options });
}

function corsHeadersOf({ headers }: Response): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
}

const READABLE = {
  'access-control-allow-origin': PAGE,
  'access-control-expose-headers': 'Allow,ETag,Idempotent-Replayed,Location,Preference-Applied,Retry-After,WWW-Authenticate',
};

/** Among the headers that browsers let a page read without being told to. */
const SHOWN_OF_ANY_ANSWER = ['Cache-Control'];

describe('a page whose origin is listed', () => {
  it('is told by a preflight, without a token, that it may call', async () => {
    await open({ apiKey: 'key' });
    const response = await stage.request('OPTIONS', `${SESSION}/messages`, {
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key,prefer',
        'access-control-request-private-network': 'true',
      },
    });

    expect(response.status).toBe(204);
    expect(corsHeadersOf(response)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET,HEAD,PUT,POST,DELETE,PATCH',
      'access-control-allow-headers': 'authorization,content-type,idempotency-key,prefer',
      'access-control-allow-private-network': 'true',
      'access-control-max-age': '7200',
    });
    expect(response.headers.get('vary')).toBe('Origin');
    expect(stage.sessions.calls).toEqual([]);
  });

  it.each([
    ['an answer', 'GET', SESSION, { authorization: 'Bearer key' }, 200],
    ['a refusal for want of a token', 'GET', SESSION, {}, 401],
    ['a wrong method', 'PUT', SESSION, { authorization: 'Bearer key' }, 405],
    ['an unknown path', 'GET', '/nothing', { authorization: 'Bearer key' }, 404],
    ['a body that is refused', 'POST', `${SESSION}/messages`, { authorization: 'Bearer key', 'content-type': 'text/csv' }, 415],
    ['what needs no token', 'GET', '/openapi.json', {}, 200],
  ])('can read %s', async (_what, method, path, headers, status) => {
    await open({ apiKey: 'key' });
    const response = await stage.request(method, path, { headers: { origin: PAGE, ...headers }, ...(method === 'POST' ? { body: 'x' } : {}) });

    expect(response.status).toBe(status);
    expect(corsHeadersOf(response)).toEqual(READABLE);
    expect(response.headers.get('vary')).toBe('Origin');
    await response.arrayBuffer();
  });

  it('can read a failure of the server, and one that came while its body was still on the way', async () => {
    await open({ bodyBytesMax: 10 });
    stage.sessions.instead.get = () => Promise.reject(new Error('a bug'));
    const failed = await stage.request('GET', SESSION, { headers: { origin: PAGE } });
    const tooLarge = await stage.post(`${SESSION}/messages`, { input: 'x'.repeat(1_000) }, { origin: PAGE });

    expect([failed.status, tooLarge.status]).toEqual([500, 413]);
    expect(corsHeadersOf(failed)).toEqual(READABLE);
    expect(corsHeadersOf(tooLarge)).toEqual(READABLE);
  });

  it('can follow a stream', async () => {
    await open();
    stage.sessions.instead.followEvents = async (_tenant, _session, _after, signal) => {
      const items = new ScriptedFollowing<PublicEvent>(signal);
      items.add({ kind: 'recorded', item: eventAt(4) });
      items.end();
      return { ended: false, items };
    };
    const response = await stage.request('GET', `${SESSION}/events`, { headers: { origin: PAGE, accept: 'text/event-stream' } });

    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(corsHeadersOf(response)).toEqual(READABLE);
    expect(response.headers.get('vary')).toContain('Origin');
    expect(await response.text()).toContain('id: 4\n');
  });

  it('can read what the parser of requests refuses, where its origin was read before', async () => {
    await open();
    const connection = stage.connect();
    connection.send(`GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: ${PAGE}\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`);
    const answer = await connection.closed;

    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain(`\r\nAccess-Control-Allow-Origin: ${PAGE}\r\n`);
  });

  it('can read that its body was no request’s', async () => {
    await open();
    const connection = stage.connect();
    connection.send(`POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nOrigin: ${PAGE}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    connection.send('no chunk\r\n');
    const answer = await connection.closed;

    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain(`\r\nAccess-Control-Allow-Origin: ${PAGE}\r\n`);
  });

  it('can read an answer to an Expect that nobody understands', async () => {
    await open();
    const connection = stage.connect();
    connection.send(`GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: ${PAGE}\r\nExpect: wonders\r\nConnection: close\r\n\r\n`);
    const answer = await connection.closed;

    expect(answer).toMatch(/^HTTP\/1.1 417 /);
    expect(answer).toContain(`\r\nAccess-Control-Allow-Origin: ${PAGE}\r\n`);
  });

  it('may change things on a server without a key, which other sites may not', async () => {
    await open();
    const own = await stage.post('/v1/sessions', {}, { origin: PAGE });
    const others = await stage.post('/v1/sessions', {}, { origin: OTHER });

    expect(own.status).toBe(201);
    expect(own.headers.get('location')).not.toBeNull();
    expect(others.status).toBe(403);
    expect((await errorOf(others)).code).toBe('forbidden');
  });

  it('can read every header that an answer is described with', async () => {
    await open();
    const { paths } = (await (await stage.request('GET', '/openapi.json')).json()) as Document;
    const described = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)));

    expect(new Set(described).size).toBeGreaterThan(3);
    const readable = [...READABLE['access-control-expose-headers'].split(','), ...SHOWN_OF_ANY_ANSWER];
    expect(readable).toEqual(expect.arrayContaining([...new Set(described)]));
  });
});

describe('a page whose origin is not listed', () => {
  it.each([OTHER, `${PAGE}.evil.com`, 'http://app.example.com', `${PAGE}:8443`, 'null', PAGE.toUpperCase()])(
    'is told nothing, like %s: neither by a preflight nor by an answer nor by the parser',
    async (origin) => {
      await open();
      const preflight = await stage.request('OPTIONS', SESSION, { headers: { origin, 'access-control-request-method': 'DELETE' } });
      const answer = await stage.request('GET', SESSION, { headers: { origin } });
      const connection = stage.connect();
      connection.send(`GET / HTTP/1.1\r\nOrigin: ${origin}\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`);

      expect(preflight.ok).toBe(false);
      expect(corsHeadersOf(preflight)).toEqual({});
      expect(corsHeadersOf(answer)).toEqual({});
      expect(answer.headers.get('vary')).toBe('Origin');
      expect(await connection.closed).not.toMatch(/access-control/i);
    },
  );
});

describe('a server that lists no origin', () => {
  it('says nothing of origins', async () => {
    await open({ corsOrigins: [] });
    const answer = await stage.request('GET', SESSION, { headers: { origin: PAGE } });

    expect(corsHeadersOf(answer)).toEqual({});
    expect(answer.headers.get('vary')).toBeNull();
  });
});
