import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../services/errors.ts';
import { CALLBACK_TOKEN } from '../support/fake-callback-service.ts';
import { HttpStage, type ErrorBody } from '../support/http-stage.ts';

const SESSION = '019b7a5e6c00700080a1b2c3d4e5f607';
const SEQUENCE = 7;
const RESULT = { type: 'result', output: [1] } as const;

let stage: HttpStage;

beforeEach(async () => {
  stage = await HttpStage.open({ apiKey: 'the-key', bodyBytesMax: 1_000 });
});

afterEach(async () => {
  await stage.close();
});

interface Asked {
  readonly token?: string | null;
  readonly session?: string;
  readonly sequence?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reports something, by default with the right token. */
function report(method: string, body: unknown, asked: Asked = {}): Promise<Response> {
  const { token = CALLBACK_TOKEN, session = SESSION, sequence = String(SEQUENCE) } = asked;
  return stage.request(asked.method ?? 'POST', `/v1/callbacks/${session}/${sequence}/${method}`, {
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...asked.headers },
    ...(asked.method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

async function refusalOf(response: Response): Promise<readonly unknown[]> {
  const { error } = (await response.json()) as ErrorBody;
  return [response.status, error.code, ...(error.details?.field === undefined ? [] : [error.details.field])];
}

describe('a callback', () => {
  it('takes a result, an event and progress for the operation that its address names', async () => {
    const receipts = [RESULT, { type: 'failure', code: 'no', message: '', retryable: true, details: { a: 1 } }, { type: 'unknown', message: 'lost' }];
    for (const receipt of receipts) expect((await report('result', { receipt })).status).toBe(204);
    expect((await report('result', { contract: 'environment/v1', sequence: SEQUENCE, receipt: RESULT })).status).toBe(204);
    expect((await report('emit', { type: 'shop.placed', data: null })).status).toBe(204);
    expect((await report('progress', { message: 'half', fraction: 0.5 })).status).toBe(204);
    expect((await report('progress', {})).status).toBe(204);

    const name = { sessionId: SESSION, sequence: SEQUENCE };
    expect(stage.callbacks.reported).toEqual([
      ...[...receipts, RESULT].map((body) => ({ kind: 'result', name, body })),
      { kind: 'emit', name, body: { type: 'shop.placed', data: null } },
      { kind: 'progress', name, body: { message: 'half', fraction: 0.5 } },
      { kind: 'progress', name, body: {} },
    ]);
  });

  it('mends broken text, as what a tool says is mended everywhere: a result is not lost for half a character (case 34)', async () => {
    const { status } = await report('result', '{"receipt":{"type":"result","output":{"a\\ud83e":"b\\u0000c\\udc69"}}}');

    expect(status).toBe(204);
    expect(stage.callbacks.reported).toMatchObject([{ kind: 'result', body: { type: 'result', output: { 'a\ufffd': 'bc\ufffd' } } }]);
  });

  it('is opened by its own token alone, and says the same of whatever is not there', async () => {
    const body = { receipt: RESULT };
    const wrong = [{ token: 'another' }, { token: 'the-key' }, { session: 'no-id' }, { session: SESSION.toUpperCase() }, { sequence: '0' }, { sequence: '07' }, { sequence: '9'.repeat(16) }, { sequence: '1e3' }, { sequence: '-1' }, { sequence: '%00' }];
    const texts = new Set<string>();
    for (const asked of wrong) {
      for (const method of ['result', 'emit', 'progress']) {
        const response = await report(method, body, asked);
        expect([asked, response.status]).toEqual([asked, 401]);
        expect(response.headers.get('www-authenticate')).toContain('invalid_token');
        texts.add(await response.text());
      }
    }
    expect(texts.size).toBe(1);
    expect(await refusalOf(await report('result', body, { token: null }))).toEqual([401, 'unauthorized']);
    expect(stage.callbacks.reported).toEqual([]);
  });

  it('asks for its token before it looks at anything else', async () => {
    expect((await report('result', '{', { token: 'another' })).status).toBe(401);
    expect((await report('result', 'x'.repeat(2_000), { token: null })).status).toBe(401);
  });

  it('refuses what is no report, by the place of what is wrong, and tells nobody', async () => {
    const refused: readonly (readonly [string, unknown, readonly unknown[]])[] = [
      ['result', {}, [400, 'invalid_request', '/receipt']],
      ['result', { receipt: { type: 'accepted' } }, [400, 'invalid_request', '/receipt/type']],
      ['result', { receipt: { type: 'result' } }, [400, 'invalid_request', '/receipt/output']],
      ['result', { receipt: { type: 'failure', code: '', message: '', retryable: false } }, [400, 'invalid_request', '/receipt/code']],
      ['result', { receipt: { type: 'failure', code: 'a', message: 'b' } }, [400, 'invalid_request', '/receipt/retryable']],
      ['result', { receipt: { ...RESULT, colour: 'red' } }, [400, 'invalid_request', '/receipt/colour']],
      ['result', { receipt: RESULT, colour: 'red' }, [400, 'invalid_request', '/colour']],
      ['result', { receipt: RESULT, sequence: SEQUENCE + 1 }, [400, 'invalid_request', '/sequence']],
      ['result', { receipt: RESULT, contract: 'environment/v2' }, [400, 'invalid_request', '/contract']],
      ['result', '{"receipt"', [400, 'invalid_request', '']],
      ['emit', { type: 'a.b' }, [400, 'invalid_request', '/data']],
      ['emit', { type: 7, data: 1 }, [400, 'invalid_request', '/type']],
      ['progress', { fraction: 1.5 }, [400, 'invalid_request', '/fraction']],
      ['progress', { message: 7 }, [400, 'invalid_request', '/message']],
      ['result', { receipt: { type: 'result', output: 'x'.repeat(1_000) } }, [413, 'too_large']],
    ];
    for (const [method, body, refusal] of refused) expect([method, body, await refusalOf(await report(method, body))]).toEqual([method, body, refusal]);
    expect((await report('result', { receipt: RESULT }, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect(await refusalOf(await stage.request('POST', `/v1/callbacks/${SESSION}/7/result?a=1`, { headers: { authorization: `Bearer ${CALLBACK_TOKEN}` } }))).toEqual([400, 'invalid_request', '/a']);
    expect(stage.callbacks.reported).toEqual([]);
  });

  it('answers a report that comes too late, a reserved type and too large an event with their codes', async () => {
    for (const [code, status] of [['already_closed', 409], ['reserved_type', 400], ['too_large', 413]] as const) {
      stage.callbacks.script = () => {
        throw new ServiceError(code, 'no');
      };
      expect(await refusalOf(await report('emit', { type: 'a.b', data: 1 }))).toEqual([status, code]);
    }
  });

  it('knows no other method, and is a path of its own', async () => {
    const response = await report('result', null, { method: 'GET', headers: { authorization: 'Bearer the-key' } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await report('other', {}, { token: 'the-key' })).status).toBe(404);
  });

  it('S-219: is heard while the server drains', async () => {
    stage.isDraining = true;
    expect((await report('result', { receipt: RESULT })).status).toBe(204);
  });
});

describe('a callback of a server without a key', () => {
  it('is called by whatever name and from wherever its token is', async () => {
    await stage.close();
    stage = await HttpStage.open();
    const raw = JSON.stringify({ receipt: RESULT });
    const connection = stage.connect();
    connection.send(
      `POST /v1/callbacks/${SESSION}/7/result HTTP/1.1\r\nHost: brain.example.com\r\nOrigin: https://elsewhere.example\r\nAuthorization: Bearer ${CALLBACK_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${raw.length}\r\nConnection: close\r\n\r\n${raw}`,
    );
    expect(await connection.closed).toContain('204 No Content');
    expect((await report('result', { receipt: RESULT }, { token: null })).status).toBe(401);
  });
});
