/** `Idempotency-Key` over real services: what a repeat gets, what a key may be, and when it is looked up. */
import { connect } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ERROR_WORDS } from '../../http/error-words.ts';
import { DescribedServer, type Answer } from '../support/described-server.ts';
import { RawConnection } from '../support/http-stage.ts';
import { TENANT } from '../support/living-brain.ts';
import type { OpenApiDocument } from '../support/openapi-document.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';

const HOUR_MS = 60 * 60 * 1000;
const ASYNC = { prefer: 'respond-async' };

let document: OpenApiDocument;
let model: ScriptedModel;
let server: DescribedServer;
let id: string;
let session: string;

beforeAll(async () => {
  document = await DescribedServer.document();
});

beforeEach(async () => {
  model = new ScriptedModel();
  server = await DescribedServer.open({ model, document });
  id = await server.create();
  session = `/v1/sessions/${id}`;
});

afterEach(async () => {
  await server.close();
});

function say(text: string, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return server.send('POST', `${session}/messages`, { body: { input: text }, headers: { 'idempotency-key': key, ...headers } });
}

function isReplayed({ headers }: Answer): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

async function turns(): Promise<number> {
  return (await server.living.types(id)).filter((type) => type === 'turn_started').length;
}

async function sessionCount(): Promise<number> {
  return (await server.living.sessions.list(TENANT, { after: '', limit: 1000 })).sessions.length;
}

