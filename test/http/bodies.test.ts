import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { SESSION_ID } from '../support/fake-session-service.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';
import { eventually } from '../support/eventually.ts';

const messages = `/v1/sessions/${SESSION_ID}/messages`;
const MEBIBYTE = 1024 * 1024;
let stage: HttpStage;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  stage = await HttpStage.open({ clock });
});

afterEach(async () => {
  stage.sessions.calls.length = 0;
  const closed = stage.close();
  clock.advance(0);
  await closed;
});

function send(body: string | Uint8Array, headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' }): Promise<Response> {
  return stage.request('POST', messages, { body, headers });
}

async function expectRefused(response: Response, status: number, code: string, message?: RegExp): Promise<void> {
  const error = await errorOf(response);
  expect([response.status, error.code]).toEqual([status, code]);
  if (message !== undefined) expect(error.message).toMatch(message);
  expect(stage.sessions.calls).toEqual([]);
}

describe('the text of a body', () => {
  it('takes multi-byte text exactly, with and without a byte order mark', async () => {
    const text = '你好🦀é 👩‍👩‍👧 \u2028 \u007f';
    await send(JSON.stringify({ input: text }), { 'content-type': 'application/json; charset=UTF-8' });
    await send(`\ufeff${JSON.stringify({ input: text })}`);
    expect(stage.sessions.calls.map(({ args }) => args[2])).toEqual([text, text]);
  });

  it.each([
    ['a byte that begins nothing', [0xff]],
    ['a sequence that is cut off', [0xe4, 0xbd]],
    ['a surrogate that is encoded by itself', [0xed, 0xa0, 0x80]],
    ['an overlong encoding', [0xc0, 0x80]],
  ])('refuses %s', async (_, bytes) => {
    const body = Buffer.concat([Buffer.from('{"input":"'), Buffer.from(bytes), Buffer.from('"}')]);
    await expectRefused(await send(body), 400, 'invalid_request', /not well-formed UTF-8/);
  });

  it.each(['{', '{"input":}', "{'input':1}", '{"input":"a"} x', ''.padEnd(3), 'NaN', '{"input":"a\nb"}'])(
    'refuses %j, which is not JSON, without quoting it',
    async (body) => {
      await expectRefused(await send(body), 400, 'invalid_request', /^the body is not valid JSON(: it breaks at character \d+)?$/);
    },
  );

  it('counts brackets outside of strings only, and takes what is nested 64 deep', async () => {
    const nested = `${'['.repeat(62)}${']'.repeat(62)}`;
    const body = `{"input":[{"type":"text","text":"${'['.repeat(100)}\\"{","provider":${nested.slice(1, -1)}}]}`;
    expect((await send(body)).status).toBe(200);
    const deeper = `{"input":[{"type":"text","text":"a","provider":${nested}}]}`;
    stage.sessions.calls.length = 0;
    await expectRefused(await send(deeper), 400, 'invalid_request', /nested deeper than 64 levels/);
  });

  it('refuses 10,000 levels of nesting, and millions', async () => {
    await expectRefused(await send(`${'['.repeat(10_000)}${']'.repeat(10_000)}`), 400, 'invalid_request', /nested/);
    await expectRefused(await send('{"a":'.repeat(1_000_000)), 400, 'invalid_request', /nested/);
  });

  it('takes the last of a key that is given twice', async () => {
    await send('{"input":"first","input":"last"}');
    expect(stage.sessions.calls[0]?.args[2]).toBe('last');
  });
});

