import { Validator } from '@seriousme/openapi-schema-validator';
import { createParser } from 'eventsource-parser';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../http/app.ts';
import { ERROR_RULES } from '../../http/errors.ts';
import { publicEventOf } from '../../machines/projections/public-events.ts';
import type { SessionRecord } from '../../machines/records.ts';
import { systemClock } from '../../services/system.ts';
import { CALLBACK_TOKEN, FakeCallbackService } from '../support/fake-callback-service.ts';
import { FakeCredentialService } from '../support/fake-credential-service.ts';
import { FakeEnvironmentService } from '../support/fake-environment-service.ts';
import { NO_PAGE } from '../support/fake-page.ts';
import { FakeSessionService } from '../support/fake-session-service.ts';
import { FakeTokenService } from '../support/fake-token-service.ts';
import { LivingServer, type Sent } from '../support/living-server.ts';
import { OpenApiDocument, type JsonSchema, type Route } from '../support/openapi-document.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';
import { testHosts } from '../support/test-hosts.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

let server: LivingServer;
let document: OpenApiDocument;

beforeAll(async () => {
  server = await LivingServer.open();
  document = await OpenApiDocument.of(server);
});

afterAll(async () => {
  await server.close();
});

/** Sends a request that the document describes, and holds the answer against it. */
async function answered(method: string, template: string, sent: Sent & { readonly at?: string } = {}): Promise<Response> {
  const route = document.route(method, template.split('?')[0] ?? '');
  const response = await server.send(method, sent.at ?? template, sent);
  expect(await document.answerProblem(route, response.clone()), `${method} ${sent.at ?? template}`).toBeNull();
  return response;
}

