import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SESSION_ID } from '../support/fake-session-service.ts';
import { errorOf, HttpStage } from '../support/http-stage.ts';

let stage: HttpStage;

beforeAll(async () => {
  stage = await HttpStage.open();
});

beforeEach(() => {
  stage.sessions.calls.length = 0;
});

afterAll(async () => {
  await stage.close();
});

const text = (length: number): string => 'a'.repeat(length);
const message = (block: unknown, role = 'user'): unknown => ({ transcript: [{ role, content: [block] }] });

const badCreates: readonly (readonly [body: unknown, field: string, message: RegExp])[] = [
  [[], '', /the body must be a JSON object/],
  ['null', '', /the body must be a JSON object/],
  ['"text"', '', /the body must be a JSON object/],
  [{ colour: 1 }, '/colour', /not a field that is known/],
  [{ 'a/b~c': 1 }, '/a~1b~0c', /not a field/],
  ['{"__proto__":{"tools":[]}}', '', /__proto__/],
  ['{"constructor":1}', '/constructor', /not a field/],
  [{ session_id: SESSION_ID }, '/session_id', /not a field/],
  [{ agentloop: 'chat' }, '/agentloop', /must be a JSON object/],
  [{ agentloop: {} }, '/agentloop/name', /is missing: it must be text/],
  [{ agentloop: { name: '' } }, '/agentloop/name', /1 to 128/],
  [{ agentloop: { name: '../chat' } }, '/agentloop/name', /begin with a letter or a digit/],
  [{ agentloop: { name: text(129) } }, '/agentloop/name', /1 to 128/],
  [{ agentloop: { name: 'chat', configuration: [] } }, '/agentloop/configuration', /must be a JSON object/],
  [{ agentloop: { name: 'chat', other: 1 } }, '/agentloop/other', /not a field/],
  [{ model: 'demo/echo' }, '/model', /must be a JSON object/],
  [{ model: { provider: 'demo' } }, '/model/name', /is missing/],
  [{ model: { name: 'echo' } }, '/model/provider', /is missing/],
  [{ model: { provider: 'demo', name: '' } }, '/model/name', /printable/],
  [{ model: { provider: 'demo', name: text(257) } }, '/model/name', /printable/],
  [{ model: { provider: 'demo', name: 'a\nb' } }, '/model/name', /printable/],
  [{ model: { provider: 'demo', name: 'a\u202eb' } }, '/model/name', /printable/],
  [{ model: { provider: 'demo', name: 'echo', credential: 7 } }, '/model/credential', /must be text/],
  [{ model: { provider: 'demo', name: 'echo', base_url: 'http://x' } }, '/model/base_url', /not a field/],
  [{ system: 1 }, '/system', /must be text/],
  [{ environments: 'brain' }, '/environments', /must be a list/],
  [{ environments: [1] }, '/environments/0', /must be text/],
  [{ environments: ['a', 'a'] }, '/environments/1', /must not name again/],
  [{ tools: {} }, '/tools', /must be a list/],
  [{ tools: ['add', 'no spaces'] }, '/tools/1', /1 to 64/],
  [{ tools: [text(65)] }, '/tools/0', /1 to 64/],
  [{ tools: ['add', 'add'] }, '/tools/1', /must not name again/],
  [{ tools: Array.from({ length: 129 }, (_, at) => `t${at}`) }, '/tools', /at most 128 entries/],
  [{ transcript: {} }, '/transcript', /must be a list/],
  [{ transcript: [{ role: 'system', content: [] }] }, '/transcript/0/role', /must be one of "user", "assistant"/],
  [{ transcript: [{ role: 'user' }] }, '/transcript/0/content', /is missing/],
  [{ transcript: [{ role: 'user', content: 'text' }] }, '/transcript/0/content', /must be a list/],
  [{ transcript: [{ role: 'user', content: null }] }, '/transcript/0/content', /must be a list/],
  [message({ type: 'poem' }), '/transcript/0/content/0/type', /must be one of "text", "image", "file", "tool_result"/],
  [message({ type: 'text' }), '/transcript/0/content/0/text', /is missing/],
  [message({ type: 'text', text: 'a', extra: 1 }), '/transcript/0/content/0/extra', /not a field/],
  [message({ type: 'reasoning', text: 'a' }), '/transcript/0/content/0/type', /must be one of/],
  [message({ type: 'tool_use', id: '1', name: 'add', input: {} }), '/transcript/0/content/0/type', /must be one of/],
  [message({ type: 'tool_result', tool_use_id: '1', content: [] }, 'assistant'), '/transcript/0/content/0/type', /must be one of/],
  [message({ type: 'image', url: 'file:///etc/passwd', media_type: 'image/png' }), '/transcript/0/content/0/url', /http/],
  [message({ type: 'image', url: 'http://', media_type: 'image/png' }), '/transcript/0/content/0/url', /http/],
  [message({ type: 'file', url: 'https://x', media_type: 'png' }), '/transcript/0/content/0/media_type', /media type/],
  [message({ type: 'tool_use', id: '1', name: 'add' }, 'assistant'), '/transcript/0/content/0/input', /is missing/],
  [
    message({ type: 'tool_use', id: '1', name: 'add', input: { a: 1 }, input_text: '{"a":2}' }, 'assistant'),
    '/transcript/0/content/0/input',
    /must be what input_text parses to/,
  ],
  [
    message({ type: 'tool_use', id: '1', name: 'add', input: {}, input_text: '{"a":' }, 'assistant'),
    '/transcript/0/content/0/input',
    /must be what input_text parses to/,
  ],
  [message({ type: 'tool_use', id: '1', name: '', input: {} }, 'assistant'), '/transcript/0/content/0/name', /1 to 256/],
  [message({ type: 'tool_result', tool_use_id: '1', content: 'x' }), '/transcript/0/content/0/content', /must be a list/],
  [
    message({ type: 'tool_result', tool_use_id: '1', content: [], outcome: 'lost' }),
    '/transcript/0/content/0/outcome',
    /must be one of "ok", "error"/,
  ],
  [
    message({ type: 'tool_result', tool_use_id: '1', content: [], outcome: 'unknown', is_error: false }),
    '/transcript/0/content/0/is_error',
    /must be true where the outcome is unknown/,
  ],
  [{ idle_ttl_ms: -1 }, '/idle_ttl_ms', /at least 0/],
  [{ idle_ttl_ms: 1.5 }, '/idle_ttl_ms', /whole number/],
  [{ idle_ttl_ms: '0' }, '/idle_ttl_ms', /must be a number/],
  [{ idle_ttl_ms: 2 ** 60 }, '/idle_ttl_ms', /at most/],
  ['{"idle_ttl_ms":1e999}', '/idle_ttl_ms', /out of range/],
  [{ after_stop: 'stop' }, '/after_stop', /must be one of "idle", "hold"/],
  [{ metadata: [] }, '/metadata', /must be a JSON object/],
  [{ metadata: { team: 1 } }, '/metadata/team', /must be text/],
  [{ metadata: { '': 'x' } }, '/metadata', /a key that must have 1 to 64 characters/],
  [{ metadata: { [text(65)]: 'x' } }, '/metadata', /a key that must have 1 to 64 characters/],
  [{ metadata: { team: text(513) } }, '/metadata/team', /0 to 512 characters/],
  ['{"metadata":{"__proto__":"x"}}', '/metadata', /__proto__/],
  [
    { metadata: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`k${at}`, ''])) },
    '/metadata',
    /at most 32 pairs/,
  ],
];

