/** Tools in the process of a client, under kills on both sides and networks that cut or swallow. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Brain, tool, type ClientClock, type Session, type Tool } from '../../client/index.ts';
import { eventually } from '../support/eventually.ts';
import { HostProcess } from '../support/host-process.ts';
import { canRunNginx, Nginx } from '../support/nginx.ts';
import { ServerProcess } from '../support/server-process.ts';

const hasNginx = await canRunNginx();

let server: ServerProcess;
const undo: (() => Promise<void> | void)[] = [];
beforeEach(async () => {
  server = await ServerProcess.start();
});
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
  await server.dispose();
});

function client(baseUrl = server.url): Brain {
  const brain = new Brain({ baseUrl, onError: () => undefined });
  undo.push(() => brain.close());
  return brain;
}

/** On the port that it had. */
async function killAndStart(): Promise<void> {
  const { port } = new URL(server.url);
  await server.kill();
  await server.start({}, Number(port));
}

function marking(calls: string[], until: Promise<unknown> = Promise.resolve()): Tool {
  return tool({
    name: 'mark',
    description: 'Marks.',
    input: { type: 'object' },
    async run(_, { sessionId, sequence }) {
      calls.push(`${sessionId}/${sequence}`);
      await until;
      return 'marked';
    },
  });
}

async function outcomes(session: Session): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const { type, data } of session.events()) if (type === 'tool_call_ended') seen.push(data.outcome);
  return seen;
}

async function program(name: string, mode = ''): Promise<HostProcess> {
  const host = await HostProcess.start('host-program.mjs', { BRAIN_URL: server.url, HOST_NAME: name, HOST_MODE: mode });
  undo.push(() => host.kill());
  return host;
}

function callsOf({ said }: HostProcess): readonly string[] {
  return [...said.matchAll(/called (\S+)/g)].map(([, call = '']) => call);
}

/** Nearly a minute passes in a second of the machine's. */
const FAST_CLOCK: ClientClock = {
  now: () => Date.now() * 50,
  after(ms, action) {
    const timer = setTimeout(action, ms / 50);
    return () => clearTimeout(timer);
  },
};

/** A door to the server that can swallow what goes over open connections, or hang up on everybody. */
class Door {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Socket>();
  readonly #swallowed = new Set<Socket>();

