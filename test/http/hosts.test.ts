/** Hosts on real sockets: what their processes are told, what they may say, and with which token. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResolvedEnvironment } from '../../machines/records.ts';
import type { SentOperation } from '../../services/environments/operation.ts';
import { eventually } from '../support/eventually.ts';
import { SESSION_ID } from '../support/fake-session-service.ts';
import { HostClient, httpHostWire } from '../support/host-client.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';
import { ManualClock } from '../support/manual-clock.ts';

const PAGE = 'https://app.example.com';
const DONE = { type: 'result', output: 'flour' } as const;
const MILL: ResolvedEnvironment = { name: 'shop', driver: 'host', host: 'mill', configuration: {} };

let clock: ManualClock;
let stage: HttpStage;
let sequence: number;

beforeEach(async () => {
  clock = new ManualClock();
  stage = await HttpStage.open({ clock, apiKey: 'key', corsOrigins: [PAGE] });
  sequence = 10;
});

afterEach(async () => {
  stage.hosts.close();
  await stage.closeOn(clock);
});

function client(incarnation = 'first', token = 'key'): HostClient {
  return new HostClient(httpHostWire(() => stage.url, token), { name: 'mill', incarnation, script: () => 'waits' });
}

function send(tenant = 'local', input: string = 'grain'): SentOperation & { readonly name: { readonly session_id: string; readonly sequence: number } } {
  sequence += 1;
  const name = { session_id: SESSION_ID, sequence };
  const sent = stage.hosts.send({
    tenant,
    environment: MILL,
    operation: { ...name, environment: 'shop', request: { type: 'invoke', tool: 'grind', input, deadline_ms: null } },
    credential: null,
    listener: { emit: async () => undefined, progress: () => undefined },
  });
  // As whoever sends it does, once the record is durable.
  void sent.receipt.then(() => sent.recorded());
  return Object.assign(sent, { name });
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

describe('the commands of a host', () => {
  it('come as events without an id, on a stream like any other, and are answered once', async () => {
    const host = client();
    await host.register();
    const response = await stage.request('GET', '/v1/hosts/mill/commands', { headers: bearer(host.token) });
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control'), response.headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream',
      'no-cache, no-transform',
      'no',
    ]);
    const sent = send();
    const reader = response.body?.getReader();
    const text = Buffer.from((await reader?.read())?.value ?? new Uint8Array()).toString();
    const [event, data = '', ...more] = text.trim().split('\n');
    const request = { type: 'invoke', tool: 'grind', input: 'grain', deadline_ms: null };
    expect([event, JSON.parse(data.replace('data: ', '')), more]).toEqual(['event: command', { contract: 'environment/v1', operation: { ...sent.name, environment: 'shop', request } }, []]);
    expect(await host.post('emit', { ...sent.name, type: 'mill.ground', data: null })).toBeNull();
    expect(await host.post('progress', { ...sent.name, fraction: 1 })).toBeNull();
    expect([await host.answer(sent.name, DONE), await host.answer(sent.name, DONE)]).toEqual([null, 'already_closed']);
    expect(await sent.receipt).toEqual(DONE);
    await reader?.cancel();
  });

  it('are told again after a lost connection, and cancels with them', async () => {
    const host = client();
    await host.start();
    const [one, two] = [send(), send()];
    await host.commands.at(1);
    const closed = two.close(99);
    await host.cancels.at(0);
    await host.disconnect();
    await closed;
    await eventually(async () => (one.atDeadline() === 'unknown' ? true : undefined), 'the process to be gone');
    await host.connect();
    await host.told.at(4);
    expect(host.told.all.slice(3).map((event) => event.type)).toEqual(['cancel', 'command']);
    expect(host.commands.all).toHaveLength(2);
  });

  it('stop where another process takes the name, which is told what nobody has', async () => {
    const [first, second] = [client('first'), client('second')];
    await first.start();
    const sent = send();
    await first.commands.at(0);
    expect(await second.start()).toBeNull();
    await first.streamEnded;
    expect((await sent.receipt).type).toBe('unknown');
    expect([await first.connect(), await first.answer(sent.name, DONE)]).toEqual(['conflict', 'already_closed']);
    const next = send();
    expect((await second.commands.at(0)).sequence).toBe(next.name.sequence);
  });

  it('are not taken from a process that reads nothing, whose stream a newer one of it ends', async () => {
    const host = client();
    await host.register();
    const connection = stage.connect();
    connection.socket.pause();
    connection.send(`GET /v1/hosts/mill/commands HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${host.token}\r\n\r\n`);
    const sent = Array.from({ length: 200 }, () => send('local', 'x'.repeat(100_000)));
    const written = await eventually(async () => {
      const count = sent.filter((one) => one.mayHaveArrived()).length;
      await stage.request('GET', '/health/live');
      return count > 0 && count === sent.filter((one) => one.mayHaveArrived()).length ? count : undefined;
    }, 'the reader to stall');
    expect(written).toBeLessThan(200);
    expect(await host.connect()).toBeNull();
    await host.commands.at(199);
    clock.advance(1_000);
    connection.socket.resume();
    await connection.closed;
  });

  it('are followed by a comment after fifteen silent seconds, and a HEAD opens no stream', async () => {
    const host = client();
    await host.start();
    const head = await stage.request('HEAD', '/v1/hosts/mill/commands', { headers: bearer(host.token) });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const sent = send();
    await host.commands.at(0);
    expect(sent.atDeadline()).toBe('timeout');
    const connection = stage.connect();
    connection.send(`GET /v1/hosts/mill/commands HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${host.token}\r\n\r\n`);
    await eventually(async () => (connection.text.includes('event: command') ? true : undefined), 'the command');
    clock.advance(15_000);
    await eventually(async () => (connection.text.includes(': keepalive\n\n') ? true : undefined), 'the comment');
    connection.socket.destroy();
  });

  it('S-219: go on during a drain, and so do their results', async () => {
    stage.isDraining = true;
    const host = client();
    await host.start();
    const sent = send();
    await host.commands.at(0);
    expect(await host.answer(sent.name, DONE)).toBeNull();
    stage.hosts.close();
    await host.streamEnded;
    expect(await host.connect()).toBe('draining');
  });
});

describe('the token of a host', () => {
  const ROUTES = [
    ['GET', 'commands', undefined],
    ['POST', 'results', { session_id: SESSION_ID, sequence: 1, receipt: DONE }],
    ['POST', 'emit', { session_id: SESSION_ID, sequence: 1, type: 'a.b', data: 1 }],
    ['POST', 'progress', { session_id: SESSION_ID, sequence: 1 }],
  ] as const;

  function ask(method: string, path: string, token: string, body?: unknown): Promise<Response> {
    const headers = { ...bearer(token), 'content-type': 'application/json' };
    return stage.request(method, path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  it.each(ROUTES)('is the only one for %s %s, and of one name', async (method, route, body) => {
    const host = client();
    await host.register();
    const mine = stage.tokens.give('mine', { scope: 'manage' });
    for (const token of ['key', mine, 'brain_host_x.y', `${host.token}x`]) {
      expect([token, (await ask(method, `/v1/hosts/mill/${route}`, token, body)).status]).toEqual([token, 401]);
    }
    expect((await ask(method, `/v1/hosts/forge/${route}`, host.token, body)).status).toBe(401);
    expect((await stage.request(method, `/v1/hosts/mill/${route}`)).status).toBe(401);
    const right = await ask(method, `/v1/hosts/mill/${route}`, host.token, body);
    expect(right.status).toBe(method === 'GET' ? 200 : 409);
    await right.body?.cancel();
  });

  it.each([['key'], [undefined]])('is none on any other route, on a server whose key is %s', async (apiKey) => {
    const own = new ManualClock();
    const other = await HttpStage.open({ clock: own, ...(apiKey === undefined ? {} : { apiKey }) });
    const host = new HostClient(httpHostWire(() => other.url, apiKey), { name: 'mill' });
    await host.register();
    const statuses = await Promise.all(
      [
        ['GET', '/v1/sessions'],
        ['POST', '/v1/hosts'],
        ['GET', `/v1/sessions/${SESSION_ID}/events`],
        ['GET', '/sessions'],
        ['GET', '/nothing'],
      ].map(async ([method = '', path = '']) => (await other.request(method, path, { headers: bearer(host.token) })).status),
    );
    expect(statuses).toEqual([401, 401, 401, 401, 401]);
    expect(await host.post('results', { session_id: SESSION_ID, sequence: 1, receipt: DONE })).toBe('already_closed');
    await other.closeOn(own);
  });

  it('is given to whoever may send, and not for one session', async () => {
    const register = (token: string): Promise<Response> => ask('POST', '/v1/hosts', token, { name: 'mill', incarnation: 'first' });
    const sender = stage.tokens.give('sender', { scope: 'send' });
    const reader = stage.tokens.give('reader', { scope: 'read' });
    const limited = stage.tokens.give('limited', { scope: 'manage', sessionId: SESSION_ID });
    const statuses = [];
    for (const token of [sender, sender, reader, limited, 'nothing']) statuses.push((await register(token)).status);
    expect(statuses).toEqual([201, 200, 403, 403, 401]);
  });

  it('ends with the one that it was made with, and so does its stream', async () => {
    const sender = stage.tokens.give('sender', { scope: 'send' });
    const [mine, other] = [client('first', sender), client()];
    await mine.start();
    await other.start();
    const sent = send('acme');
    await mine.commands.at(0);
    stage.tokens.takeBack(sender);
    await mine.streamEnded;
    expect([await mine.answer(sent.name, DONE), await mine.connect(), sent.atDeadline()]).toEqual(['unauthorized', 'unauthorized', 'unknown']);
    send();
    await other.commands.at(0);
  });

  it('opens its routes to a page whose origin is listed, by a preflight too', async () => {
    const headers = { origin: PAGE, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' };
    const preflight = await stage.request('OPTIONS', '/v1/hosts/mill/results', { headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin'), preflight.headers.get('access-control-allow-headers')]).toEqual([204, PAGE, 'authorization,content-type']);
    const host = client();
    await host.register();
    for (const [origin, allowed] of [[PAGE, PAGE], ['https://elsewhere.example.com', null]] as const) {
      const response = await stage.request('GET', '/v1/hosts/mill/commands', { headers: { ...bearer(host.token), origin } });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, allowed]);
      await response.body?.cancel();
    }
  });
});

describe('what a host says', () => {
  it.each([
    ['POST', '/v1/hosts', { name: 'mill', incarnation: 'x', colour: 'red' }, '/colour'],
    ['POST', '/v1/hosts', { name: 'two words', incarnation: 'x' }, '/name'],
    ['POST', '/v1/hosts', { name: 'mill' }, '/incarnation'],
    ['POST', '/v1/hosts/mill/results', { session_id: SESSION_ID, sequence: 1, receipt: { ...DONE, more: 1 } }, '/receipt/more'],
    ['POST', '/v1/hosts/mill/results', { session_id: SESSION_ID, sequence: 1, receipt: { type: 'done' } }, '/receipt/type'],
    ['POST', '/v1/hosts/mill/results', { session_id: 'x', sequence: 1, receipt: DONE }, '/session_id'],
    ['POST', '/v1/hosts/mill/emit', { session_id: SESSION_ID, sequence: 1, type: 'a.b' }, '/data'],
    ['POST', '/v1/hosts/mill/progress', { session_id: SESSION_ID, sequence: 0 }, '/sequence'],
    ['POST', '/v1/hosts/mill/progress', { session_id: SESSION_ID, sequence: 1, fraction: 2 }, '/fraction'],
  ])('to %s %s is refused by the name of what is wrong', async (_method, path, body, field) => {
    const host = client();
    await host.register();
    const response = await stage.post(path, body, bearer(path === '/v1/hosts' ? 'key' : host.token));
    expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_request', details: { field } }]);
  });

  it('holds no token in any line of the log', async () => {
    const host = client();
    await host.start();
    expect(JSON.stringify(stage.logged)).not.toContain('brain_host_');
  });
});
