/** A client as such: where it goes, who it is, and how it ends. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Brain, BrainClosedError, BrainError } from '../../client/index.ts';
import { LivingServer } from '../support/living-server.ts';
import { json, never, ScriptedFetch, ScriptedStream, SESSION } from '../support/scripted-fetch.ts';

const TOKEN = 'sk-secret-of-this-test';

describe('a client of a server without a key', () => {
  let server: LivingServer;

  beforeEach(async () => {
    server = await LivingServer.open();
  });

  afterEach(async () => {
    await server.close();
  });

  it('L-006: is made of an address and a key that is not set', async () => {
    const brain = new Brain(server.url, process.env['BRAIN_API_KEY_THAT_IS_NOT_SET']);

    expect((await brain.sessions.create()).status).toBe('idle');
  });

  it('L-128: lists by the last id and a limit, and gets by id', async () => {
    const brain = new Brain({ baseUrl: `${server.url}/` });
    const made = [];
    for (const text of ['a', 'b', 'c']) made.push((await brain.create({ harness: 'chat', config: { model: 'openai/scripted', instructions: text } })).id);

    const page = await brain.list(made[0], 1);
    const got = await brain.get(made[2] ?? '');

    expect(page.sessions.map(({ id }) => id)).toEqual([made[1]]);
    expect([got.id, got.status, got.checkpoint?.offset]).toEqual([made[2], 'idle', 0]);
  });

  it('S-206, S-207, S-208: closes twice without harm, takes no operation then, and leaves the session as it is', async () => {
    const brain = new Brain(server.url);
    const session = await brain.sessions.create();

    await brain.close();
    await brain.close();

    for (const operation of [
      () => brain.sessions.create(),
      () => brain.get(session.id),
      () => session.send('hello'),
      () => session.refresh(),
      () => session.events().next(),
      () => session.stream().next(),
      async () => brain.withToken(TOKEN),
    ]) {
      await expect(operation()).rejects.toBeInstanceOf(BrainClosedError);
    }
    expect((await new Brain(server.url).sessions.get(session.id)).status).toBe('idle');
  });

  it('S-208: leaves the turn alone that it waited for', async () => {
    server.living.model.script = () => 'waits';
    const brain = new Brain(server.url);
    const session = await brain.sessions.create({ agentloop: { name: 'chat' } });
    const sending = session.send('hello');
    const call = await server.living.model.calls.at(0);

    await brain.close();

    await expect(sending).rejects.toBeInstanceOf(BrainClosedError);
    expect(call.signal.aborted).toBe(false);
    expect((await new Brain(server.url).sessions.get(session.id)).status).toBe('running');
  });

  it('S-215: made with another token lives by itself, whichever of the two is closed', async () => {
    const one = new Brain(server.url);
    const child = one.withToken(TOKEN);
    const other = one.withToken(TOKEN);

    await one.close();
    expect((await child.sessions.create()).status).toBe('idle');

    const parent = new Brain(server.url);
    await parent.withToken(TOKEN).close();
    expect((await parent.sessions.create()).status).toBe('idle');
    expect((await other.list()).sessions).toHaveLength(2);
  });

  it('S-215: with another token is another caller', async () => {
    const guarded = await LivingServer.over(server.living, { apiKey: TOKEN });
    try {
      const brain = new Brain(guarded.url, 'sk-somebody-else');

      await expect(brain.list()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
      expect((await brain.withToken(TOKEN).list()).sessions).toEqual([]);
    } finally {
      await guarded.close();
    }
  });
});

describe('close', () => {
  it('S-205: ends every request and stream that is open, also where the network does not look at its signal', async () => {
    const stream = new ScriptedStream();
    const network = new ScriptedFetch(({ method, headers }) => {
      if (headers.get('Accept') === 'text/event-stream') return stream.response;
      return method === 'POST' ? json(SESSION, 201) : never();
    });
    const brain = new Brain({ fetch: network.fetch });
    const session = await brain.sessions.create();
    const reading = session.refresh();
    const streaming = session.stream().next();

    await brain.close();

    await expect(reading).rejects.toBeInstanceOf(BrainClosedError);
    await expect(streaming).rejects.toBeInstanceOf(BrainClosedError);
    expect(network.sent.slice(1).map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });
});

describe('an address and a key', () => {
  it('are looked at once, and what is wrong is said without the secret', () => {
    for (const [url, key] of [
      ['brain.example', TOKEN],
      ['ftp://brain.example', TOKEN],
      [`http://user:${TOKEN}@brain.example`, undefined],
      ['http://brain.example/?tenant=a', TOKEN],
      ['http://brain.example', `${TOKEN}\n`],
    ] as const) {
      expect(() => new Brain(url, key)).toThrow(TypeError);
      expect(() => new Brain(url, key)).not.toThrow(TOKEN);
    }
  });

  it('may have a path in front of all others', async () => {
    const network = new ScriptedFetch(() => json({ sessions: [] }));

    await new Brain({ baseUrl: 'https://example.test/brain/', token: TOKEN, fetch: network.fetch }).list();

    expect(network.lines).toEqual(['GET /brain/sessions']);
    expect(network.sent[0]?.headers.get('Authorization')).toBe(`Bearer ${TOKEN}`);
  });

  it('never lead elsewhere by an id that is made of dots', async () => {
    const network = new ScriptedFetch(() => json({}));
    const brain = new Brain({ fetch: network.fetch });

    for (const id of ['', '.', '..']) await expect(brain.sessions.get(id)).rejects.toThrow(TypeError);
    await brain.sessions.get('a/../b').catch(() => undefined);

    expect(network.lines).toEqual(['GET /v1/sessions/a%2F..%2Fb']);
  });

  it('are in no error', async () => {
    const network = new ScriptedFetch(() => Promise.reject(new TypeError(`fetch failed for Bearer ${TOKEN}`)));
    const failure = await new Brain({ token: TOKEN, fetch: network.fetch }).create({ harness: 'chat', config: { model: 'demo/echo' } }).catch((error: unknown) => error);

    expect(failure).not.toBeInstanceOf(BrainError);
    expect((failure as Error).message).not.toContain(TOKEN);
  });
});