describe('what a body is said to be', () => {
  it.each([
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'content-type': 'application/jsonp' },
    { 'content-type': 'nonsense' },
    { 'content-type': 'application/json', 'content-encoding': 'zstd' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip, br' },
  ])('refuses %j as unsupported', async (headers) => {
    await expectRefused(await send(Buffer.from('{"input":"a"}'), headers), 415, 'unsupported_media_type');
  });

  it('takes a body that is compressed with gzip, deflate or br', async () => {
    const body = JSON.stringify({ input: 'é' });
    const compressed = { gzip: gzipSync(body), deflate: deflateSync(body), br: brotliCompressSync(body) };
    for (const [encoding, bytes] of Object.entries(compressed)) {
      await send(bytes, { 'content-type': 'application/json', 'content-encoding': encoding });
    }
    expect(stage.sessions.calls.map(({ args }) => args[2])).toEqual(['é', 'é', 'é']);
  });

  it.each(['gzip', 'deflate', 'br'])('answers 400 to a body that is not the %s it is said to be', async (encoding) => {
    const response = await send('{"input":"a"}', { 'content-type': 'application/json', 'content-encoding': encoding });
    await expectRefused(response, 400, 'invalid_request', /Content-Encoding/);
    const cut = gzipSync(JSON.stringify({ input: 'a'.repeat(1000) })).subarray(0, 20);
    await expectRefused(await send(cut, { 'content-type': 'application/json', 'content-encoding': 'gzip' }), 400, 'invalid_request');
  });

  it('serves the next request on a connection whose last body was broken', async () => {
    const connection = stage.connect();
    const bad = Buffer.from('no gzip');
    connection.send(
      `POST ${messages} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bad.length}\r\n\r\n`,
    );
    connection.send(bad);
    await eventually(async () => (connection.text.includes('Content-Encoding') ? true : undefined), 'the refusal');
    connection.send('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await connection.closed).toMatch(/^HTTP\/1.1 400 [^]*HTTP\/1.1 204 /);
  });
});

describe('the size of a body', () => {
  it('takes a body of exactly the bound, and not one byte more', async () => {
    const small = await HttpStage.open({ bodyBytesMax: 1000 });
    const body = (bytes: number): string => `{"input":"${'a'.repeat(bytes - 12)}"}`;
    expect((await small.post(messages, body(1000))).status).toBe(200);

    const response = await small.post(messages, body(1001));
    expect([response.status, (await errorOf(response)).message]).toEqual([413, 'the body must be at most 1000 bytes']);
    await small.close();
  });

  it('cuts a body of 100 MB off that names its length, before reading it', async () => {
    const upload = new Upload(stage, `Content-Length: ${100 * MEBIBYTE}`);
    await upload.run();
    expect(upload.connection.text).toMatch(/^HTTP\/1.1 413 [^]*Connection: close[^]*"code":"too_large"/);
    expect(upload.sentBytes).toBeLessThan(32 * MEBIBYTE);
    expect(stage.sessions.calls).toEqual([]);
  });

  it('cuts a body of 100 MB off that does not name its length, once it is over the bound', async () => {
    const upload = new Upload(stage, 'Transfer-Encoding: chunked');
    await upload.run();
    expect(upload.connection.text).toMatch(/^HTTP\/1.1 413 [^]*"code":"too_large"/);
    expect(upload.sentBytes).toBeLessThan(40 * MEBIBYTE);
    expect(stage.sessions.calls).toEqual([]);
  });

  it('hangs up on a client that sends on after the refusal', async () => {
    const upload = new Upload(stage, `Content-Length: ${100 * MEBIBYTE}`);
    await upload.run();
    expect(upload.connection.socket.destroyed).toBe(false);
    await eventually(async () => (clock.timerCount > 0 ? true : undefined), 'the moment of grace');
    clock.advance(1000);
    expect(await upload.connection.closed).toMatch(/^HTTP\/1.1 413 /);
    expect(clock.timerCount).toBe(0);
  });

  it('bounds what a compressed body becomes', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE, 0x20));
    const connection = stage.connect();
    connection.send(
      `POST ${messages} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`,
    );
    connection.send(bomb);
    await eventually(async () => (connection.text.includes('"too_large"') ? true : undefined), 'the refusal');
    connection.socket.destroy();
    expect(stage.sessions.calls).toEqual([]);
  });
});

/** A client that sends 100 MB of a body, as fast as it is taken, until it sees an answer. */
class Upload {
  readonly connection;
  readonly #isChunked: boolean;
  sentBytes = 0;

  constructor(stage: HttpStage, length: string) {
    this.#isChunked = length.startsWith('Transfer');
    this.connection = stage.connect();
    this.connection.send(`POST ${messages} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  }

  async run(): Promise<void> {
    const { socket } = this.connection;
    const bytes = Buffer.alloc(MEBIBYTE, 0x20);
    const answered = new Promise<void>((resolve) => socket.on('data', () => resolve()));
    for (let count = 0; count < 100 && this.connection.received.length === 0; count += 1) {
      const taken = new Promise<void>((resolve) => {
        socket.write(this.#isChunked ? Buffer.concat([Buffer.from('100000\r\n'), bytes, Buffer.from('\r\n')]) : bytes, () => {
          this.sentBytes += bytes.length;
          resolve();
        });
      });
      await Promise.race([taken, answered]);
    }
    await answered;
  }
}
