import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PROTOCOLS } from '../../../support/provider-protocols.ts';
import { ProviderStage } from './provider-stage.ts';

describe.each(PROTOCOLS)('the network to models, over $name', (protocol) => {
  let stage = new ProviderStage(protocol);
  const servers: Server[] = [];
  afterEach(async () => {
    await stage.close();
    stage = new ProviderStage(protocol);
    for (const server of servers.splice(0)) server.close();
  });

  it('sends a request of one piece, which names its length and asks for an answer that is not packed', async () => {
    const server = await stage.serve({ steps: [{ send: protocol.answer('x') }] });

    await stage.ask(`${server.url}/v1`, { system: '🦀' });

    const [request] = server.requests;
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request?.body ?? '')),
      'accept-encoding': 'identity',
      connection: 'close',
    });
    expect(request?.headers).not.toHaveProperty('transfer-encoding');
  });

  it('closes its connection after an answer, in whatever way that ended', async () => {
    const never = new Promise(() => undefined);
    for (const steps of [[{ send: protocol.answer('x') }], [{ send: protocol.failure('busy') }, { hold: never }], [{ send: 'data: 5\n\n' }, { hold: never }]]) {
      const server = await stage.serve({ steps });

      await stage.ask(`${server.url}/v1`);

      await server.requests[0]?.closed;
    }
  });

  it('reads an answer that begins with a byte order mark', async () => {
    const { outcome } = await stage.call({ steps: [{ send: `\uFEFF${protocol.answer('x')}` }] });

    expect(outcome).toMatchObject({ outcome: 'ended', message: { content: [{ type: 'text', text: 'x' }] } });
  });

  it('is failed with its status where the provider says no and breaks off, or does not stop talking', async () => {
    const lost = await stage.call({ status: 500, steps: [{ send: '{"error":{"mess' }, { end: 'mid_chunk' }] });
    const never = new Promise(() => undefined);
    const endless = await stage.call({ status: 500, steps: [{ send: 'x'.repeat(100_000) }, { hold: never }] });

    expect(lost.outcome).toMatchObject({ outcome: 'failed', code: 'http_500' });
    expect(endless.outcome).toMatchObject({ outcome: 'failed', code: 'http_500' });
  });

  /** Takes connections, and does with each what it is told. */
  async function listen(take: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      take(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`;
  }

  it('is failed where the connection was let go before it was secured: nothing can have been sent', async () => {
    let connections = 0;
    const place = await listen((socket) => {
      connections += 1;
      socket.once('data', () => socket.end('no'));
    });

    expect(await stage.ask(`https://${place}`)).toMatchObject({ outcome: 'failed', code: 'not_sent' });
    expect(connections).toBe(1);
  });

  it('waits ten seconds for a connection, and for an answer without an end', async () => {
    const heard: Socket[] = [];
    const place = await listen((socket) => socket.once('data', () => heard.push(socket)));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const ends: string[] = [];
      const asked = [`https://${place}`, `http://${place}`].map(async (url) => {
        const outcome = await stage.ask(url);
        ends.push(outcome.outcome === 'ended' ? 'ended' : outcome.code);
      });
      // One has said hello and the other all that it has to say. Neither hears a word.
      while (heard.length < 2) await new Promise((resolve) => setImmediate(resolve));

      await vi.advanceTimersByTimeAsync(9_999);
      expect(ends).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await asked[0];
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(ends).toEqual(['connect_timeout']);

      for (const socket of heard) socket.destroy();
      await asked[1];
      expect(ends).toEqual(['connect_timeout', 'connection_lost']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is failed where a key cannot stand in a header, and does not show it', async () => {
    const server = await stage.serve({ steps: [{ send: protocol.answer('x') }] });

    const outcome = await stage.ask(`${server.url}/v1`, {}, { apiKey: 'sk-\nsecret' });

    expect(outcome).toEqual({ outcome: 'failed', code: 'not_sent', message: 'the request to the model could not be made' });
    expect(server.requests).toEqual([]);
  });

  it('is cut off by the end of the network, and is unknown then', async () => {
    const never = new Promise(() => undefined);
    const server = await stage.serve({ steps: [{ send: protocol.beginning('one ') }, { hold: never }] });
    const asked = stage.ask(`${server.url}/v1`, {}, { onDelta: () => void stage.disconnect() });

    expect(await asked).toMatchObject({ outcome: 'unknown', code: 'connection_lost' });
    await server.requests[0]?.closed;
  });
});
