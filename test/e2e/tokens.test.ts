/** Tokens as an operator has them: made and revoked by commands, beside the built server and without it. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { failedStart } from '../support/failed-start.ts';
import { ServerProcess } from '../support/server-process.ts';
import { SseReader } from '../support/sse-reader.ts';
import { createToken, runTokenCommand } from '../support/token-command.ts';

const API_KEY = 'canary-of-the-api-key-1111';
// What is promised, and some time for a machine that is busy with other tests.
const CLOSED_WITHIN_MS = 5_000;
const TOKEN = /^brain_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/;

let folder: string;
let environment: Record<string, string>;
let server: ServerProcess | null;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'brain-tokens-'));
  environment = { BRAIN_DATA_DIR: path.join(folder, 'data') };
  server = null;
});

afterEach(async () => {
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function start(more: Readonly<Record<string, string>> = { BRAIN_API_KEY: API_KEY }): Promise<ServerProcess> {
  server = await ServerProcess.start({ dataDirectory: path.join(folder, 'data'), environment: { BRAIN_LOG_LEVEL: 'debug', ...more } });
  return server;
}

function ask(token: string, method: string, route: string, body?: unknown): Promise<Response> {
  return fetch(`${server?.url ?? ''}${route}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function created(token: string): Promise<string> {
  const response = await ask(token, 'POST', '/v1/sessions', {});
  expect(response.status).toBe(201);
  return ((await response.json()) as { readonly session_id: string }).session_id;
}

function idOf(token: string): string {
  return token.split('_')[1] ?? '';
}

function open(token: string, route: string): Promise<SseReader> {
  return SseReader.open(`${server?.url ?? ''}${route}?access_token=${token}`);
}

/** How long it took until a stream was closed from the other side. */
async function untilEnded(reader: SseReader): Promise<number> {
  const startedAt = performance.now();
  await Promise.race([reader.ended, new Promise((resolve) => setTimeout(resolve, 2 * CLOSED_WITHIN_MS).unref())]);
  return performance.now() - startedAt;
}

