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
    });
    expect(request?.headers).not.toHaveProperty('transfer-encoding');
  });

  it('closes its connection at once where the answer is none, or tells of a failure', async () => {
    const never = new Promise(() => undefined);
    for (const steps of [[{ send: protocol.failure('busy') }, { hold: never }], [{ send: 'data: 5\n\n' }, { hold: never }]]) {
      const server = await stage.serve({ steps });

      await stage.ask(`${server.url}/v1`);

      await server.requests[0]?.closed;
    }
  });

  it('S-034: takes the connection of a call that is over, as long as that is not longer ago than a second', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const server = await stage.serve({ steps: [{ send: protocol.answer('x') }] });
    const ask = async () => expect(await stage.ask(`${server.url}/v1`)).toMatchObject({ outcome: 'ended' });
    try {
      await ask();
      vi.advanceTimersByTime(1000);
      await ask();
      vi.advanceTimersByTime(1001);
      await ask();
    } finally {
      vi.useRealTimers();
    }

    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 0, 1]);
  });

  it('S-034: gives each of two calls at a time a connection of its own', async () => {
    let answered: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answered = resolve));
    const server = await stage.serve({ steps: [{ hold: held }, { send: protocol.answer('x') }] });

    const asked = [stage.ask(`${server.url}/v1`), stage.ask(`${server.url}/v1`)];
    while (server.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    answered();

    expect(await Promise.all(asked)).toMatchObject([{ outcome: 'ended' }, { outcome: 'ended' }]);
    expect(server.requests.map(({ connection }) => connection).toSorted()).toEqual([0, 1]);
  });

  it('S-034: is unknown, and not sent again, where the connection that it takes is closed without an answer', async () => {
    const heard: string[] = [];
    let connections = 0;
    const place = await listen((socket) => {
      connections += 1;
      socket.on('data', (data) => {
        heard.push(String(data));
        const answer = protocol.answer('x');
        if (heard.length > 1) socket.destroy();
        else socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`);
      });
    });

    expect(await stage.ask(`http://${place}`)).toMatchObject({ outcome: 'ended' });
    expect(await stage.ask(`http://${place}`)).toMatchObject({ outcome: 'unknown', code: 'connection_lost' });
    expect(heard).toHaveLength(2);
    expect(connections).toBe(1);
  });

  it('takes no connection again on which something came when nothing was asked', async () => {
    const sockets: Socket[] = [];
    const answer = protocol.answer('x');
    const response = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`;
    const place = await listen((socket) => {
      sockets.push(socket);
      socket.on('data', () => socket.write(response));
    });

    expect(await stage.ask(`http://${place}`)).toMatchObject({ outcome: 'ended' });
    const [first] = sockets;
    const closed = new Promise((resolve) => first?.once('close', () => resolve('closed')));
    first?.write(response);
    // Within less than the second after which it is closed anyway.
    expect(await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 800))])).toBe('closed');

    expect(await stage.ask(`http://${place}`)).toMatchObject({ outcome: 'ended' });
    expect(sockets).toHaveLength(2);
  });

  it('closes its connection where the answer ends before the request was taken to its end', async () => {
    const sockets: Socket[] = [];
    const bytes = 20_000_000;
    let heard = 0;
    const place = await listen((socket) => {
      sockets.push(socket);
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}');
      });
      socket.on('data', (data) => (heard += data.length));
    });

    expect(await stage.ask(`http://${place}`, { system: 'x'.repeat(bytes) })).toMatchObject({ outcome: 'failed', code: 'http_413' });
    const closed = new Promise((resolve) => sockets[0]?.once('close', resolve));
    sockets[0]?.resume();
    await closed;

    expect(heard).toBeLessThan(bytes);
  });

  it('waits for the end of an answer that is complete for a second, and for no word of it', async () => {
    const never = new Promise(() => undefined);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const server = await stage.serve({ steps: [{ send: protocol.answer('x') }, { hold: never }] });
      expect(await stage.ask(`${server.url}/v1`)).toMatchObject({ outcome: 'ended' });

      await vi.advanceTimersByTimeAsync(999);
      expect(await stage.ask(`${server.url}/v1`)).toMatchObject({ outcome: 'ended' });
      expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1]);
      await vi.advanceTimersByTimeAsync(1);
      await server.requests[0]?.closed;
    } finally {
      vi.useRealTimers();
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
