/**
 * A canary in the place of every secret, and a model and a tool that give back all that they get: it must not be found
 * again anywhere that Brain writes or answers.
 */
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenAiServer, type ModelAnswer, type ModelCall } from '../support/openai-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { SseReader } from '../support/sse-reader.ts';

const API_KEY = 'canary-of-the-api-key-1111';
const SERVER_KEY = 'canary-of-the-server-key-2222';
const CREDENTIAL = 'canary-of-the-credential-3333';
const VAULT_KEY = Buffer.from('canary-of-the-vault-key-44445555').toString('base64');
const CANARIES = [API_KEY, SERVER_KEY, CREDENTIAL, VAULT_KEY];

const TOOLS_FILE = path.resolve(import.meta.dirname, '../support/leaky-tools.mjs');

let model: OpenAiServer;
let server: ServerProcess;
/** All that was answered. */
const answers: string[] = [];
/** What the model was called with. */
const authorizations: (string | undefined)[] = [];

/** Says back what it was sent with, in every way that a provider has. */
function echo({ request, authorization = '' }: ModelCall): ModelAnswer {
  authorizations.push(authorization);
  const key = authorization.replace(/^Bearer /, '');
  const said = JSON.stringify(request.messages.at(-1));
  if (said.includes('refuse')) return { status: 401, message: `Incorrect API key provided: ${key}` };
  if (said.includes('redirect')) return { status: 307, message: key, headers: { location: `http://127.0.0.1:9/?key=${key}`, 'x-echo': key } };
  if (said.includes('leak') && !said.includes('"tool"')) {
    const call = (fails: boolean) => ({ toolCall: { id: `call-${key}`, name: 'leak', arguments: JSON.stringify({ fails, key }) } });
    return { parts: [{ text: `calling with ${key}` }, call(false), call(true)] };
  }
  // In pieces of the server's choosing, and a byte at a time.
  return { parts: [{ text: `your key is ${key}, ` }, { text: `${key.slice(0, 9)}` }, { text: `${key.slice(9)}!` }], bytesPerWrite: 7 };
}

async function request(method: string, route: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${server.url}${route}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  answers.push(JSON.stringify([...response.headers]), text);
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function create(credential?: string): Promise<string> {
  const chosen = { provider: 'openai', name: 'scripted', ...(credential === undefined ? {} : { credential }) };
  const { status, body } = await request('POST', '/v1/sessions', { model: chosen, tools: ['leak'], after_stop: 'idle' });
  expect(status).toBe(201);
  return (body as { session_id: string }).session_id;
}

async function send(id: string, input: string): Promise<{ readonly outcome: string; readonly result?: { readonly text: string }; readonly error?: { readonly message: string } }> {
  const { status, body } = await request('POST', `/v1/sessions/${id}/messages`, { input });
  expect(status).toBe(200);
  return body as Awaited<ReturnType<typeof send>>;
}

/** Every file under the data directory, by its place. */
async function files(): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(server.dataDirectory, { recursive: true, withFileTypes: true });
  const paths = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return new Map(await Promise.all(paths.map(async (file) => [path.relative(server.dataDirectory, file), await readFile(file, 'latin1')] as const)));
}

function leaksIn(texts: Iterable<string>): readonly string[] {
  return [...texts].filter((text) => text.includes('canary') || CANARIES.some((canary) => text.includes(canary)));
}

beforeAll(async () => {
  model = await OpenAiServer.start(echo);
  server = await ServerProcess.start({
    environment: {
      ...model.environment,
      BRAIN_API_KEY: API_KEY,
      OPENAI_API_KEY: SERVER_KEY,
      BRAIN_VAULT_KEY: VAULT_KEY,
      BRAIN_TOOLS_FILE: TOOLS_FILE,
      BRAIN_TELEMETRY_FILE: '',
      BRAIN_LOG_LEVEL: 'debug',
    },
  });
});
afterAll(async () => {
  await server.dispose();
  await model.close();
});

