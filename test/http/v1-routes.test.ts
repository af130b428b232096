import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError, type ServiceErrorCode } from '../../services/errors.ts';
import { recordAt, eventAt, SESSION, SESSION_ID, TURN } from '../support/fake-session-service.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';

let stage: HttpStage;
const session = `/v1/sessions/${SESSION_ID}`;
const sessionAnswer = {
  session_id: SESSION_ID,
  tenant: 'local',
  status: 'idle',
  resident: false,
  last_sequence: 2,
  last_recorded_at: '2026-01-01T12:01:01Z',
  running_turn: null,
  queue_length: 0,
  created_at: '2026-01-01T12:00:00Z',
  updated_at: '2026-01-01T12:01:01Z',
  agentloop: { name: 'chat', configuration: {} },
  model: { provider: 'demo', name: 'echo' },
  tools: ['add'],
  environments: ['brain'],
  after_stop: 'idle',
  idle_ttl_ms: null,
  metadata: { team: 'red' },
};

beforeEach(async () => {
  stage = await HttpStage.open();
});

afterEach(async () => {
  await stage.close();
});

describe('sessions', () => {
  it('creates a session from no body at all, and says where it is', async () => {
    const response = await stage.request('POST', '/v1/sessions');

    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(session);
    expect(await response.json()).toEqual(sessionAnswer);
    expect(stage.sessions.calls).toEqual([{ method: 'create', args: ['local', { surface: 'v1' }] }]);
  });

  it('hands on every field of a create', async () => {
    const create = {
      agentloop: { name: 'chat', configuration: { temperature: 0.5, deep: { keys: [1, null] } } },
      model: { provider: 'openai', name: 'meta/llama 3 — größer' },
      system: 'Be brief.',
      environments: [],
      tools: ['add', 'wait'],
      idle_ttl_ms: 0,
      after_stop: 'hold',
      metadata: { team: '🦀'.repeat(512), '👩‍👩‍👧': '' },
      transcript: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    };
    const response = await stage.post('/v1/sessions', create);

    expect(response.status).toBe(201);
    expect(stage.sessions.calls).toEqual([{ method: 'create', args: ['local', { ...create, surface: 'v1' }] }]);
  });

  it.each([
    ['an address', { model: { provider: 'openai', name: 'one', base_url: 'http://127.0.0.1:1' } }, '/model/base_url'],
    ['a key', { model: { provider: 'openai', name: 'one', api_key: 'sk-1' } }, '/model/api_key'],
    ['the value of a credential', { model: { provider: 'openai', name: 'one', credential: { value: 'sk-1' } } }, '/model/credential'],
    ['the place of an environment', { environments: [{ name: 'mine', url: 'http://127.0.0.1:1' }] }, '/environments/0'],
    ['a tool by more than its name', { tools: [{ name: 'mine', url: 'http://127.0.0.1:1' }] }, '/tools/0'],
    ['credentials', { credentials: { openai: 'sk-1' } }, '/credentials'],
    ['a drawn id', { session_id: SESSION_ID }, '/session_id'],
    ['a host', { host: 'b9c1' }, '/host'],
  ])('S-157: takes names in a create, and not %s', async (_what, body, field) => {
    const response = await stage.post('/v1/sessions', body);

    expect([response.status, (await errorOf(response)).details?.field]).toEqual([400, field]);
    expect(stage.sessions.calls).toEqual([]);
  });

  it('S-133, S-134: tells a time to live of null, of zero and of nothing apart', async () => {
    for (const body of [{ idle_ttl_ms: null }, { idle_ttl_ms: 0 }, {}]) await stage.post('/v1/sessions', body);

    expect(stage.sessions.calls.map(({ args }) => args[1])).toEqual([
      { surface: 'v1', idle_ttl_ms: null },
      { surface: 'v1', idle_ttl_ms: 0 },
      { surface: 'v1' },
    ]);
  });

  it('takes an empty system prompt for none', async () => {
    await stage.post('/v1/sessions', { system: '' });
    expect(stage.sessions.calls[0]?.args[1]).toEqual({ surface: 'v1' });
  });

  it('shows a session without the address of its model', async () => {
    const text = await (await stage.request('GET', session)).text();
    expect(JSON.parse(text)).toEqual(sessionAnswer);
    expect(text).not.toContain('models.internal');
  });

  it('lists sessions, the damaged ones as damaged, and takes the last id as the cursor', async () => {
    stage.sessions.listed = [SESSION, { session_id: 'f'.repeat(32), damaged: true, message: 'the journal is refused' }];
    const response = await stage.request('GET', `/v1/sessions?after=${SESSION_ID}&limit=2`);

    expect(await response.json()).toEqual({
      sessions: [sessionAnswer, { session_id: 'f'.repeat(32), damaged: true, explanation: 'the journal is refused' }],
      next_cursor: null,
    });
    await stage.request('GET', '/v1/sessions');
    expect(stage.sessions.calls).toEqual([
      { method: 'list', args: ['local', { after: SESSION_ID, limit: 2 }] },
      { method: 'list', args: ['local', { after: '', limit: 100 }] },
    ]);
  });

  it('deletes a session and answers with nothing', async () => {
    const response = await stage.request('DELETE', session);
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(stage.sessions.calls).toEqual([{ method: 'delete', args: ['local', SESSION_ID] }]);
  });
});

