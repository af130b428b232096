/** Streams that outlive their connections. */
import { afterEach, describe, expect, it } from 'vitest';
import { Brain, BrainError, type LifecycleSession, type Session } from '../../client/index.ts';
import { SILENCE_MS } from '../../client/event-connection.ts';
import type { Fetch } from '../../client/ports.ts';
import { allOf } from '../support/all-of.ts';
import { LivingServer } from '../support/living-server.ts';
import { saying, ScriptedModel } from '../support/scripted-model.ts';
import { frame, json, lost, never, refusal, ScriptedFetch, ScriptedStream, SESSION, type FetchScript } from '../support/scripted-fetch.ts';
import { quiescence, SimulatedClock } from '../support/simulated-clock.ts';

/** Longer than any pause before another try. */
const ANY_PAUSE_MS = 20_000;

async function scene(script: FetchScript): Promise<{ readonly session: Session; readonly network: ScriptedFetch; readonly clock: SimulatedClock }> {
  const network = new ScriptedFetch((request, index) => (request.method === 'POST' ? json(SESSION, 201) : script(request, index - 1)));
  const clock = new SimulatedClock();
  const session = await new Brain({ fetch: network.fetch, clock }).sessions.create();
  return { session, network, clock };
}

function over(): Response {
  return new Response(null, { status: 204 });
}

function streamOf(...frames: readonly string[]): ScriptedStream {
  return new ScriptedStream().write(frames.join(''));
}

function ended(...frames: readonly string[]): Response {
  const stream = streamOf(...frames);
  stream.end();
  return stream.response;
}

/** Reads to the end, beside the test. */
function reading(events: AsyncIterable<{ readonly sequence?: number }>): { readonly seen: unknown[]; readonly done: Promise<unknown> } {
  const seen: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const event of events) seen.push(event.sequence ?? event);
  };
  return { seen, done: read().catch((error: unknown) => error) };
}

