import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEEPING, KeptConnections } from '../../../../services/models/kept-connections.ts';

describe('kept connections', () => {
  let server: Server;
  const agent = new Agent(KEEPING);
  const kept = new KeptConnections(agent);
  beforeEach(async () => {
    server = createServer((_request, response) => response.end('x'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    kept.close();
    server.close();
  });

  async function ask(): Promise<void> {
    const outgoing = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    kept.keepAfter(incoming, outgoing);
    await once(incoming.resume(), 'close');
  }

  const waiting = () => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);

  it('are not to be had any more from the moment at which one is closed', async () => {
    await Promise.all([ask(), ask()]);
    while (waiting().length < 2) await new Promise((resolve) => setImmediate(resolve));
    const [first, next] = waiting();

    next?.emit('data', Buffer.from('what nobody asked for'));

    // The agent takes the last one, and looks at no more than whether the first of them are closed.
    expect(next?.destroyed).toBe(true);
    expect(waiting()).toEqual([first]);
  });

  it('are not given out where their close has begun and is not over', async () => {
    await Promise.all([ask(), ask()]);
    while (waiting().length < 2) await new Promise((resolve) => setImmediate(resolve));
    const [first, next] = waiting();
    next?.destroy();

    kept.dropOld();

    expect(waiting()).toEqual([first]);
  });
});
