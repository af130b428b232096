/**
 * The secrets of environments: the credential that one is called with, the token of each callback, the token of a host. Its
 * environment says all of them back wherever it can, and none is found again in what Brain writes or answers.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../services/environments/operation.ts';
import { FarStage, FAR_DRIVERS } from '../support/far-stage.ts';
import { SseReader } from '../support/sse-reader.ts';

const CREDENTIAL = 'canary-of-the-environment-5555';

let stage: FarStage;
afterEach(async () => stage.strike());

async function filesWith(secrets: readonly string[]): Promise<readonly string[]> {
  const { dataDirectory } = stage.stage.server;
  const entries = await readdir(dataDirectory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = await Promise.all(paths.map(async (file) => [path.relative(dataDirectory, file), await readFile(file, 'latin1')] as const));
  expect(texts.length).toBeGreaterThan(2);
  return texts.filter(([, text]) => secrets.some((secret) => text.includes(secret))).map(([file]) => file);
}

describe.each(FAR_DRIVERS)('the secrets of an environment of the driver %s', (driver) => {
  it('are in no file, event, answer, request to a model or log line, though it says all of them back', async () => {
    stage = await FarStage.set({ driver, tools: ['says', 'reports', 'fails'], environment: { BRAIN_LOG_LEVEL: 'debug', BRAIN_TELEMETRY_FILE: '' } });
    const answers: string[] = [];
    const ask = async (method: string, route: string, body?: unknown): Promise<unknown> => {
      const answer = await stage.api.request(method, route, body);
      answers.push(JSON.stringify([[...answer.headers], answer.body ?? null]));
      return answer.body;
    };
    await ask('PUT', '/v1/credentials/key', { value: CREDENTIAL });
    if (driver === 'http') {
      const tools = ['says', 'reports', 'fails'].map((name) => ({ name, description: 'says back what it got', input_schema: { type: 'object' } }));
      await ask('PUT', '/v1/environments/far', { driver, url: stage.far.url, credential: 'key', tools });
    }
    const secretsOf = ({ callback }: Operation): string => [CREDENTIAL, callback?.token ?? '', stage.host.token].filter((secret) => secret !== '').join(' and ');
    stage.script = (operation) => {
      const { request } = operation;
      if (request.type !== 'invoke') return { type: 'result', output: secretsOf(operation) };
      if (request.tool === 'says') return { type: 'result', output: { said: secretsOf(operation) } };
      if (request.tool === 'fails') return { type: 'failure', code: 'no', message: secretsOf(operation), retryable: false, details: { said: secretsOf(operation) } };
      return 'waits';
    };
    const { session_id: id } = await stage.create();
    const watching = await SseReader.open(`${stage.stage.server.url}/v1/sessions/${id}/events?after=0`);
    const sent = ask('POST', `/v1/sessions/${id}/messages`, { input: 'use says reports fails' });
    const call = await stage.called('reports');
    expect(await stage.emit(call, 'far.leak', { said: secretsOf(call) })).toBeNull();
    expect(await stage.report(call, secretsOf(call))).toBeNull();
    expect(await sent).toMatchObject({ outcome: 'ended' });
    for (const route of ['', '/events', '/journal', '/transcript']) await ask('GET', `/v1/sessions/${id}${route}`);
    for (const route of ['/v1/environments', '/v1/environments/far', '/v1/credentials', '/v1/sessions', '/nothing']) await ask('GET', route);
    await stage.stage.server.stop();

    // What a host was never given is no secret of its operations: that is the credential.
    const tokens = [...stage.operations.all.flatMap(({ callback }) => (callback === undefined ? [] : [callback.token])), stage.host.token].filter((token) => token !== '');
    const secrets = driver === 'http' ? [CREDENTIAL, ...tokens] : tokens;
    expect(secrets.length).toBeGreaterThan(driver === 'http' ? 3 : 0);
    if (driver === 'http') expect(stage.far.received.all.map(({ authorization }) => authorization)).toContain(`Bearer ${CREDENTIAL}`);
    const leaksIn = (texts: readonly string[]): readonly string[] => texts.filter((text) => secrets.some((secret) => text.includes(secret)));
    expect(answers.filter((text) => text.includes('[secret removed]')).length).toBeGreaterThan(0);
    expect(leaksIn(answers)).toEqual([]);
    expect(leaksIn(watching.frames.map((frame) => JSON.stringify(frame)))).toEqual([]);
    expect(leaksIn(stage.requests().map((messages) => JSON.stringify(messages)))).toEqual([]);
    expect(leaksIn([stage.stage.server.errors])).toEqual([]);
    expect(await filesWith(secrets)).toEqual([]);
    watching.close();
    await stage.stage.server.start();
  });
});