describe('a stream', () => {
  it('begins again after the last event that has a cursor, wherever the connection was lost, and ends with the session', async () => {
    const cut = streamOf(frame(4), 'event: model_delta\ndata: {"started_sequence":3,"text":"h"}\n\n');
    const { session, network, clock } = await scene((_, index) => [cut.response, ended(frame(7)), over()][index] ?? never());
    const { seen, done } = reading(session.stream({ after: 3 }));
    await quiescence();

    cut.fail();
    await clock.advance(ANY_PAUSE_MS);

    expect(await done).toBeUndefined();
    expect(seen).toEqual([4, { type: 'model_delta', data: { started_sequence: 3, text: 'h' } }, 7]);
    expect(network.lines.slice(1)).toEqual([3, 4, 7].map((after) => `GET /v1/sessions/${session.id}/events?after=${after}`));
  });

  it('tries for as long as the server is away, with longer and longer pauses', async () => {
    const { session, network, clock } = await scene((_, index) => (index < 30 ? lost() : index === 30 ? ended(frame(5)) : over()));
    const { seen, done } = reading(session.stream());

    await clock.advance(1_000);
    expect(network.sent.length).toBeLessThan(6);
    await clock.advance(30 * ANY_PAUSE_MS);

    expect(await done).toBeUndefined();
    expect(seen).toEqual([5]);
  });

  it('does not run in a circle where every connection ends at once', async () => {
    const { session, network, clock } = await scene(() => ended());
    const { done } = reading(session.stream());
    await clock.advance(60_000);
    const { length } = network.sent;

    expect(length).toBeGreaterThan(3);
    expect(length).toBeLessThan(20);
    void done;
  });

  it.each([401, 403, 404, 400])('ends on a refusal that would come again, %i', async (status) => {
    const { session, network } = await scene(() => refusal('not_found', status));

    expect(await reading(session.stream()).done).toBeInstanceOf(BrainError);
    expect(network.sent).toHaveLength(2);
  });

  it.each([502, 503, 429])('goes on after an answer that will pass, %i', async (status) => {
    const { session, clock } = await scene((_, index) => (index === 0 ? new Response('later', { status }) : index === 1 ? ended(frame(4)) : over()));
    const { seen, done } = reading(session.stream());
    await clock.advance(ANY_PAUSE_MS);

    expect(await done).toBeUndefined();
    expect(seen).toEqual([4]);
  });

  it('gives a silent connection up, and not one that only says that it is alive', async () => {
    const silent = streamOf(frame(4));
    const { session, network, clock } = await scene((_, index) => [silent.response, ended(frame(5)), over()][index] ?? never());
    const { seen, done } = reading(session.stream());
    for (let at = 0; at < 10; at += 1) {
      await clock.advance(15_000);
      silent.write(': keepalive\n\n');
    }
    expect(network.sent).toHaveLength(2);

    await clock.advance(SILENCE_MS);
    expect(network.sent[1]?.signal.aborted).toBe(true);
    await clock.advance(ANY_PAUSE_MS);

    expect(await done).toBeUndefined();
    expect(seen).toEqual([4, 5]);
    expect(clock.timerCount).toBe(0);
  });

  it('gives up a connection that was silent while the machine slept', async () => {
    const silent = streamOf(frame(4));
    const { session, network, clock } = await scene((_, index) => (index === 0 ? silent.response : never()));
    reading(session.stream());
    await clock.advance(1_000);

    clock.setWall(clock.now() + 3_600_000);
    await clock.advance(5_000);

    expect(network.sent[1]?.signal.aborted).toBe(true);
  });

  it('gives up a server that takes the connection and does not answer', async () => {
    const { session, network, clock } = await scene((_, index) => (index === 0 ? never() : over()));
    const { done } = reading(session.stream());
    await clock.advance(SILENCE_MS + ANY_PAUSE_MS);

    expect(await done).toBeUndefined();
    expect(network.sent).toHaveLength(3);
  });

  it('reads nothing ahead of a consumer that is at work, and takes that for no silence', async () => {
    const stream = streamOf(frame(4), frame(5));
    const { session, network, clock } = await scene(() => stream.response);
    const events = session.stream();
    expect((await events.next()).value).toMatchObject({ sequence: 4 });

    await clock.advance(10 * SILENCE_MS);

    expect((await events.next()).value).toMatchObject({ sequence: 5 });
    expect(network.sent).toHaveLength(2);
    await events.return();
  });

  it('lets go of its connection when its consumer leaves', async () => {
    const stream = streamOf(frame(4));
    const { session, network, clock } = await scene(() => stream.response);
    for await (const _ of session.stream()) break;

    expect(network.sent[1]?.signal.aborted).toBe(true);
    expect(clock.timerCount).toBe(0);
  });

  it('ends with an AbortError by its signal, in a pause too', async () => {
    for (const script of [() => streamOf().response, lost]) {
      const { session, clock } = await scene(script);
      const controller = new AbortController();
      const { done } = reading(session.stream({ signal: controller.signal }));
      await quiescence();
      controller.abort();

      expect(await done).toMatchObject({ name: 'AbortError' });
      expect(clock.timerCount).toBe(0);
    }
  });

  it('hands on types that this client does not know, untouched', async () => {
    const strange = { sequence: 9, recorded_at: 2, type: 'session_dreamt', data: { of: ['sheep'] }, origin: { kind: 'tool', sequence: 3 }, more: true };
    const { session } = await scene((_, index) => (index === 0 ? ended(`event: session_dreamt\nid: 9\ndata: ${JSON.stringify(strange)}\n\nevent: mood\ndata: {"is":"good"}\n\n`) : over()));

    expect(await allOf(session.stream())).toEqual([strange, { type: 'mood', data: { is: 'good' } }]);
  });

  it('puts characters together that come a byte at a time', async () => {
    const text = '你好🦀é';
    const stream = new ScriptedStream();
    for (const byte of new TextEncoder().encode(frame(4, 'shop.said', text))) stream.write(Uint8Array.of(byte));
    stream.end();
    const { session } = await scene((_, index) => (index === 0 ? stream.response : over()));

    expect((await allOf(session.stream())).map(({ data }) => data)).toEqual([text]);
  });

  it('throws where what answers is not Brain', async () => {
    for (const answer of [() => new Response('<h1>hi</h1>', { headers: { 'Content-Type': 'text/html' } }), () => ended('id: 1\ndata: oops\n\n')]) {
      const { session } = await scene(answer);

      expect(await reading(session.stream()).done).toMatchObject({ name: 'BrainConnectionError' });
    }
  });
});