describe('turns', () => {
  it('S-090: answers a message when its turn is over', async () => {
    const response = await stage.post(`${session}/messages`, { input: 'Hello' });

    expect(response.status).toBe(200);
    expect(response.headers.has('preference-applied')).toBe(false);
    expect(await response.json()).toEqual(TURN);
    expect(stage.sessions.calls).toEqual([{ method: 'send', args: ['local', SESSION_ID, 'Hello'] }]);
  });

  it('takes blocks for input, and what a provider needs back in them', async () => {
    const input = [
      { type: 'text', text: '你好🦀é', provider: { cache: [true] } },
      { type: 'image', url: 'data:image/png;base64,AA==', media_type: 'image/png' },
      { type: 'file', url: 'https://example.com/a.pdf', media_type: 'application/pdf' },
    ];
    await stage.post(`${session}/messages`, { input });
    expect(stage.sessions.calls[0]?.args).toEqual(['local', SESSION_ID, input]);
  });

  it.each(['respond-async', 'Respond-Async', 'wait=5, RESPOND-ASYNC; x=1', 'foo="a,b", respond-async'])(
    'S-087, S-088, S-089: answers at once where the client prefers %s',
    async (prefer) => {
      const response = await stage.post(`${session}/messages`, { input: 'Hello' }, { prefer });

      expect(response.status).toBe(202);
      expect(response.headers.get('preference-applied')).toBe('respond-async');
      expect(await response.json()).toEqual({ session_id: SESSION_ID, sequence: 4 });
      expect(stage.sessions.calls).toEqual([{ method: 'submit', args: ['local', SESSION_ID, 'Hello'] }]);
    },
  );

  it('S-197: acknowledges a cancel, with an empty object for a body or with none', async () => {
    for (const response of [await stage.request('POST', `${session}/cancel`), await stage.post(`${session}/cancel`, {})]) {
      expect(response.status).toBe(202);
      expect(await response.json()).toEqual({ status: 'cancel_requested' });
    }
    expect(stage.sessions.calls.map(({ method }) => method)).toEqual(['cancel', 'cancel']);
  });

  it('answers a resume and an end with the session', async () => {
    const resumed = await stage.request('POST', `${session}/resume`);
    const ended = await stage.request('POST', `${session}/end`);

    expect([resumed.status, await resumed.json()]).toEqual([200, sessionAnswer]);
    expect([ended.status, await ended.json()]).toEqual([200, { ...sessionAnswer, status: 'ended' }]);
  });

  it('S-098: lets the turn of a synchronous message go on when its client is gone', async () => {
    let finish: () => void = () => undefined;
    let isFinished = false;
    const received = new Promise<void>((resolve) => {
      stage.sessions.instead.send = async () => {
        resolve();
        await new Promise<void>((release) => {
          finish = release;
        });
        isFinished = true;
        return TURN;
      };
    });
    const connection = stage.connect();
    connection.send(
      `POST ${session}/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"input":"Hi"}`,
    );
    await received;
    connection.socket.destroy();
    await connection.closed;

    expect((await stage.request('GET', session)).status).toBe(200);
    finish();
    expect((await stage.request('GET', session)).status).toBe(200);
    expect(isFinished).toBe(true);
    expect(stage.logged.filter(({ level }) => level !== 'debug')).toEqual([]);
  });
});