const badInputs: readonly (readonly [body: unknown, field: string, message: RegExp])[] = [
  [{}, '/input', /is missing: it must be text or a list/],
  [{ input: '' }, '/input', /must not be empty/],
  [{ input: [] }, '/input', /must not be empty/],
  [{ input: 5 }, '/input', /must be text or a list/],
  [{ input: null }, '/input', /must be text or a list/],
  [{ input: [{ type: 'text', text: '' }] }, '/input/0/text', /must not be empty/],
  [{ input: [{ type: 'tool_result' }] }, '/input/0/type', /must be one of "text", "image", "file"/],
  [{ input: ['text'] }, '/input/0', /must be a JSON object/],
  [{ input: 'hello', mode: 'async' }, '/mode', /not a field/],
  ['{"input":"\\ud800"}', '/input', /lone surrogate/],
  ['{"input":"a\\u0000b"}', '/input', /NUL/],
  ['{"input":[{"type":"text","text":"a","provider":{"\\udc00":1}}]}', '/input/0/provider', /key/],
];

describe('the fields of a body', () => {
  it.each(badCreates)('refuses the create %j at %s', async (body, field, message) => {
    await expectRefusal(await stage.post('/v1/sessions', body), { status: 400, code: 'invalid_request', field, message });
  });

  it.each(badInputs)('refuses the message %j at %s', async (body, field, message) => {
    const response = await stage.post(`/v1/sessions/${SESSION_ID}/messages`, body);
    await expectRefusal(response, { status: 400, code: 'invalid_request', field, message });
  });

  it('asks for the body of a message that has none', async () => {
    const response = await stage.request('POST', `/v1/sessions/${SESSION_ID}/messages`);
    await expectRefusal(response, { status: 400, code: 'invalid_request', field: '', message: /the body is missing/ });
  });

  it.each(['cancel', 'resume', 'end'])('refuses a field in the body of %s', async (verb) => {
    const response = await stage.post(`/v1/sessions/${SESSION_ID}/${verb}`, { why: 'because' });
    await expectRefusal(response, { status: 400, code: 'invalid_request', field: '/why', message: /not a field/ });
  });

  it('looks at the shape of the whole body before it looks up a name', async () => {
    const response = await stage.post('/v1/sessions', { environments: ['nowhere'], after_stop: 'never' });
    await expectRefusal(response, { status: 400, code: 'invalid_request', field: '/after_stop', message: /one of/ });
  });

  it.each([
    [{ environments: ['a', 'a'] }, '/environments/1'],
    [{ environments: ['-a'] }, '/environments/0'],
    [{ environments: [{ name: 'a', url: 'http://x' }] }, '/environments/0'],
    [{ environments: 'a' }, '/environments'],
  ])('S-157: takes environments by their names alone, each once: %j', async (body, field) => {
    await expectRefusal(await stage.post('/v1/sessions', body), { status: 400, code: 'invalid_request', field, message: /./ });
  });
});