  private constructor(to: () => number) {
    this.#server = createServer((socket) => {
      const beyond = connect(to(), '127.0.0.1');
      for (const one of [socket, beyond]) {
        this.#sockets.add(one);
        one.on('error', () => undefined);
        one.on('close', () => this.#sockets.delete(one));
      }
      socket.on('data', (bytes) => void (this.#swallowed.has(socket) || beyond.write(bytes)));
      beyond.on('data', (bytes) => void (this.#swallowed.has(socket) || socket.write(bytes)));
      // Whom nothing reaches learns of no hang-up either: the server does not know that its client is gone.
      socket.on('close', () => void (this.#swallowed.has(socket) || beyond.destroy()));
      beyond.on('close', () => void (this.#swallowed.has(socket) || socket.destroy()));
      this.#clients.add(socket);
    });
  }

  static async open(): Promise<Door> {
    const door = new Door(() => Number(new URL(server.url).port));
    await new Promise<void>((resolve) => door.#server.listen(0, '127.0.0.1', resolve));
    undo.push(() => door.close());
    return door;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { readonly port: number }).port}`;
  }

  /** From now on nothing passes over the connections that are open, which stay so. New ones are as they should be. */
  swallow(): void {
    for (const socket of this.#clients) this.#swallowed.add(socket);
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('a server that is killed', () => {
  it('finds its hosts again, by themselves, and calls each thing once', async () => {
    const calls: string[] = [];
    const session = await client().sessions.create({ tools: [marking(calls)] });
    await session.send('call mark {}');
    await killAndStart();
    await eventually(async () => ((await session.refresh().catch(() => undefined)) === undefined ? undefined : true), 'the server');
    expect((await session.send('call mark {}')).outcome).toBe('ended');

    expect(await outcomes(session)).toEqual(['ok', 'ok']);
    expect([calls.length, new Set(calls).size]).toEqual([2, 2]);
  });

  it('under a call leaves it unknown, whatever the tool says afterwards, and does not call it again', async () => {
    const calls: string[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const session = await client().sessions.create({ tools: [marking(calls, released)] });
    await session.submit('call mark {}');
    await eventually(async () => calls[0], 'the call');
    await killAndStart();
    release();
    const turn = await eventually(() => session.send('hello').catch(() => undefined), 'a turn on the new server');

    expect(turn.outcome).toBe('ended');
    expect(await outcomes(session)).toEqual(['unknown']);
    expect(calls).toHaveLength(1);
  });

  it('again and again under a reader and a host: every event comes once, and every command at most once', async () => {
    const calls: string[] = [];
    const brain = client();
    const session = await brain.sessions.create({ tools: [marking(calls)] });
    const seen: number[] = [];
    const reading = (async () => {
      for await (const event of session.stream()) if ('sequence' in event) seen.push(event.sequence);
    })();
    for (let round = 0; round < 4; round += 1) {
      const key = `round-${round}`;
      const sending = session.submit('call mark {}', { idempotencyKey: key }).catch(() => undefined);
      if (round % 2 === 0) await sending;
      await killAndStart();
      await sending;
      await eventually(async () => ((await session.refresh().catch(() => undefined))?.status === 'idle' ? true : undefined), 'an idle session');
    }
    await eventually(() => session.end().catch(() => undefined), 'the end');
    await reading;
    const all: number[] = [];
    let ends = 0;
    for await (const { sequence, type } of session.events()) {
      all.push(sequence);
      if (type === 'tool_call_ended') ends += 1;
    }

    expect(seen).toEqual(all);
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls.length).toBeLessThanOrEqual(ends);
  });
});

describe('a program that is killed', () => {
  it('comes back as another, serves the sessions that are there, and runs nothing of the first one again', async () => {
    const first = await program('first', 'hangs');
    const session = await client().sessions.create({ environments: ['program'] });
    const turn = session.send('call mark {}');
    await first.says(/called/);
    await first.kill();
    const second = await program('second');
    expect((await turn).outcome).toBe('ended');
    expect((await session.send('call mark {}')).result?.text).toContain('marked by second');

    expect(await outcomes(session)).toEqual(['unknown', 'ok']);
    expect([callsOf(first).length, callsOf(second).length]).toEqual([1, 1]);
    expect(callsOf(second)).not.toEqual(callsOf(first));
  });

  it('before it was given a call has it given to the next one', async () => {
    const first = await program('first');
    const session = await client().sessions.create({ environments: ['program'] });
    await first.kill();
    const turn = session.send('call mark {}');
    await eventually(async () => ((await outcomes(session)).length === 0 && (await session.refresh()).status === 'running' ? true : undefined), 'the call');
    const second = await program('second');

    expect((await turn).result?.text).toContain('marked by second');
    expect(callsOf(second)).toHaveLength(1);
  });
});

describe('a network', () => {
  it('that cuts a call off costs nothing: its result is taken over the next connection, and it runs once', async () => {
    const door = await Door.open();
    const calls: string[] = [];
    const brain = client(door.url);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const { id } = await brain.sessions.create({ tools: [marking(calls, released)] });
    const session = await client().sessions.get(id);
    const turn = session.send('call mark {}');
    await eventually(async () => calls[0], 'the call');
    door.cut();
    release();

    expect((await turn).result?.text).toContain('marked');
    expect([calls.length, await outcomes(session)]).toEqual([1, ['ok']]);
  });

  it('that swallows all that goes over its open connections has them given up, and what was asked for meanwhile is done once', async () => {
    const door = await Door.open();
    const calls: string[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const brain = new Brain({ baseUrl: door.url, clock: FAST_CLOCK, onError: () => undefined });
    undo.push(() => brain.close());
    const { id } = await brain.sessions.create({ tools: [marking(calls, released)] });
    door.swallow();
    const session = await client().sessions.get(id);
    const turn = session.send('call mark {}');
    await eventually(async () => calls[0], 'the call');
    // The result goes over a connection that is dead as well: nothing but its silence says so.
    door.swallow();
    release();

    expect((await turn).result?.text).toContain('marked');
    expect([calls.length, await outcomes(session)]).toEqual([1, ['ok']]);
  });

  it.skipIf(!hasNginx)('whose proxy hangs up on what is silent loses no command', async () => {
    const proxy = await Nginx.before(server.url, { readTimeoutSecs: 1 });
    undo.push(() => proxy.stop());
    const calls: string[] = [];
    const { id } = await client(proxy.url).sessions.create({ tools: [marking(calls)] });
    const session = await client().sessions.get(id);
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      expect((await session.send('call mark {}')).result?.text).toContain('marked');
    }

    expect([calls.length, await outcomes(session)]).toEqual([3, ['ok', 'ok', 'ok']]);
  });
});
