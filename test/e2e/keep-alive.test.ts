/** Connections between requests: a balancer that keeps them for a minute must not lose a request on one. */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runsLongForms } from '../support/slow-tests.ts';

let server: ServerProcess;
beforeEach(async () => {
  server = await ServerProcess.start();
});
afterEach(async () => server.dispose());

/** One connection, spoken to by the byte. */
class Connection {
  readonly #socket;
  #text = '';
  isClosed = false;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.setEncoding('utf8').on('data', (text: string) => (this.#text += text));
    this.#socket.once('close', () => (this.isClosed = true));
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  /** The next answer that has no body: its head. */
  async answer(): Promise<string> {
    const end = await eventually(async () => (this.#text.includes('\r\n\r\n') ? this.#text.indexOf('\r\n\r\n') : undefined), 'an answer');
    const head = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 4);
    return head;
  }

  close(): void {
    this.#socket.destroy();
  }
}

const REQUEST_LINE = 'GET /health/live HTTP/1.1\r\n';
const REST = 'Host: 127.0.0.1\r\n\r\n';

describe('an idle connection', () => {
  it('is promised more than a minute, and is there for the next request, in pieces too', async () => {
    const connection = new Connection(server.url);
    connection.write(REQUEST_LINE + REST);
    const head = await connection.answer();
    connection.write(REQUEST_LINE);
    connection.write(REST);
    const next = await connection.answer();

    expect(head).toMatch(/^HTTP\/1\.1 204 /);
    expect(Number(/^Keep-Alive: timeout=(\d+)$/im.exec(head)?.[1])).toBeGreaterThan(60);
    expect(next).toMatch(/^HTTP\/1\.1 204 /);
    expect(connection.isClosed).toBe(false);
    connection.close();
  });

  it.runIf(runsLongForms)('takes a request that begins after 70 seconds and ends later than the promise', { timeout: 120_000 }, async () => {
    const connection = new Connection(server.url);
    connection.write(REQUEST_LINE + REST);
    await connection.answer();
    await setTimeout(70_000);
    connection.write(REQUEST_LINE);
    // Past the keep-alive, within the time for headers.
    await setTimeout(7_000);
    connection.write(REST);

    expect(await connection.answer()).toMatch(/^HTTP\/1\.1 204 /);
    expect(connection.isClosed).toBe(false);
    connection.close();
  });
});