describe('the document', () => {
  it('is a valid one of OpenAPI 3.1', async () => {
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document.document)) as Record<string, unknown>)).toEqual({ valid: true });
  });

  it('is there without a token, and the front page leads to it', async () => {
    const guarded = await LivingServer.open({ apiKey: 'key' });
    expect((await guarded.send('GET', '/openapi.json')).status).toBe(200);
    expect(await (await guarded.send('GET', '/')).text()).toContain('href="/openapi.json"');
    await guarded.close();
  });

  it('has every route that the application has, and no other', () => {
    const { middleware } = createApp({
      sessions: new FakeSessionService(),
      credentials: new FakeCredentialService(),
      environments: new FakeEnvironmentService(),
      callbacks: new FakeCallbackService(),
      hosts: testHosts({ apiKey: undefined, tokens: new FakeTokenService(), clock: systemClock }),
      tokens: new FakeTokenService(),
      page: NO_PAGE,
      clock: systemClock,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      options: { apiKey: undefined, bodyBytesMax: 1, corsOrigins: [] },
      isDraining: () => false,
    });
    const routed = middleware.flatMap((layer) => routesOf(layer)).filter((route) => !route.startsWith('HEAD '));
    const described = document.routes.map(({ method, path: template }) => `${method} ${template.replaceAll(/\{(\w+)\}/g, ':$1')}`);

    expect(routed.length).toBeGreaterThan(15);
    expect(described.toSorted()).toEqual(routed.toSorted());
  });

  it('has each method of a path, and every other is answered with 405 and these', async () => {
    for (const [template, methods] of Object.entries(document.document.paths)) {
      const known = Object.keys(methods).map((method) => method.toUpperCase());
      for (const method of METHODS.filter((one) => !known.includes(one))) {
        const response = await server.send(method, filled(template));
        expect([template, method, response.status]).toEqual([template, method, 405]);
        const allowed = (response.headers.get('allow') ?? '').split(', ');
        expect(allowed.toSorted()).toEqual([...known, ...(known.includes('GET') ? ['HEAD'] : [])].toSorted());
      }
    }
  });

  it('says of each route whether it needs a token', async () => {
    const guarded = await LivingServer.open({ apiKey: 'key' });
    for (const { method, path: template, operation } of document.routes) {
      const response = await guarded.send(method, filled(template));
      expect([template, method, response.status === 401]).toEqual([template, method, operation.security.length > 0]);
    }
    await guarded.close();
  });

  it('has examples of every body that are what their schemas say', () => {
    for (const { method, path: template, operation } of document.routes) {
      for (const { schema, examples = {} } of Object.values(operation.requestBody?.content ?? {})) {
        expect(Object.keys(examples)).not.toEqual([]);
        for (const { value } of Object.values(examples)) expect([method, template, document.problem(schema, value)]).toEqual([method, template, null]);
      }
      for (const { content = {} } of Object.values(operation.responses)) {
        for (const { schema, example } of Object.values(content)) {
          if (example !== undefined) expect([method, template, document.problem(schema, example)]).toEqual([method, template, null]);
        }
      }
    }
  });

  it('says what an environment is asked, request by request', () => {
    const { schemas } = document.document.components;
    const request = JSON.stringify(schemas['OperationRequest']);
    for (const type of ['setup', 'invoke', 'cancel', 'detach', 'teardown']) expect(request).toContain(`"const":"${type}"`);
    expect(JSON.stringify(schemas['EnvironmentOperation'])).toContain('#/components/schemas/OperationRequest');
  });

  it('has an example of every error, which is what its schema says', () => {
    for (const route of document.routes) {
      for (const [code, status] of document.refusals(route)) {
        const schema = route.operation.responses[String(status)]?.content?.['application/json']?.schema ?? {};
        expect([code, document.problem(schema, document.document.components.examples[code]?.value)]).toEqual([code, null]);
        expect(document.problem(schema, { error: { code: 'other', message: '', retryable: false } })).not.toBeNull();
      }
    }
  });

  it('S-157: has no field in a create for a secret, an address or an id, and no such field is taken', async () => {
    const create = JSON.stringify(document.document.components.schemas['CreateSession']);
    expect(create).not.toMatch(/"(\w*_)?(key|secret|token|password|url|host|id|value)":/);

    for (const [field, body] of [
      ['/session_id', { session_id: '0'.repeat(32) }],
      ['/model/api_key', { model: { provider: 'demo', name: 'echo', api_key: 'sk-1' } }],
      ['/model/base_url', { model: { provider: 'demo', name: 'echo', base_url: 'http://x' } }],
      ['/host', { host: 'h' }],
    ] as const) {
      const response = await answered('POST', '/v1/sessions', { body });
      expect([response.status, await response.json()]).toMatchObject([400, { error: { details: { field } } }]);
    }
  });
});