describe('a stream of a server', () => {
  const servers: LivingServer[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  /** Its model waits for the test. */
  async function serve(): Promise<{ readonly server: LivingServer; readonly brain: Brain; readonly restart: () => Promise<void>; readonly cut: () => void }> {
    let server = await LivingServer.open({ model: new ScriptedModel(() => 'waits') });
    servers.push(server);
    let open = new AbortController();
    // The server's address changes with each process; the client's does not.
    const fetchThere: Fetch = (url, init) => {
      const { pathname, search } = new URL(url);
      return fetch(`${server.url}${pathname}${search}`, { ...init, signal: AbortSignal.any([open.signal, ...(init.signal ? [init.signal] : [])]) });
    };
    return {
      get server() {
        return server;
      },
      brain: new Brain({ fetch: fetchThere }),
      async restart() {
        const old = server;
        server = await LivingServer.over(await old.living.restart());
        servers.push(server);
        await old.close();
      },
      cut() {
        open.abort(new TypeError('the network is gone'));
        open = new AbortController();
      },
    };
  }

  async function create(brain: Brain): Promise<LifecycleSession> {
    return brain.create({ harness: 'chat', config: { model: 'openai/scripted', tools: [] } });
  }

  it('L-079: goes on after a cursor, over a restart of the server, and misses and repeats nothing', async () => {
    const { brain, restart, server } = await serve();
    const session = await create(brain);
    const message = await session.queue('hello');
    const seen: string[] = [];
    for await (const event of session.stream({ after: message.id })) {
      seen.push(event.type === 'session.status' ? event.status : event.type);
      if (seen.length === 1) {
        await server.living.model.calls.at(0);
        await restart();
      }
      if (event.type === 'session.status' && event.status === 'failed') await session.close();
    }

    expect(seen).toEqual(['running', 'session.error', 'failed', 'closed']);
  });

  it('brings the end of a turn, once, to a reader that was cut off just before it', async () => {
    const { brain, server, cut } = await serve();
    const session = await create(brain);
    await session.queue('hello');
    const ends: string[] = [];
    for await (const event of session.stream()) {
      if (event.type !== 'session.status') continue;
      if (event.status === 'running') {
        cut();
        (await server.living.model.calls.at(0)).answer(saying('done'));
      }
      if (event.status === 'idle') {
        ends.push(event.id);
        await session.close();
      }
    }

    expect(ends).toHaveLength(1);
  });

  it('S-193, S-194: has payload and origin of an event as its pages have them', async () => {
    const { brain, server } = await serve();
    server.living.loops.turn = async (_, host) => {
      await host.emit('shop.order_placed', { order: 7, origin: 'forged' });
      return { kind: 'returned' };
    };
    const session = await brain.sessions.create({ agentloop: { name: 'test' } });
    await session.send('hello');
    await session.end();
    const pages = await allOf(session.events());

    expect(await allOf(session.stream())).toEqual(pages);
    const order = pages.find(({ type }) => type === 'shop.order_placed');
    expect(order?.data).toEqual({ order: 7, origin: 'forged' });
    expect(order?.origin).toEqual({ kind: 'agentloop', sequence: pages.find(({ type }) => type === 'activation_started')?.sequence });
  });
});