const events = `/v1/sessions/${SESSION_ID}/events`;
const journal = `/v1/sessions/${SESSION_ID}/journal`;
const badQueries: readonly (readonly [path: string, code: string, field: string])[] = [
  ...['-1', '1.5', '1e3', 'x', '', '01', '9007199254740992', '%00'].map((after) => [`${events}?after=${after}`, 'invalid_cursor', '/after'] as const),
  ...['0', '1001', '-1', 'ten', '', '1.0'].map((limit) => [`${events}?limit=${limit}`, 'invalid_request', '/limit'] as const),
  ...['', 'turn_endd', 'kv_put', 'a.b,', 'extension_emitted'].map((types) => [`${events}?types=${types}`, 'invalid_request', '/types'] as const),
  [`${events}?after=1&after=2`, 'invalid_cursor', '/after'],
  [`${events}?before=1`, 'invalid_request', '/before'],
  [`${events}?access_token=secret`, 'invalid_request', '/access_token'],
  [`${journal}?after=-1`, 'invalid_cursor', '/after'],
  [`${journal}?limit=0`, 'invalid_request', '/limit'],
  [`${journal}?types=turn_ended`, 'invalid_request', '/types'],
  ['/v1/sessions?after=1', 'invalid_cursor', '/after'],
  ['/v1/sessions?after=', 'invalid_cursor', '/after'],
  [`/v1/sessions?after=${SESSION_ID.toUpperCase()}`, 'invalid_cursor', '/after'],
  ['/v1/sessions?after=../../etc/passwd', 'invalid_cursor', '/after'],
  ['/v1/sessions?limit=1001', 'invalid_request', '/limit'],
  ['/v1/sessions?sort=asc', 'invalid_request', '/sort'],
  ['/v1/sessions?__proto__=1', 'invalid_request', '/__proto__'],
  [`/v1/sessions/${SESSION_ID}?full=true`, 'invalid_request', '/full'],
  [`/v1/sessions/${SESSION_ID}/transcript?after=1`, 'invalid_request', '/after'],
];

describe('the text of a query', () => {
  it.each(['%ff', '%zz', '%', '%ed%a0%80', 'a%00b'])('is refused where it is no text: %s', async (value) => {
    for (const path of [`/v1/sessions?metadata.team=${value}`, `${events}?types=shop.${value}`]) {
      await expectRefusal(await stage.request('GET', path), { status: 400, code: 'invalid_request', field: '', message: /UTF-8/ });
    }
  });

  it('is refused where its bytes were sent as they are, which would be read as other characters', async () => {
    const connection = stage.connect();
    connection.send(Buffer.from('GET /v1/sessions?metadata.team=é HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 'utf8'));
    expect(await connection.closed).toMatch(/^HTTP\/1.1 400 /);
    expect(stage.sessions.calls).toEqual([]);
  });
});

describe('the fields of a query', () => {
  it.each(badQueries)('refuses %s as %s at %s', async (path, code, field) => {
    await expectRefusal(await stage.request('GET', path), { status: 400, code, field, message: /^the query's / });
  });

  it.each([
    ['?limit=5', {}, 'invalid_request', '/limit'],
    ['?after=x', {}, 'invalid_cursor', '/after'],
    ['', { 'last-event-id': 'x' }, 'invalid_cursor', '/Last-Event-ID'],
    ['?after=1', { 'last-event-id': '-1' }, 'invalid_cursor', '/Last-Event-ID'],
  ])('refuses to stream events%s with %j before the stream begins', async (query, headers, code, field) => {
    const response = await stage.request('GET', `${events}${query}`, { headers: { accept: 'text/event-stream', ...headers } });
    await expectRefusal(response, { status: 400, code, field, message: /./ });
  });
});

async function expectRefusal(
  response: Response,
  expected: { readonly status: number; readonly code: string; readonly field: string; readonly message: RegExp },
): Promise<void> {
  const error = await errorOf(response);
  expect({ status: response.status, code: error.code, field: error.details?.field, retryable: error.retryable }).toEqual({
    status: expected.status,
    code: expected.code,
    field: expected.field,
    retryable: false,
  });
  expect(error.message).toMatch(expected.message);
  expect(error.message).not.toMatch(/[\r\n]/);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(stage.sessions.calls).toEqual([]);
}