describe('the answers of the server are what the document says', () => {
  it('on the whole way of a session, for every route and every example', async () => {
    const visited = new Set<string>();
    const visit = async (method: string, template: string, sent: Sent & { readonly at?: string } = {}): Promise<Response> => {
      visited.add(`${method} ${template}`);
      return answered(method, template, sent);
    };
    for (const open of ['/health/live', '/health/ready', '/', '/openapi.json', '/inspector']) await visit('GET', open);
    expect((await visit('GET', '/inspector/assets/{file}', { at: '/inspector/assets/page-1.js' })).status).toBe(200);

    let id = '';
    for (const { value } of examplesOf('POST', '/v1/sessions')) {
      const response = await visit('POST', '/v1/sessions', { body: value });
      expect(response.status).toBe(201);
      id = ((await response.json()) as { session_id: string }).session_id;
    }
    const session = '/v1/sessions/{session_id}';
    const at = (suffix = ''): string => `/v1/sessions/${id}${suffix}`;
    for (const { value } of examplesOf('POST', `${session}/messages`)) {
      expect((await visit('POST', `${session}/messages`, { at: at('/messages'), body: value })).status).toBe(200);
      const prefer = { prefer: 'respond-async' };
      expect((await visit('POST', `${session}/messages`, { at: at('/messages'), body: value, headers: prefer })).status).toBe(202);
      await server.living.atRest(id);
    }
    for (const { value } of examplesOf('PATCH', session)) await visit('PATCH', session, { at: at(), body: value });
    await visit('POST', `${session}/cancel`, { at: at('/cancel') });
    await visit('POST', `${session}/resume`, { at: at('/resume'), body: {} });
    await visit('GET', '/v1/sessions', { at: '/v1/sessions?limit=2&status=idle&metadata.team=red' });
    await visit('GET', session, { at: at() });
    for (const history of ['events', 'journal', 'transcript']) await visit('GET', `${session}/${history}`, { at: at(`/${history}`) });
    await visit('POST', `${session}/end`, { at: at('/end') });
    expect((await visit('GET', `${session}/events`, { at: at('/events?after=9007'), headers: { accept: 'text/event-stream' } })).status).toBe(400);
    const last = server.living.brain.sessions.get('local', id).then(({ last_sequence }) => last_sequence);
    const over = await visit('GET', `${session}/events`, { at: at(`/events?after=${await last}`), headers: { accept: 'text/event-stream' } });
    expect(over.status).toBe(204);
    await visit('DELETE', session, { at: at() });

    for (const { value } of examplesOf('PUT', '/v1/credentials/{name}')) {
      await visit('PUT', '/v1/credentials/{name}', { at: '/v1/credentials/openai', body: value });
    }
    await visit('GET', '/v1/credentials');
    await visit('DELETE', '/v1/credentials/{name}', { at: '/v1/credentials/openai' });

    const [environment, weather] = ['/v1/environments/{name}', { at: '/v1/environments/weather' }];
    for (const { value } of examplesOf('PUT', environment)) {
      expect((await visit('PUT', environment, { ...weather, body: value })).status).toBe(200);
      expect((await visit('GET', environment, weather)).status).toBe(200);
      expect((await visit('GET', '/v1/environments')).status).toBe(200);
    }
    expect((await visit('DELETE', environment, weather)).status).toBe(204);

    await visitLifecycle(visit);
    for (const method of ['result', 'emit', 'progress']) {
      const template = `/v1/callbacks/{session_id}/{sequence}/${method}`;
      for (const { value } of examplesOf('POST', template)) {
        const headers = { authorization: `Bearer ${CALLBACK_TOKEN}` };
        expect((await visit('POST', template, { at: `/v1/callbacks/${id}/4/${method}`, body: value, headers })).status).toBe(204);
      }
    }
    await visitHosts(visit);
    expect([...visited].toSorted()).toEqual(document.routes.map(({ method, path: template }) => `${method} ${template}`).toSorted());
  });

  /** A host for which there is nothing to do. */
  async function visitHosts(visit: typeof answered): Promise<void> {
    for (const { value } of examplesOf('POST', '/v1/hosts')) {
      const { name } = value as { readonly name: string };
      expect((await visit('POST', '/v1/hosts', { body: value })).status).toBe(201);
      const again = await visit('POST', '/v1/hosts', { body: value });
      expect(again.status).toBe(200);
      const headers = { authorization: `Bearer ${((await again.json()) as { readonly token: string }).token}` };
      for (const method of ['results', 'emit', 'progress']) {
        const template = `/v1/hosts/{name}/${method}`;
        for (const { value: body } of examplesOf('POST', template)) {
          expect((await visit('POST', template, { at: `/v1/hosts/${name}/${method}`, body, headers })).status).toBe(409);
        }
      }
      expect((await visit('POST', '/v1/hosts', { body: { name, incarnation: 'next' } })).status).toBe(201);
      expect((await visit('GET', '/v1/hosts/{name}/commands', { at: `/v1/hosts/${name}/commands`, headers })).status).toBe(409);
      expect((await visit('POST', '/v1/hosts', { body: value })).status).toBe(409);
    }
  }

  /** The same way on the other surface. */
  async function visitLifecycle(visit: typeof answered): Promise<void> {
    let id = '';
    for (const { value } of examplesOf('POST', '/sessions')) {
      const response = await visit('POST', '/sessions', { body: { ...(value as object), harness: 'chat' } });
      // The tools of the example are not the ones that this server has.
      expect([201, 403]).toContain(response.status);
      if (response.status === 201) ({ id } = (await response.json()) as { id: string });
    }
    const session = '/sessions/{session_id}';
    const at = (suffix = ''): string => `/sessions/${id}${suffix}`;
    for (const { value } of examplesOf('POST', `${session}/events`)) {
      expect((await visit('POST', `${session}/events`, { at: at('/events'), body: value })).status).toBe(202);
    }
    await server.living.atRest(id);
    for (const { value } of examplesOf('PATCH', session)) {
      expect((await visit('PATCH', session, { at: at(), body: value })).status).toBe(200);
    }
    expect((await visit('POST', `${session}/resume`, { at: at('/resume') })).status).toBe(200);
    expect((await visit('GET', '/sessions', { at: '/sessions?limit=2&status=idle&metadata.team=blue' })).status).toBe(200);
    expect((await visit('GET', session, { at: at() })).status).toBe(200);
    expect((await visit('GET', `${session}/events`, { at: at('/events') })).status).toBe(200);
    expect((await visit('GET', `${session}/queue`, { at: at('/queue') })).status).toBe(200);
    const input = '/queue/{input_id}';
    expect((await visit('DELETE', `${session}${input}`, { at: at('/queue/3.0') })).status).toBe(409);
    expect((await visit('POST', `${session}/close`, { at: at('/close') })).status).toBe(202);
    const headers = { accept: 'text/event-stream' };
    expect((await visit('GET', `${session}/events`, { at: at('/events?after=9007.0'), headers })).status).toBe(400);
    const { last_sequence: last } = await server.living.sessions.get('local', id);
    expect((await visit('GET', `${session}/events`, { at: at(`/events?after=${last}`), headers })).status).toBe(204);
  }

  it('in a stream too: recorded events, live ones, and the example', async () => {
    const model = new ScriptedModel(() => 'waits');
    const streaming = await LivingServer.open({ model });
    const id = await streaming.create();
    for (const [stream, live, end] of [
      ['/v1/sessions/{session_id}/events', 'model_delta', '"type":"turn_ended"'],
      ['/v1/sessions/{session_id}/journal', 'model_delta', '"type":"turn_ended"'],
      ['/sessions/{session_id}/events', 'assistant.delta', '"status":"idle"'],
    ] as const) {
      const route = document.route('GET', stream);
      const media = route.operation.responses['200']?.content?.['text/event-stream'];
      const schemas = media?.['x-event-data'];
      if (schemas === undefined) throw new Error(`no ${stream} is described`);
      const opened = await streaming.send('GET', stream.replace('{session_id}', id), { headers: { accept: 'text/event-stream' } });
      expect(opened.headers.get('content-type')).toBe('text/event-stream');
      const before = model.calls.all.length;
      await streaming.send('POST', `/v1/sessions/${id}/messages`, { body: { input: 'Hello' }, headers: { prefer: 'respond-async' } });
      const call = await model.calls.at(before);
      call.say({ text: 'Hel' });
      call.say({ reasoning: 'hm' });
      const frames: Frame[] = [];
      for await (const frame of framesOf(opened)) {
        frames.push(frame);
        if (frame.event === live) call.answer(saying('Hello'));
        if (frame.data.includes(end) && frames.some(({ event }) => event === live)) break;
      }

      expect(frames.length).toBeGreaterThan(4);
      const shown: Frame[] = [];
      createParser({ onEvent: (frame) => shown.push({ event: frame.event, id: frame.id, data: frame.data }) }).feed(String(media?.example));
      expect(shown.length).toBeGreaterThan(0);
      for (const frame of [...frames, ...shown]) {
        const data: unknown = JSON.parse(frame.data);
        const problem = frame.id === undefined ? document.problem(schemas.live, frame.event === 'model_delta' ? { type: frame.event, data } : data) : document.problem(schemas.recorded, data);
        expect([frame, problem]).toEqual([frame, null]);
      }
    }
    await streaming.close();
  });

  it('in pages and streams of the events of any one type that is described, recorded or live', async () => {
    const { Event: event, LiveEvent: live } = document.document.components.schemas;
    const types = [...typesIn(event), ...typesIn(live)];
    expect(types).toEqual(expect.arrayContaining(['turn_started', 'transcript_replaced', 'model_delta', 'telemetry']));
    const id = await server.create();
    for (const type of types) {
      const response = await answered('GET', '/v1/sessions/{session_id}/events', { at: `/v1/sessions/${id}/events?types=${type}` });
      expect([type, response.status]).toEqual([type, 200]);
    }
  });

  it('of every record and event of the kept journals', () => {
    const { Record: record, Event: event } = document.document.components.schemas;
    const folder = path.join(import.meta.dirname, '../replay/fixtures');
    for (const file of readdirSync(folder)) {
      const lines = readFileSync(path.join(folder, file), 'utf8').trimEnd().split('\n').slice(0, -1);
      for (const line of lines) {
        const kept = JSON.parse(line) as SessionRecord;
        expect([file, line, document.problem(record ?? {}, kept)]).toEqual([file, line, null]);
        const shown = publicEventOf(kept);
        if (shown !== null) expect([file, line, document.problem(event ?? {}, shown)]).toEqual([file, line, null]);
      }
    }
  });
});