describe('a request that is sent again under its key', () => {
  it('S-092: gets the first answer, with Idempotent-Replayed, and nothing is done again', async () => {
    const first = await say('hello', 'k');
    const again = await say('hello', 'k');

    expect([first.status, isReplayed(first)]).toEqual([200, false]);
    expect([again.status, isReplayed(again), again.body]).toEqual([200, true, first.body]);
    expect(await turns()).toBe(1);
  });

  it('S-091: is another request in the other mode: two claims, two turns', async () => {
    await say('hello', 'k');
    const receipt = await say('hello', 'k', ASYNC);
    await server.living.atRest(id);

    expect([receipt.status, isReplayed(receipt)]).toEqual([202, false]);
    const again = await say('hello', 'k', ASYNC);
    expect([again.status, isReplayed(again), again.body]).toEqual([202, true, receipt.body]);
    expect(again.headers.get('preference-applied')).toBe('respond-async');
    expect(await turns()).toBe(2);
  });

  it.each([
    ['its keys in another order', '{"b":{"y":2,"x":1},"a":"é\\"/"}'],
    ['other white space', '\n{ "a" :\t"é\\"/" , "b" : { "x" : 1 , "y" : 2 } }\r\n'],
    ['other escapes', '{"a":"\\u00e9\\u0022\\/","\\u0062":{"x":1,"y":2}}'],
    ['other spellings of its numbers', '{"a":"é\\"/","b":{"x":1.0,"y":20e-1}}'],
  ])('is the same request with %s', async (_, configuration) => {
    const create = (text: string): Promise<Answer> =>
      server.send('POST', '/v1/sessions', { body: `{"transcript":[{"role":"user","content":[{"type":"text","text":"x","provider":${text}}]}]}`, headers: { 'idempotency-key': 'k' } });
    const first = await create('{"a":"é\\"/","b":{"x":1,"y":2}}');
    const again = await create(configuration);

    expect([again.status, isReplayed(again)]).toEqual([201, true]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(await sessionCount()).toBe(2);
  });

  it('is refused where its text was changed, and changes nothing', async () => {
    await say('hello', 'k');
    const before = await server.living.journal(id);
    const changed = await say('hello!', 'k');

    expect([changed.status, changed.code, isReplayed(changed)]).toEqual([422, 'idempotency_mismatch', false]);
    expect(await server.living.journal(id)).toEqual(before);
  });

  it('takes no body and the empty object for one request', async () => {
    const headers = { 'idempotency-key': 'k' };
    await server.send('POST', '/v1/sessions', { headers });
    expect(isReplayed(await server.send('POST', '/v1/sessions', { body: {}, headers }))).toBe(true);
    await server.send('POST', `${session}/cancel`, { headers });
    expect(isReplayed(await server.send('POST', `${session}/cancel`, { body: {}, headers }))).toBe(true);
  });

  it('is told apart by its session and by its route', async () => {
    const headers = { 'idempotency-key': 'k' };
    const other = await server.create();
    const answers = [
      await server.send('POST', `${session}/cancel`, { headers }),
      await server.send('POST', `/v1/sessions/${other}/cancel`, { headers }),
      await server.send('POST', `${session}/resume`, { headers }),
      await server.send('PATCH', session, { body: { metadata: { a: 'b' } }, headers }),
      await server.send('POST', `${session}/end`, { headers }),
      await server.send('DELETE', session, { headers }),
    ];
    expect(answers.map((answer) => [answer.status < 300, isReplayed(answer)])).toEqual(answers.map(() => [true, false]));
  });

  it.each(['POST cancel', 'POST resume', 'PATCH', 'POST end'])('gets the session as it was then: %s', async (which) => {
    const [method = '', verb] = which.split(' ');
    const path = verb === undefined ? session : `${session}/${verb}`;
    const sent = { ...(method === 'PATCH' ? { body: { metadata: { a: 'b' } } } : {}), headers: { 'idempotency-key': 'k' } };
    const first = await server.send(method, path, sent);
    await server.send('PATCH', session, { body: { metadata: { a: 'later' } } });
    const again = await server.send(method, path, sent);

    expect([again.status, isReplayed(again)]).toEqual([first.status, true]);
    expect(again.body).toEqual(first.body);
  });

  it('S-153: gets the answer to a delete for 24 hours, though nothing of the session is left', async () => {
    await server.send('POST', `${session}/end`);
    const headers = { 'idempotency-key': 'k' };
    expect((await server.send('DELETE', session, { headers })).status).toBe(204);
    expect((await server.send('DELETE', session)).code).toBe('not_found');

    await server.living.clock.advance(24 * HOUR_MS);
    const again = await server.send('DELETE', session, { headers });
    expect([again.status, isReplayed(again)]).toEqual([204, true]);
    await server.living.clock.advance(1);
    expect((await server.send('DELETE', session, { headers })).code).toBe('not_found');
  });

  it('S-152: gets the first answer of a create, a message and a delete after a restart', async () => {
    const headers = { 'idempotency-key': 'k' };
    const created = await server.send('POST', '/v1/sessions', { body: { system: 'x' }, headers });
    const sent = await say('hello', 'k');
    const gone = await server.create();
    await server.send('POST', `/v1/sessions/${gone}/end`);
    await server.send('DELETE', `/v1/sessions/${gone}`, { headers });

    server = await server.restart();
    const again = await server.send('POST', '/v1/sessions', { body: { system: 'x' }, headers });
    expect([again.status, isReplayed(again), again.body]).toEqual([201, true, { ...(created.body as object), resident: false }]);
    const message = await say('hello', 'k');
    expect([message.status, isReplayed(message), message.body]).toEqual([200, true, sent.body]);
    const deleted = await server.send('DELETE', `/v1/sessions/${gone}`, { headers });
    expect([deleted.status, isReplayed(deleted)]).toEqual([204, true]);
    expect(await turns()).toBe(1);
  });

  it('S-154, S-155: is ambiguous where the server died under its turn, says which, and is never carried out again', async () => {
    model.script = () => 'waits';
    void say('hello', 'k').catch(() => undefined);
    await model.calls.at(0);
    server = await server.restart();

    await server.living.clock.advance(1000 * HOUR_MS);
    const again = await say('hello', 'k');
    expect([again.status, again.code]).toEqual([409, 'idempotency_ambiguous']);
    expect(again.body).toMatchObject({ error: { retryable: false, details: { session_id: id, sequence: 4 } } });
    expect(model.calls.all).toHaveLength(1);
  });

  it('S-156: is told in the document to look at the session before it takes a new key', () => {
    const described = server.document.route('POST', '/v1/sessions').operation.responses['409']?.description;
    expect(described).toContain(`${ERROR_WORDS.idempotency_ambiguous.when} Look at the session; then take a new key, or not.`);
  });

  it('is the identical create, which makes one session however often it is sent', async () => {
    const body = { model: { provider: 'demo', name: 'echo' }, tools: [], metadata: { order: '7' } };
    const headers = { 'idempotency-key': 'k' };
    const ids = new Set<unknown>();
    for (let turn = 0; turn < 3; turn += 1) {
      const { body: made } = await server.send('POST', '/v1/sessions', { body, headers });
      ids.add((made as { readonly session_id: string }).session_id);
    }
    expect([ids.size, await sessionCount()]).toEqual([1, 2]);
  });
});

describe('a hundred sends with one key', () => {
  it('make one turn: the others are in progress until it is over, and then get the same answer', async () => {
    model.script = () => 'waits';
    const sends = Array.from({ length: 100 }, () => say('hello', 'k'));
    const call = await model.calls.at(0);
    let answered = 0;
    for (const send of sends) void send.then(() => (answered += 1));
    await expect.poll(() => answered, { timeout: 30_000 }).toBe(99);
    expect((await say('hello', 'k')).code).toBe('idempotency_in_progress');

    call.answer(saying('done'));
    const answers = await Promise.all(sends);
    const first = answers.filter(({ status }) => status === 200);
    const others = answers.filter(({ status }) => status !== 200);
    expect(first).toHaveLength(1);
    expect(new Set(others.map(({ status, code }) => `${status} ${code ?? ''}`))).toEqual(new Set(['409 idempotency_in_progress']));
    expect(others[0]?.body).toMatchObject({ error: { retryable: true } });

    const again = await Promise.all(Array.from({ length: 100 }, () => say('hello', 'k')));
    expect(again.every((answer) => isReplayed(answer) && answer.status === 200)).toBe(true);
    expect(new Set(again.map(({ body }) => JSON.stringify(body)))).toEqual(new Set([JSON.stringify(first[0]?.body)]));
    expect(await turns()).toBe(1);
  });

  it.each(['create', 'async', 'delete'])('do one thing: %s', async (which) => {
    await (which === 'delete' ? server.send('POST', `${session}/end`) : Promise.resolve());
    const send = (): Promise<Answer> => {
      if (which === 'async') return say('hello', 'k', ASYNC);
      return server.send(which === 'create' ? 'POST' : 'DELETE', which === 'create' ? '/v1/sessions' : session, { headers: { 'idempotency-key': 'k' } });
    };
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    const refused = answers.filter(({ status }) => status >= 300);

    expect(new Set(refused.map(({ code }) => code))).toEqual(which === 'async' ? new Set() : new Set(refused.length === 0 ? [] : ['idempotency_in_progress']));
    expect(answers.filter((answer) => answer.status < 300 && !isReplayed(answer))).toHaveLength(1);
    expect(await sessionCount()).toBe(which === 'create' ? 2 : which === 'delete' ? 0 : 1);
  });
});

describe('a hundred requests with one key that are refused', () => {
  it('are refused or in progress, never ambiguous, and leave the key free', async () => {
    const remove = (): Promise<Answer> => server.send('DELETE', session, { headers: { 'idempotency-key': 'k' } });
    const codes = new Set((await Promise.all(Array.from({ length: 100 }, remove))).map(({ code }) => code));

    expect(codes.has('must_end')).toBe(true);
    expect([...codes].filter((code) => code !== 'must_end' && code !== 'idempotency_in_progress')).toEqual([]);
    await server.send('POST', `${session}/end`);
    expect((await remove()).status).toBe(204);
  });
});

describe('a key', () => {
  /** Exactly these bytes, as a client of another making could send them. */
  async function cancelWith(...keys: readonly (string | Uint8Array)[]): Promise<string> {
    const connection = new RawConnection(connect(server.port, '127.0.0.1'));
    connection.send(`POST ${session}/cancel HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n`);
    for (const key of keys) connection.send(Buffer.concat([Buffer.from('Idempotency-Key: '), Buffer.from(key), Buffer.from('\r\n')]));
    connection.send('\r\n');
    const text = await connection.closed;
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    return `${text.slice(9, 12)} ${code ?? (text.toLowerCase().includes('idempotent-replayed: true') ? 'again' : 'first')}`;
  }

  it.each([
    ['of one byte', 'k'],
    ['of 256 bytes', 'k'.repeat(256)],
    ['of 64 emoji, which are 256 bytes', '🦀'.repeat(64)],
    ['that is a number', '7'],
    ['named like what every object has', '__proto__'],
    ['named like another', 'constructor'],
    ['with spaces, quotes and slashes', 'a b "c" /../'],
    ['in two alphabets', 'ключ-é'],
  ])('%s is one', async (_, key) => {
    expect([await cancelWith(key), await cancelWith(key)]).toEqual(['202 first', '202 again']);
  });

  it.each([
    ['of no byte', ['']],
    ['of spaces alone', ['   ']],
    ['of 257 bytes', ['k'.repeat(257)]],
    ['of 65 emoji, which are 260 bytes', ['🦀'.repeat(65)]],
    ['with a tab in it', ['a\tb']],
    ['with a control character that is written in two bytes', ['a\u0085b']],
    ['that is no UTF-8', [Uint8Array.of(0x61, 0xff)]],
    ['that holds half of a pair', [Uint8Array.of(0xed, 0xa0, 0x80)]],
    ['that is given twice', ['a', 'b']],
    ['that is given twice alike', ['a', 'a']],
    ['with NUL', [Uint8Array.of(0x61, 0x00, 0x62)]],
    ['with an escape', ['a\u001bb']],
  ])('%s is none, and nothing is done', async (_, keys) => {
    const before = await server.living.journal(id);
    expect(await cancelWith(...keys)).toBe('400 invalid_request');
    expect(await server.living.journal(id)).toEqual(before);
  });

  it('is told apart by every byte, also by a mark that decoders leave out', async () => {
    expect(await cancelWith('k')).toBe('202 first');
    expect(await cancelWith('\uFEFFk')).toBe('202 first');
    expect(await cancelWith('K')).toBe('202 first');
    expect(await cancelWith('é')).toBe('202 first');
    // The same to the eye, in other bytes.
    expect(await cancelWith('e\u0301')).toBe('202 first');
    expect(await cancelWith('k')).toBe('202 again');
  });

  it('is passed over where nothing is asked for', async () => {
    const headers = { 'idempotency-key': 'x'.repeat(300) };
    expect((await server.send('GET', session, { headers })).status).toBe(200);
    expect((await server.send('PUT', '/v1/credentials/a', { body: { value: 'secret' }, headers })).status).toBe(204);
  });
});

describe('a key is looked up', () => {
  it('before the body is looked at, whose fields may be refused by now', async () => {
    await say('hello', 'k');
    const wrong = await server.send('POST', `${session}/messages`, { body: { input: 7 }, headers: { 'idempotency-key': 'k' } });
    expect([wrong.status, wrong.code]).toEqual([422, 'idempotency_mismatch']);
    const query = await server.send('POST', `${session}/messages?x=1`, { body: { input: 'hello' }, headers: { 'idempotency-key': 'k' } });
    expect([query.status, isReplayed(query)]).toEqual([200, true]);
  });

  it('before the state of the session is', async () => {
    const first = await say('hello', 'k');
    await server.send('POST', `${session}/end`);
    expect((await say('another', 'other')).code).toBe('session_ended');
    expect((await say('hello', 'k')).body).toEqual(first.body);
  });

  it('before a shutdown refuses new work', async () => {
    const first = await say('hello', 'k');
    const created = await server.send('POST', '/v1/sessions', { headers: { 'idempotency-key': 'k' } });
    await server.living.brain.drain(null);

    expect((await say('another', 'other')).code).toBe('draining');
    expect((await say('hello', 'k')).body).toEqual(first.body);
    const again = await server.send('POST', '/v1/sessions', { headers: { 'idempotency-key': 'k' } });
    expect([again.status, isReplayed(again), again.body]).toEqual([201, true, created.body]);
  });

  it('after the token, which whoever has none learns nothing from', async () => {
    await server.close();
    server = await DescribedServer.open({ apiKey: 'secret', document });
    const headers = { 'idempotency-key': 'k' };
    await server.send('POST', '/v1/sessions', { headers: { ...headers, authorization: 'Bearer secret' } });

    const stranger = await server.send('POST', '/v1/sessions', { body: { system: 'other' }, headers });
    expect([stranger.status, stranger.code, isReplayed(stranger)]).toEqual([401, 'unauthorized', false]);
  });

  it('and is as free as before where its request was refused', async () => {
    const refused: readonly (() => Promise<Answer>)[] = [
      () => server.send('POST', '/v1/sessions', { body: { colour: 1 }, headers: { 'idempotency-key': 'k' } }),
      () => server.send('POST', '/v1/sessions', { body: { tools: ['nothing'] }, headers: { 'idempotency-key': 'k' } }),
      () => server.send('POST', '/v1/sessions?x=1', { headers: { 'idempotency-key': 'k' } }),
      () => server.send('POST', '/v1/sessions', { body: '{', headers: { 'idempotency-key': 'k' } }),
    ];
    for (const send of refused) expect((await send()).status).toBeGreaterThanOrEqual(400);
    const created = await server.send('POST', '/v1/sessions', { headers: { 'idempotency-key': 'k' } });
    expect([created.status, isReplayed(created)]).toEqual([201, false]);

    expect((await server.send('DELETE', session, { headers: { 'idempotency-key': 'k' } })).code).toBe('must_end');
    await server.send('POST', `${session}/end`);
    const deleted = await server.send('DELETE', session, { headers: { 'idempotency-key': 'k' } });
    expect([deleted.status, isReplayed(deleted)]).toEqual([204, false]);
  });
});
