/** Ids that are paths, sent as they are: no client library has tidied them up. */
import { readdir, readFile, mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

let server: ServerProcess;
beforeEach(async () => {
  server = await ServerProcess.start();
});
afterEach(async () => server.dispose());

const CANARY_ID = 'c'.repeat(32);
const CANARY = 'nobody reads or removes this';

describe('an id that is a path', () => {
  it('reaches no file, whatever the method and however it is spelt', async () => {
    const { session_id: id } = await server.api.create();
    await server.api.end(id);
    const outside = path.join(server.dataDirectory, CANARY_ID);
    await mkdir(outside);
    await writeFile(path.join(outside, 'checkpoint'), CANARY);
    const before = await filesIn(server.dataDirectory);
    const ids = [
      `../${CANARY_ID}`,
      `..%2f${CANARY_ID}`,
      `..%2F${CANARY_ID}`,
      `%2e%2e%2f${CANARY_ID}`,
      `%2e%2e/${CANARY_ID}`,
      `..%5c${CANARY_ID}`,
      `..%c0%af${CANARY_ID}`,
      `..%252f${CANARY_ID}`,
      `${id}/../../${CANARY_ID}`,
      `${id}%2f..%2f..%2f${CANARY_ID}`,
      `${id}%00`,
      `${id}%2f`,
      `${id}.`,
      id.toUpperCase(),
      '..',
      '%2e%2e',
      '.',
      '%2e',
      '%00',
      '%',
      '/etc/passwd',
      '%2fetc%2fpasswd',
      'a'.repeat(5000),
    ].filter((spelling) => spelling !== id);

    const answers: string[] = [];
    for (const spelling of ids) {
      for (const suffix of ['', '/events', '/journal', '/transcript']) answers.push(await raw('GET', `/v1/sessions/${spelling}${suffix}`));
      for (const action of ['cancel', 'end', 'resume']) answers.push(await raw('POST', `/v1/sessions/${spelling}/${action}`));
      answers.push(await raw('POST', `/v1/sessions/${spelling}/messages`, '{"input":"hello"}'));
      answers.push(await raw('PATCH', `/v1/sessions/${spelling}`, '{"metadata":{"a":"b"}}'));
      answers.push(await raw('DELETE', `/v1/sessions/${spelling}`));
    }

    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer).not.toContain(CANARY);
      expect(answer).not.toContain('root:');
      expect(answer).not.toContain(server.dataDirectory);
    }
    expect(await filesIn(server.dataDirectory)).toEqual(before);
    expect(await readFile(path.join(outside, 'checkpoint'), 'utf8')).toBe(CANARY);
    expect(await server.api.session(id)).toMatchObject({ status: 'ended' });
  });
});

/** One request on a connection of its own; the whole answer. */
async function raw(method: string, target: string, body = ''): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const type = body === '' ? '' : 'Content-Type: application/json\r\n';
  socket.end(`${method} ${target} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n${type}Content-Length: ${body.length}\r\n\r\n${body}`);
  return text(socket);
}

async function filesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).toSorted();
}