describe('the secrets of a server, and of a session', () => {
  it('are in no file, event, answer or log line, whoever gives them back', async () => {
    expect((await request('PUT', '/v1/credentials/mine', { value: CREDENTIAL })).status).toBe(204);
    const sessions = [await create(), await create('mine')];
    const readers = await Promise.all(
      sessions.map((id) => SseReader.open(`${server.url}/v1/sessions/${id}/events?access_token=${API_KEY}`, {})),
    );

    for (const id of sessions) {
      expect(await send(id, 'hello')).toMatchObject({ result: { text: 'your key is [secret removed], [secret removed]!' } });
      expect(await send(id, 'refuse')).toMatchObject({ outcome: 'failed' });
      expect(await send(id, 'redirect')).toMatchObject({ outcome: 'failed' });
      expect(await send(id, 'leak')).toMatchObject({ outcome: 'ended' });
      for (const route of ['', '/events', '/journal', '/transcript']) await request('GET', `/v1/sessions/${id}${route}`);
    }
    for (const route of ['/v1/sessions', '/v1/credentials', '/v1/credentials/mine', '/nothing', `/v1/sessions/${sessions[0] ?? ''}?x=1`]) await request('GET', route);

    expect(authorizations).toContain(`Bearer ${SERVER_KEY}`);
    expect(authorizations).toContain(`Bearer ${CREDENTIAL}`);
    // A session uses one of the two, never the other.
    expect(new Set(authorizations.slice(0, authorizations.length / 2))).toEqual(new Set([`Bearer ${SERVER_KEY}`]));
    expect(new Set(authorizations.slice(authorizations.length / 2))).toEqual(new Set([`Bearer ${CREDENTIAL}`]));

    const tooled = answers.filter((text) => text.includes('tool_call_ended'));
    expect(tooled.length).toBeGreaterThan(0);
    expect(tooled.every((text) => text.includes('[secret removed]'))).toBe(true);
    expect(leaksIn(answers)).toEqual([]);
    for (const reader of readers) {
      expect(reader.frames.filter(({ event }) => event === 'model_delta').length).toBeGreaterThan(0);
      expect(leaksIn(reader.frames.map((frame) => JSON.stringify(frame)))).toEqual([]);
      const shown = reader.frames.flatMap(({ event, data }) => (event === 'model_delta' ? [(JSON.parse(data) as { text?: string }).text ?? ''] : []));
      expect(leaksIn([shown.join('')])).toEqual([]);
      reader.close();
    }
    expect(leaksIn([server.errors])).toEqual([]);
    expect(leaksIn([await readFile(`/proc/${server.pid}/cmdline`, 'latin1')])).toEqual([]);
    const written = await files();
    expect([...written.keys()].filter((file) => leaksIn([written.get(file) ?? '']).length > 0)).toEqual([]);
    expect([...written.keys()]).toContain(`sessions/${sessions[1] ?? ''}/credentials`);
  });

  it('stay a session\'s own through a kill, and when the tenant\'s credential is deleted', async () => {
    const id = await create('mine');
    expect((await request('DELETE', '/v1/credentials/mine')).status).toBe(204);
    await server.killAndStart();
    authorizations.length = 0;

    expect(await send(id, 'hello')).toMatchObject({ result: { text: 'your key is [secret removed], [secret removed]!' } });

    expect(authorizations).toEqual([`Bearer ${CREDENTIAL}`]);
    expect(await request('POST', '/v1/sessions', { model: { provider: 'openai', name: 'x', credential: 'mine' } })).toMatchObject({
      status: 422,
      body: { error: { code: 'unknown_credential', details: { field: '/model/credential' } } },
    });
  });

  it('do not open under another key: nothing is sent, and nothing is overwritten', async () => {
    await request('PUT', '/v1/credentials/mine', { value: CREDENTIAL });
    const id = await create('mine');
    const before = await files();
    await server.kill();
    await server.start({ BRAIN_VAULT_KEY: Buffer.alloc(32, 1).toString('base64') });
    authorizations.length = 0;

    expect(await send(id, 'hello')).toMatchObject({ outcome: 'failed', error: { message: expect.stringContaining('cannot be read') as string } });
    expect((await request('PUT', '/v1/credentials/mine', { value: 'another' })).status).toBe(500);

    expect(authorizations).toEqual([]);
    expect(server.errors).toContain('does not open');
    const after = await files();
    for (const [file, text] of before) if (file.includes('credentials')) expect(after.get(file)).toBe(text);

    await server.kill();
    await server.start({ BRAIN_VAULT_KEY: VAULT_KEY });
    expect(await send(id, 'hello')).toMatchObject({ outcome: 'ended' });
  });
});

describe('the key file of a server without BRAIN_VAULT_KEY', () => {
  it('is made when a credential is stored, for its owner alone, and refused once others can read it', async () => {
    const own = await ServerProcess.start({});
    try {
      const keyFile = path.join(own.dataDirectory, 'vault.key');
      expect(await readdir(own.dataDirectory)).not.toContain('vault.key');
      expect((await own.api.request('PUT', '/v1/credentials/mine', { value: CREDENTIAL })).status).toBe(204);
      expect((await stat(keyFile)).mode & 0o777).toBe(0o600);

      await own.kill();
      await chmod(keyFile, 0o644);
      await expect(own.start()).rejects.toThrow(`brain cannot start: ${keyFile} can be read by others than its owner; take that away with: chmod 600 ${keyFile}`);

      await chmod(keyFile, 0o600);
      await own.start();
      expect((await own.api.create({ model: { provider: 'demo', name: 'echo', credential: 'mine' } })).status).toBe('idle');
    } finally {
      await own.dispose();
    }
  });
});
