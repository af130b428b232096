/** `/sessions` over real services: what a create takes and shows again, what it refuses, and how sessions are found. */
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Tool } from '../../services/tools/tool.ts';
import { DescribedServer, type Answer } from '../support/described-server.ts';
import { DATA, TENANT } from '../support/living-brain.ts';
import type { OpenApiDocument } from '../support/openapi-document.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';
import { ScriptedTools } from '../support/scripted-tools.ts';

/** Knows the providers `demo` and `openai`, as a server with one key does. */
class TwoProviders extends ScriptedModel {
  override resolve(model: Parameters<ScriptedModel['resolve']>[0]): ReturnType<ScriptedModel['resolve']> {
    return ['demo', 'openai'].includes(model.provider) ? super.resolve(model) : null;
  }
}

class OneTenantsTools extends ScriptedTools {
  override find(tenant: string, name: string): Tool | null {
    return name === 'theirs' ? null : super.find(tenant, name);
  }
}

let document: OpenApiDocument;
let server: DescribedServer;

beforeAll(async () => {
  document = await DescribedServer.document();
});

afterEach(async () => {
  await server.close();
});

async function open(model = new TwoProviders()): Promise<void> {
  server = await DescribedServer.open({ model, document, tools: new OneTenantsTools(['look', 'act', 'theirs']) });
}

interface Shown {
  readonly id: string;
  readonly config: unknown;
  readonly status: string;
  readonly updated_at: string;
  readonly checkpoint: { readonly id: string; readonly offset: number; readonly time: string };
}

function create(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return server.send('POST', '/sessions', { body, headers });
}

async function created(body: unknown = { harness: 'chat', config: { model: 'demo/echo' } }): Promise<Shown> {
  const answer = await create(body);
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  return answer.body as Shown;
}

async function shown(id: string): Promise<Shown> {
  return (await server.send('GET', `/sessions/${id}`)).body as Shown;
}

async function say(id: string, text: string): Promise<void> {
  expect((await server.send('POST', `/sessions/${id}/events`, { body: { type: 'user.message', text } })).status).toBe(202);
  await server.living.atRest(id);
}

const SENT = { harness: 'pi', config: { model: 'openai/gpt-4.1-mini', instructions: 'Answer in one paragraph.', tools: [] } };