describe('history', () => {
  it('S-176, S-192: shows a page of events with their envelopes and a cursor of its own', async () => {
    const response = await stage.request('GET', `${session}/events?after=2&limit=10&types=turn_started,shop.sold`);

    expect(await response.json()).toEqual({ events: [eventAt(3)], next_cursor: 7 });
    expect(stage.sessions.calls).toEqual([
      { method: 'events', args: ['local', SESSION_ID, { after: 2, limit: 10, types: ['turn_started', 'shop.sold'] }] },
    ]);
  });

  it.each(['*/*', 'application/json', 'text/html', 'text/event-stream;q=0.1, application/json'])(
    'answers a page to a reader that accepts %s',
    async (accept) => {
      const response = await stage.request('GET', `${session}/events`, { headers: { accept } });
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(stage.sessions.calls[0]?.args[2]).toEqual({ after: 0, limit: 100 });
    },
  );

  it('shows every record of the journal', async () => {
    const response = await stage.request('GET', `${session}/journal?after=9007199254740991`);
    expect(await response.json()).toEqual({ records: [recordAt(3)], next_cursor: 3 });
    expect(stage.sessions.calls[0]?.args[2]).toEqual({ after: Number.MAX_SAFE_INTEGER, limit: 100 });
  });

  it('S-163: shows the transcript and how far it reaches', async () => {
    const response = await stage.request('GET', `${session}/transcript`);
    expect(await response.json()).toEqual({ messages: [{ role: 'user', content: [] }], through_sequence: 9 });
  });
});

describe('what the services refuse', () => {
  const refusals: readonly (readonly [ServiceErrorCode, number, boolean, string | null])[] = [
    ['session_busy', 409, true, null],
    ['session_ended', 409, false, null],
    ['must_resume', 409, false, null],
    ['queue_full', 429, true, '1'],
    ['journal_unavailable', 503, true, '1'],
    ['draining', 503, true, '5'],
    ['disk_full', 507, true, null],
  ];
  it.each(refusals)('answers %s with %i', async (code, status, retryable, retryAfter) => {
    stage.sessions.instead.send = () => Promise.reject(new ServiceError(code, 'in words'));
    const response = await stage.post(`${session}/messages`, { input: 'Hello' });

    expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(await errorOf(response)).toEqual({ code, message: 'in words', retryable });
  });

  it('says where a journal is damaged, and tells the operator', async () => {
    const details = { file: 'sessions/x/journal/1', offset: 12 };
    stage.sessions.instead.get = () => Promise.reject(new ServiceError('journal_corrupt', 'in words', { details }));
    const response = await stage.request('GET', session);

    expect([response.status, (await errorOf(response)).details]).toEqual([500, details]);
    expect(stage.logged).toMatchObject([
      { level: 'error', event: 'request_failed', facts: { code: 'journal_corrupt', method: 'GET', route: '/v1/sessions/:session_id', session_id: SESSION_ID } },
    ]);
  });

  it.each(['environment_failed', 'teardown_failed'] as const)('tells the operator of %s once, with the session, and as no fault of the server', async (code) => {
    const failure = new ServiceError(code, 'shop: no (closed)', { details: { session_id: SESSION_ID } });
    stage.sessions.instead.create = () => Promise.reject(failure);
    stage.sessions.instead.delete = () => Promise.reject(failure);
    const ask = (): Promise<Response> =>
      code === 'environment_failed'
        ? stage.post('/v1/sessions', {}, { 'idempotency-key': 'k' })
        : stage.request('DELETE', session, { headers: { 'idempotency-key': 'k' } });
    expect((await ask()).status).toBe(502);
    stage.sessions.repeated = (_tenant, _session, call) => {
      call.isReplayed = true;
      return Promise.reject(failure);
    };
    expect((await ask()).headers.get('idempotent-replayed')).toBe('true');

    expect(stage.logged).toMatchObject([{ level: 'warn', event: 'request_failed', facts: { code, session_id: SESSION_ID, message: 'shop: no (closed)' } }]);
    expect(Object.keys(stage.logged[0]?.facts ?? {})).not.toContain('trace');
  });

  it('keeps what an unexpected error says in the log', async () => {
    stage.sessions.instead.get = () => Promise.reject(new Error('ENOENT /var/secret', { cause: new Error('the disk') }));
    const response = await stage.request('GET', session);
    const text = await response.text();

    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'internal', retryable: false } });
    expect(text).not.toMatch(/ENOENT|secret|\.ts/);
    expect(stage.logged[0]).toMatchObject({ level: 'error', facts: { code: 'internal' } });
    expect(stage.logged[0]?.facts['trace']).toMatch(/ENOENT \/var\/secret[^]*caused by Error: the disk/);
  });
});