describe('a token', () => {
  it('is printed alone, and counts at once on a server that runs already and after its restart', async () => {
    await start();
    const { code, output, errors } = await runTokenCommand(environment, 'create', '--tenant', 'acme', '--scope', 'manage');

    expect([code, output]).toEqual([0, expect.stringMatching(/^\S+\n$/)]);
    const token = output.trimEnd();
    expect(token).toMatch(TOKEN);
    expect(errors).not.toContain(token);
    const id = await created(token);
    await server?.killAndStart();
    expect((await ask(token, 'GET', `/v1/sessions/${id}`)).status).toBe(200);
    expect((await ask(API_KEY, 'GET', `/v1/sessions/${id}`)).status).toBe(404);
  });

  it('that is revoked is refused at once, and its streams on both surfaces are closed within five seconds while others go on', async () => {
    await start();
    const token = await createToken(environment, '--tenant', 'acme', '--scope', 'manage');
    const reading = await createToken(environment, '--tenant', 'acme', '--scope', 'read');
    const id = await created(token);
    const turn = ask(token, 'POST', `/v1/sessions/${id}/messages`, { input: 'wait 8 seconds' });
    const routes = [`/v1/sessions/${id}/events`, `/sessions/${id}/events`];
    const revoked = await Promise.all(routes.map((route) => open(token, route)));
    const others = await Promise.all(routes.map((route) => open(reading, route)));
    for (const reader of [...revoked, ...others]) await reader.next(({ id: cursor }) => cursor !== undefined, 'a recorded event');

    expect(await runTokenCommand(environment, 'revoke', idOf(token))).toMatchObject({ code: 0 });

    const waits = revoked.map(untilEnded);
    expect((await ask(token, 'GET', `/v1/sessions/${id}`)).status).toBe(401);
    for (const wait of waits) expect(await wait).toBeLessThan(CLOSED_WITHIN_MS);
    // A request that is under way is still answered, and what it did is seen by those who may look.
    expect((await turn).status).toBe(200);
    await others[0]?.nextOf('turn_ended');
    await others[1]?.next(({ data }) => data.includes('"status":"idle"'), 'the end of the turn');
    for (const reader of others) reader.close();
  });

  it('that expires is refused from then on, and its streams are closed within five seconds', async () => {
    await start();
    const id = await created(await createToken(environment, '--tenant', 'acme', '--scope', 'manage'));
    const token = await createToken(environment, '--tenant', 'acme', '--scope', 'read', '--session', id, '--expires', '4s');
    const expiresBy = performance.now() + 4_000;
    const reader = await open(token, `/v1/sessions/${id}/events`);
    expect(reader.status).toBe(200);

    await reader.ended;
    expect(performance.now()).toBeLessThan(expiresBy + CLOSED_WITHIN_MS);
    expect((await ask(token, 'GET', `/v1/sessions/${id}`)).status).toBe(401);
    expect((await runTokenCommand(environment, 'list')).output).toMatch(new RegExp(`^${idOf(token)} .*\\(expired\\)$`, 'm'));
  });

  it('is nowhere to be found, neither in a file nor in the log nor in an answer', async () => {
    await start();
    const token = await createToken(environment, '--tenant', 'acme', '--scope', 'manage');
    const id = await created(token);
    const reader = await open(token, `/v1/sessions/${id}/events`);
    reader.close();
    const answers = await Promise.all([
      ask(token, 'GET', `/v1/sessions/${token}`),
      ask(`${token.slice(0, -1)}!`, 'GET', '/v1/sessions'),
      ask(token, 'GET', `/v1/sessions?after=${token}`),
      ask(token, 'GET', `/v1/sessions/${id}/journal`),
    ]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    await server?.stop();
    const list = await runTokenCommand(environment, 'list');

    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    const contents = await Promise.all(files.map((file) => readFile(file, 'latin1')));
    const secret = token.slice(-43);
    for (const text of [...texts, ...contents, list.output, list.errors, server?.errors ?? '']) expect(text).not.toContain(secret);
    expect(server?.errors).toContain('tokens_read');
    // Nor are hashes shown.
    expect(list.output).not.toMatch(/[0-9a-f]{64}/);
  });

  it('stands for itself on a server without a key, where everybody else is local', async () => {
    const token = await createToken(environment, '--tenant', 'acme', '--scope', 'read');
    await start({});
    const sessions = await fetch(`${server?.url ?? ''}/v1/sessions`, { method: 'POST' });
    expect(sessions.status).toBe(201);
    expect((await ask('anything', 'POST', '/v1/sessions')).status).toBe(201);
    expect((await ask(token, 'POST', '/v1/sessions')).status).toBe(403);
    expect(await (await ask(token, 'GET', '/v1/sessions')).json()).toEqual({ sessions: [], next_cursor: null });

    await runTokenCommand(environment, 'revoke', idOf(token));
    expect((await ask(token, 'GET', '/v1/sessions')).status).toBe(401);
  });
});

describe('a tool that is for some tenants', () => {
  it('is offered to these, and to all others is like one that does not exist (L-033)', async () => {
    const file = path.join(folder, 'tools.mjs');
    await writeFile(file, `export default [{ name: 'theirs', description: 'd', input_schema: { type: 'object' }, tenants: ['acme'], run: () => 'done' }];`);
    await start({ BRAIN_API_KEY: API_KEY, BRAIN_TOOLS_FILE: file });
    const acme = await createToken(environment, '--tenant', 'acme', '--scope', 'manage');
    const on = {
      '/v1/sessions': (tool: string) => ({ tools: [tool] }),
      '/sessions': (tool: string) => ({ harness: 'chat', config: { model: 'demo/echo', tools: [tool] } }),
    };
    for (const [route, body] of Object.entries(on)) {
      expect((await ask(acme, 'POST', route, body('theirs'))).status).toBe(201);
      const [hidden, missing] = await Promise.all(['theirs', 'nobody'].map((tool) => ask(API_KEY, 'POST', route, body(tool))));
      const expected = [route === '/sessions' ? 403 : 422, (await missing?.text())?.replaceAll('nobody', 'theirs')];
      expect([hidden?.status, await hidden?.text()]).toEqual(expected);
    }
  });
});

describe('the commands', () => {
  it('need no server, take any number at once, and lose nothing', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 12 }, (_, index) => createToken(environment, '--tenant', `t${index}`, '--scope', 'send', '--expires', '2999-01-01T00:00:00Z')),
    );
    const revoked = tokens.slice(0, 4);
    await Promise.all(revoked.map((token) => runTokenCommand(environment, 'revoke', idOf(token))));

    const { output } = await runTokenCommand(environment, 'list');
    const [head, ...rows] = output.trimEnd().split('\n').map((line) => line.split(/ {2,}/));
    expect(head).toEqual(['id', 'tenant', 'scope', 'session', 'created', 'expires']);
    expect(rows.map(([id]) => id).toSorted()).toEqual(tokens.slice(4).map(idOf).toSorted());
    for (const row of rows) expect(row).toEqual([expect.any(String), expect.stringMatching(/^t\d+$/), 'send', '-', expect.stringMatching(/Z$/), '2999-01-01T00:00:00Z']);
    expect((await stat(path.join(folder, 'data/tokens.json'))).mode & 0o777).toBe(0o600);
    // The directory was made by the first of them, and is a server's all the same.
    await start();
    expect((await ask(tokens[5] ?? '', 'GET', '/v1/sessions')).status).toBe(200);
  });

  it.each([
    [['create', '--tenant', 'acme', '--scope', 'all'], /--scope/],
    [['create', '--tenant', 'a b', '--scope', 'read'], /tenant/],
    [['create', '--tenant', 'a', '--scope', 'read', '--session', 'x'], /session/],
    [['create', '--tenant', 'a', '--scope', 'read', '--expires', '2001-01-01T00:00:00Z'], /--expires.*passed/],
    [['revoke', 'feedfeedfeed'], /feedfeedfeed/],
    [['rename'], /rename/],
  ])('%j says in one line what is wrong, and changes nothing', async (line, message) => {
    const { code, output, errors } = await runTokenCommand(environment, ...line);
    expect([code, output, errors]).toEqual([1, '', expect.stringMatching(/^[^\n]+\n$/)]);
    expect(errors).toMatch(message);
    expect(errors).not.toMatch(/\bat |Error:/);
    expect((await runTokenCommand(environment, 'list')).output.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('a broken file', () => {
  it('keeps a server from starting, in one line that names it', async () => {
    const file = path.join(folder, 'tokens.json');
    await writeFile(file, '{"version":1,"tokens":[{"id":"secret-text"}]}');
    const { code, output, errors } = await failedStart({ '--data-dir': path.join(folder, 'data'), '--tokens-file': file });

    expect([code, output, errors]).toEqual([1, '', expect.stringMatching(/^[^\n]+\n$/)]);
    expect(errors).toContain(file);
    expect(errors).toContain('tokens.0.id');
    expect(errors).not.toContain('secret-text');
    expect(await readdir(folder)).toEqual(['tokens.json']);
  });

  it('is refused by the commands, and left as it is', async () => {
    const file = path.join(folder, 'tokens.json');
    await writeFile(file, 'precious');
    const { code, errors } = await runTokenCommand({ BRAIN_TOKENS_FILE: file }, 'create', '--tenant', 'a', '--scope', 'read');

    expect([code, errors]).toEqual([1, `the tokens file is no JSON (${file})\n`]);
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  it('changes nothing for a server that runs, and the log says so until it is whole again', async () => {
    await start();
    const token = await createToken(environment, '--tenant', 'acme', '--scope', 'manage');
    const id = await created(token);
    const reader = await open(token, `/v1/sessions/${id}/events`);
    const file = path.join(folder, 'data/tokens.json');
    const whole = await readFile(file);

    await writeFile(file, whole.subarray(0, 100));
    expect((await ask(token, 'GET', `/v1/sessions/${id}`)).status).toBe(200);
    await eventually(async () => (server?.errors.includes('tokens_file_refused') === true ? true : undefined), 'the log line');
    await writeFile(file, whole);
    await runTokenCommand(environment, 'revoke', idOf(token));
    await reader.ended;
    expect((await ask(token, 'GET', `/v1/sessions/${id}`)).status).toBe(401);
  });
});