describe('a create', () => {
  it('L-012, L-013, L-014, L-016, L-017, L-018, L-019, L-021, L-022, L-023: answers 201 with the session, saved and idle', async () => {
    await open();
    const answer = await create(SENT);

    expect(answer.status).toBe(201);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string;
    const id = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
    expect(answer.body).toEqual({ id, ...SENT, status: 'idle', created_at: time, updated_at: time, checkpoint: { id, offset: 0, time } });
    const session = answer.body as Shown;
    expect(answer.headers.get('location')).toBe(`/sessions/${session.id}`);

    server = await server.restart();
    expect(await shown(session.id)).toEqual(session);
  });

  it('L-002, L-015: does not start the harness', async () => {
    const model = new TwoProviders();
    await open(model);
    const { id } = await created(SENT);

    expect(model.calls.all).toEqual([]);
    expect(await server.living.types(id)).toEqual(['session_created', 'session_ready']);
  });

  it('L-020: shows its config again as it was sent, whatever was left out, at once, later and after a restart', async () => {
    await open();
    const config = fc.record(
      {
        model: fc.constantFrom('demo/echo', 'openai/gpt-4.1-mini', 'openai/org/model:größer'),
        instructions: fc.constantFrom('', 'Be brief.', 'Zeile\n🦀'),
        tools: fc.subarray(['look', 'act']),
        reasoning_effort: fc.constantFrom('minimal', 'low', 'medium', 'high'),
        max_output_tokens: fc.constantFrom(1, 4096),
        temperature: fc.constantFrom(0, 0.5, 2),
      },
      { requiredKeys: ['model'] },
    );
    const sent = new Map<string, unknown>();
    await fc.assert(
      fc.asyncProperty(config, async (given) => {
        const session = await created({ harness: 'chat', config: given });
        sent.set(session.id, given);
        expect(session.config).toEqual(given);
        expect((await shown(session.id)).config).toEqual(given);
      }),
      { numRuns: 60 },
    );

    server = await server.restart();
    const { body } = await server.send('GET', '/sessions?limit=1000');
    const listed = (body as { readonly sessions: readonly Shown[] }).sessions;
    expect(listed.map(({ id, config: again }) => [id, again])).toEqual([...sent].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

  it.each([
    ['no body', undefined, ''],
    ['no harness', { config: { model: 'demo/echo' } }, '/harness'],
    ['no config', { harness: 'chat' }, '/config'],
    ['no model', { harness: 'chat', config: {} }, '/config/model'],
    ['a field that is none', { ...SENT, colour: 'red' }, '/colour'],
    ['a field of config that is none', { harness: 'chat', config: { model: 'demo/echo', top_p: 1 } }, '/config/top_p'],
    ['an after_stop that is none', { ...SENT, after_stop: 'stop' }, '/after_stop'],
  ])('is refused with %s', async (_, body, field) => {
    await open();
    expect(await refused(body)).toEqual([400, 'invalid_request', field]);
  });

  it.each(['gpt-4.1-mini', '', '/', '/echo', 'demo/', ' demo/echo', 'de mo/echo', `demo/${'x'.repeat(257)}`, 'demo/a\u0007b', 7, null, ['demo/echo']])(
    'L-028: is refused with the malformed model %j',
    async (model) => {
      await open();
      expect(await refused({ harness: 'chat', config: { model } })).toEqual([400, 'invalid_request', '/config/model']);
    },
  );

  it('L-029: is refused at once where the provider is not configured', async () => {
    await open();
    expect(await refused({ harness: 'chat', config: { model: 'nobody/m' } })).toEqual([400, 'invalid_request', '/config/model']);
  });

  it.each([['highest'], [''], [3], [null]])('L-030: is refused with the reasoning effort %j', async (reasoning_effort) => {
    await open();
    const config = { model: 'demo/echo', reasoning_effort };
    expect(await refused({ harness: 'chat', config })).toEqual([400, 'invalid_request', '/config/reasoning_effort']);
  });

  it.each([
    ['max_output_tokens', [0, -1, 1.5, '9', null]],
    ['temperature', [-0.1, 2.1, '1', null]],
    ['instructions', [null, 7, ['x']]],
  ])('is refused with a bad %s', async (name, values) => {
    await open();
    for (const value of values) {
      expect(await refused({ harness: 'chat', config: { model: 'demo/echo', [name]: value } })).toEqual([400, 'invalid_request', `/config/${name}`]);
    }
  });

  it('L-031, L-032: is refused with more than 128 tools, and with one named twice', async () => {
    await open();
    const many = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `tool_${at}`);
    expect(await refused(withTools(many(129)))).toEqual([400, 'invalid_request', '/config/tools']);
    // So many may be asked for: what is wrong with them is that there are none of these names.
    expect(await refused(withTools(many(128)))).toEqual([403, 'forbidden', '/config/tools/0']);
    expect(await refused(withTools(['look', 'act', 'look']))).toEqual([400, 'invalid_request', '/config/tools/2']);
  });

  it('L-027: is refused with 422 where the harness is unknown', async () => {
    await open();
    expect(await refused({ ...SENT, harness: 'nobody' })).toEqual([422, 'unknown_harness', '/harness']);
  });

  it('L-033: is refused with 403, word for word alike, for a tool of others and for one that does not exist', async () => {
    await open();
    const theirs = await create(withTools(['look', 'theirs']));
    const nobodys = await create(withTools(['look', 'nobodys']));

    expect([theirs.status, theirs.code]).toEqual([403, 'forbidden']);
    expect(theirs.body).toMatchObject({ error: { details: { field: '/config/tools/1' } } });
    expect(nobodys.body).toEqual(theirs.body);
    expect(nobodys.status).toBe(theirs.status);
  });

  it('is told what is wrong with its body before which of its names is unknown', async () => {
    await open();
    const tools = ['nobodys'];
    expect(await refused({ harness: 'nobody', config: { model: 'demo', tools } })).toEqual([400, 'invalid_request', '/config/model']);
    expect(await refused({ harness: 'nobody', config: { model: 'nobody/m', tools } })).toEqual([400, 'invalid_request', '/config/model']);
    expect(await refused({ harness: 'nobody', config: { model: 'demo/echo', reasoning_effort: 'x', tools } })).toEqual([400, 'invalid_request', '/config/reasoning_effort']);
    expect(await refused({ harness: 'nobody', config: { model: 'demo/echo', tools: ['nobodys', 'nobodys'] } })).toEqual([400, 'invalid_request', '/config/tools/1']);
    expect(await refused({ harness: 'nobody', config: { model: 'demo/echo', tools } })).toEqual([422, 'unknown_harness', '/harness']);
  });

  it('that is refused makes no session', async () => {
    await open();
    for (const body of [{}, { ...SENT, harness: 'nobody' }, withTools(['nobodys']), { harness: 'chat', config: { model: 'nobody/m' } }]) await create(body);
    expect((await server.send('GET', '/sessions')).body).toEqual({ sessions: [] });
  });

  it('takes metadata and after_stop as the other surface does', async () => {
    await open();
    const { id } = await created({ ...SENT, metadata: { team: 'red' }, after_stop: 'idle' });
    const held = await created({ ...SENT, after_stop: 'hold' });

    expect(await shown(id)).toMatchObject({ metadata: { team: 'red' }, after_stop: 'idle' });
    expect(await shown(held.id)).not.toHaveProperty('after_stop');
    expect((await server.living.sessions.get(TENANT, id)).after_stop).toBe('idle');
    expect((await server.living.sessions.get(TENANT, held.id)).after_stop).toBe('hold');
    expect((await server.living.sessions.get(TENANT, (await created()).id)).after_stop).toBe('hold');
  });

  it('sets what the model is called with', async () => {
    const model = new TwoProviders();
    await open(model);
    const settings = { reasoning_effort: 'low', max_output_tokens: 77, temperature: 0.25 };
    for (const harness of ['chat', 'pi']) {
      const { id } = await created({ harness, config: { model: 'openai/m', instructions: 'Be brief.', tools: ['look'], ...settings } });
      await say(id, 'Hello');
      expect(model.calls.all.at(-1)?.request).toMatchObject({ model: { provider: 'openai', name: 'm' }, system: 'Be brief.', parameters: settings });
      expect(model.calls.all.at(-1)?.request.tools.map(({ name }) => name)).toEqual(['look']);
    }
  });

  async function refused(body: unknown): Promise<readonly unknown[]> {
    const answer = await create(body);
    const { error } = answer.body as { readonly error: { readonly details?: { readonly field?: string } } };
    return [answer.status, answer.code, error.details?.field];
  }

  function withTools(tools: readonly string[]): unknown {
    return { harness: 'chat', config: { model: 'demo/echo', tools } };
  }
});

describe('a session', () => {
  it('L-123, L-124: shows its status and its latest checkpoint, the same after a restart and without the checkpoint file', async () => {
    const model = new TwoProviders((_call, index) => (index === 1 ? 'waits' : saying('hello')));
    await open(model);
    const { id, checkpoint: first } = await created();
    await say(id, 'one');
    const { checkpoint } = await shown(id);
    expect(checkpoint.offset).toBe((await server.living.journal(id)).findLast(({ type }) => type === 'turn_ended')?.sequence);
    expect(checkpoint.id).not.toBe(first.id);

    await server.send('POST', `/sessions/${id}/events`, { body: { type: 'user.message', text: 'two' } });
    await model.calls.at(1);
    expect(await shown(id)).toMatchObject({ status: 'running', checkpoint });
    await server.send('POST', `/sessions/${id}/events`, { body: { type: 'user.interrupt' } });
    await server.living.atRest(id);
    const stopped = await shown(id);
    expect(stopped).toMatchObject({ status: 'interrupted', checkpoint });

    for (const file of server.living.disk.files(DATA).filter((name) => name.endsWith('/checkpoint'))) server.living.disk.damage(file, () => new Uint8Array());
    server = await server.restart();
    expect(await shown(id)).toEqual(stopped);
  });

  it('L-001: of the other surface reads in the words of this one, and the other way round', async () => {
    await open();
    const v1 = await server.send('POST', '/v1/sessions', {
      body: { agentloop: { name: 'chat', configuration: { temperature: 0.5 } }, model: { provider: 'openai', name: 'a/b' }, system: 'Be brief.', tools: ['act'], metadata: { a: 'b' } },
    });
    const { session_id: id } = v1.body as { readonly session_id: string };
    expect(await shown(id)).toMatchObject({
      id,
      harness: 'chat',
      config: { model: 'openai/a/b', instructions: 'Be brief.', tools: ['act'], temperature: 0.5 },
      status: 'idle',
      after_stop: 'idle',
      metadata: { a: 'b' },
      checkpoint: { offset: 0 },
    });
    const bare = await server.create();
    expect((await shown(bare)).config).toEqual({ model: 'demo/echo', tools: [] });

    const { id: other } = await created({ harness: 'chat', config: { model: 'openai/m', instructions: '', temperature: 1 }, metadata: { c: 'd' } });
    expect((await server.send('GET', `/v1/sessions/${other}`)).body).toMatchObject({
      session_id: other,
      status: 'idle',
      agentloop: { name: 'chat', configuration: { temperature: 1 } },
      model: { provider: 'openai', name: 'm' },
      after_stop: 'hold',
      metadata: { c: 'd' },
    });
  });

  it('L-011: reads idle, running, interrupted, failed or closed, and in no other way', async () => {
    const model = new TwoProviders((call) => {
      const said = JSON.stringify(call.request.messages.at(-1));
      return said.includes('wait') ? 'waits' : said.includes('fail') ? { outcome: 'failed', code: 'model_error', message: 'no' } : saying('hello');
    });
    await open(model);
    const ids = new Map<string, string>();
    for (const [status, text] of [['idle', 'hello'], ['running', 'wait'], ['failed', 'fail'], ['interrupted', 'wait'], ['closed', 'hello']] as const) {
      const { id } = await created();
      ids.set(status, id);
      await say(id, text);
    }
    await server.send('POST', `/sessions/${ids.get('interrupted')}/events`, { body: { type: 'user.interrupt' } });
    await server.send('POST', `/sessions/${ids.get('closed')}/close`);
    await server.living.atRest(ids.get('interrupted') ?? '');

    for (const [status, id] of ids) {
      expect([status, (await shown(id)).status]).toEqual([status, status]);
      const { body } = await server.send('GET', `/sessions?status=${status}`);
      expect((body as { readonly sessions: readonly Shown[] }).sessions.map((session) => session.id)).toEqual([id]);
    }
    expect((await server.send('GET', '/sessions?status=ended')).code).toBe('invalid_request');
  });
});

describe('a list', () => {
  it('L-117, L-119, L-120, L-121: is sorted by id, in pages after the last id of the one before', async () => {
    await open();
    const ids: string[] = [];
    for (let made = 0; made < 7; made += 1) ids.push(made % 2 === 0 ? (await created()).id : await server.create());
    const seen: string[] = [];
    for (;;) {
      const after = seen.at(-1);
      const { body } = await server.send('GET', `/sessions?limit=3${after === undefined ? '' : `&after=${after}`}`);
      const { sessions, ...nothing } = body as { readonly sessions: readonly Shown[] };
      expect(nothing).toEqual({});
      if (sessions.length === 0) break;
      seen.push(...sessions.map(({ id }) => id));
    }
    expect(seen).toEqual(ids.toSorted());
    for (const limit of ['0', '1001', '-1', '1.5', 'x', '']) expect([limit, (await server.send('GET', `/sessions?limit=${limit}`)).code]).toEqual([limit, 'invalid_request']);
    for (const limit of ['1', '1000']) expect((await server.send('GET', `/sessions?limit=${limit}`)).status).toBe(200);
    for (const after of ['', 'x', '3.0']) expect([after, (await server.send('GET', `/sessions?after=${after}`)).code]).toEqual([after, 'invalid_cursor']);
    const { body } = await server.send('GET', '/sessions?after=x');
    expect(body).toMatchObject({ error: { message: "the query's after must be the id of a session, the last one of the page before" } });
  });

  it('L-121: has a hundred sessions where no limit is given', async () => {
    await open();
    for (let made = 0; made < 101; made += 1) await server.create();
    const { body } = await server.send('GET', '/sessions');
    expect((body as { readonly sessions: readonly Shown[] }).sessions).toHaveLength(100);
  });

  it('is filtered by metadata, which is changed as on the other surface', async () => {
    await open();
    const { id } = await created({ ...SENT, metadata: { team: 'red', draft: 'yes' } });
    await created(SENT);
    const changed = await server.send('PATCH', `/sessions/${id}`, { body: { metadata: { team: 'blue', draft: null } } });
    expect([changed.status, changed.body]).toMatchObject([200, { id, metadata: { team: 'blue' } }]);

    const found = async (query: string): Promise<readonly string[]> => {
      const { body } = await server.send('GET', `/sessions?${query}`);
      return (body as { readonly sessions: readonly Shown[] }).sessions.map((session) => session.id);
    };
    expect(await found('metadata.team=blue')).toEqual([id]);
    expect(await found('metadata.team=red')).toEqual([]);
    await server.send('PATCH', `/sessions/${id}`, { body: { metadata: { team: null } } });
    expect(await shown(id)).not.toHaveProperty('metadata');
    expect((await server.send('PATCH', `/sessions/${id}`, { body: {} })).code).toBe('invalid_request');
  });

  it('shows a session whose journal is damaged as damaged, with the others', async () => {
    await open();
    const { id } = await created();
    const { id: sound } = await created();
    const [file = ''] = server.living.disk.files(DATA).filter((name) => name.includes(id) && name.includes('journal'));
    server.living.disk.damage(file, (bytes) => bytes.map((byte, index) => (index === 200 ? byte ^ 1 : byte)));
    server = await server.restart();

    expect((await server.send('GET', '/sessions')).body).toMatchObject({ sessions: [{ id, damaged: true }, { id: sound, status: 'idle' }] });
    expect((await server.send('GET', `/sessions/${id}`)).code).toBe('journal_corrupt');
  });
});

describe('a session that is not there', () => {
  it('L-125, L-126: is 404 on every route, whatever is right or wrong about the request', async () => {
    await open();
    const missing = `/sessions/${'0'.repeat(32)}`;
    const bodies = [undefined, {}, { type: 'user.message', text: 'x', key: 'k' }, { type: 'user.interrupt' }, { metadata: {} }, '{', [1]];
    for (const [method, path] of [
      ['GET', missing],
      ['PATCH', missing],
      ['POST', `${missing}/events`],
      ['GET', `${missing}/events`],
      ['GET', `${missing}/events?after=x`],
      ['POST', `${missing}/resume`],
      ['POST', `${missing}/close`],
      ['GET', `${missing}/queue`],
      ['DELETE', `${missing}/queue/3.0`],
      ['DELETE', `${missing}/queue/x`],
      ['GET', '/sessions/7'],
    ] as const) {
      for (const body of method === 'GET' ? [undefined] : bodies) {
        for (const headers of [{}, { 'idempotency-key': 'k' }, { 'idempotency-key': '' }]) {
          const answer = await server.send(method, path, body === undefined ? { headers } : { body, headers });
          expect([method, path, body, answer.status, answer.code]).toEqual([method, path, body, 404, 'not_found']);
        }
      }
    }
  });
});