describe('the codes of errors', () => {
  it('are all said of some route, but for those that no route gives', () => {
    const said = new Set(document.routes.flatMap((route) => document.refusals(route).map(([code]) => code)));
    const unsaid = Object.keys(ERROR_RULES).filter((code) => !said.has(code));

    // A path without the method is no route.
    expect(unsaid.toSorted()).toEqual(['method_not_allowed']);
  });

  it('stand under the status that they are answered with', () => {
    const rules: Readonly<Record<string, { readonly status: number }>> = ERROR_RULES;
    for (const route of document.routes) {
      for (const [code, status] of document.refusals(route)) expect([code, status]).toEqual([code, rules[code]?.status]);
    }
  });
});

/** The types that a schema of alternatives names. */
function typesIn(schema: JsonSchema = {}): readonly string[] {
  const { anyOf = [] } = schema as { readonly anyOf?: readonly { readonly properties: { readonly type: { readonly const?: string } } }[] };
  return anyOf.flatMap(({ properties }) => properties.type.const ?? []);
}

interface Frame {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

async function* framesOf(response: Response): AsyncGenerator<Frame> {
  const frames: Frame[] = [];
  const parser = createParser({ onEvent: ({ event, id, data }) => frames.push({ event, id, data }) });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
    yield* frames.splice(0);
  }
}

function examplesOf(method: string, template: string): readonly { readonly value: unknown }[] {
  return Object.values(document.route(method, template).operation.requestBody?.content['application/json']?.examples ?? {});
}

/** A path that leads to the route, though not to anything that is there. */
function filled(template: Route['path']): string {
  return template.replace('{session_id}', '0'.repeat(32)).replace('{name}', 'nobody').replace('{file}', 'nothing.js').replace('{input_id}', '3.0');
}

function routesOf(layer: object): readonly string[] {
  if (!('router' in layer)) return [];
  const { stack } = layer.router as { readonly stack: readonly { readonly methods: readonly string[]; readonly path: string }[] };
  return stack.flatMap(({ methods, path: pattern }) => methods.map((method) => `${method} ${pattern}`));
}
