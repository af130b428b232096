/** Tools that run in the process of the client, called by a server. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BrainClosedError, BrainHostLostError, hostEnv, httpEnv, tool, ToolError, type Session, type Tool, type ToolContext } from '../../client/index.ts';
import { allOf } from '../support/all-of.ts';
import { gate } from '../support/gate.ts';
import { OwnServer } from '../support/own-server.ts';

let server: OwnServer;
beforeEach(async () => {
  server = await OwnServer.start();
});
afterEach(async () => server.dispose());

function adding(run: (input: { readonly a: number; readonly b: number }, context: ToolContext) => unknown = ({ a, b }) => a + b): Tool {
  return tool({ name: 'sum', description: 'Adds two numbers.', input: z.object({ a: z.number(), b: z.number().default(5) }), run });
}

async function ask(session: Session, what: string): Promise<string | undefined> {
  return (await session.send(what)).result?.text;
}

/** The outcome and the output of each call, in order. */
async function results(session: Session): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for await (const { type, data } of session.events()) if (type === 'tool_call_ended') seen.push([data.outcome, data.output]);
  return seen;
}

/** A tool that runs until it is told to stop, or until the test ends it. */
function hanging(obeys: boolean): { readonly tool: Tool; readonly called: Promise<ToolContext>; readonly release: () => void } {
  const called = gate();
  const released = gate();
  let told: ToolContext | undefined;
  return {
    called: called.opened.then(() => told as ToolContext),
    release: () => released.open(),
    tool: tool({
      name: 'hang',
      description: 'Hangs.',
      input: { type: 'object' },
      run: (_, context) => {
        told = context;
        called.open();
        if (!obeys) return released.opened;
        return new Promise((_resolve, reject) => context.signal.addEventListener('abort', () => reject(new Error('stopped'))));
      },
    }),
  };
}

describe('a tool of the own process', () => {
  it('is called with what its type makes of the input, and its result is the answer', async () => {
    const session = await server.client().sessions.create({ environments: [hostEnv({ name: 'calculator', tools: [adding()] })] });

    expect(session.info).toMatchObject({ environments: ['calculator'], tools: ['sum'] });
    expect(await ask(session, 'call sum {"a":2}')).toContain('7');
    expect(await results(session)).toEqual([['ok', 7]]);
  });

  it('may stand alone in a create, and a further create may bring another beside it', async () => {
    const brain = server.client();
    const first = await brain.sessions.create({ tools: [adding()] });
    const second = await brain.sessions.create({ tools: [tool({ name: 'shout', description: 'Shouts.', input: z.object({ text: z.string() }), run: ({ text }) => text.toUpperCase() })] });

    expect([first.info.tools, second.info.tools]).toEqual([['sum'], ['shout']]);
    expect([await ask(first, 'call sum {"a":1,"b":1}'), await ask(second, 'call shout {"text":"hey"}')]).toEqual([expect.stringContaining('2'), expect.stringContaining('HEY')]);
  });

  it('does not come back after the server refused it: the next create is not burdened with it', async () => {
    const brain = server.client();
    const refused = tool({ name: 'no name at all', description: 'x', input: { type: 'object' }, run: () => null });
    await expect(brain.sessions.create({ tools: [refused] })).rejects.toMatchObject({ code: 'invalid_request' });

    expect(await ask(await brain.sessions.create({ tools: [adding()] }), 'call sum {"a":2}')).toContain('7');
  });

  it('may have any number of others before it, each in a create of its own, and the first is still served', async () => {
    const brain = server.client();
    const named = (name: string): Tool => tool({ name, description: 'Says its name.', input: { type: 'object' }, run: () => name });
    const many = (from: number): Tool[] => Array.from({ length: 100 }, (_, index) => named(`t${from + index}`));
    const first = await brain.sessions.create({ tools: many(0) });
    const second = await brain.sessions.create({ tools: many(100) });

    expect([await ask(first, 'call t7 {}'), await ask(second, 'call t107 {}')]).toEqual([expect.stringContaining('t7'), expect.stringContaining('t107')]);
  });

  it('is there for its create, though others bring theirs at the same time', async () => {
    const brain = server.client();
    const named = (name: string): Tool => tool({ name, description: 'Says its name.', input: { type: 'object' }, run: () => name });
    const sessions = await Promise.all(['one', 'two', 'three', 'four'].map((name) => brain.sessions.create({ tools: [named(name)] })));

    expect(sessions.map(({ info }) => info.tools)).toEqual([['one'], ['two'], ['three'], ['four']]);
    expect(await ask(sessions[0] as Session, 'call one {}')).toContain('one');
  });

  it('is the one that the session brought along, though another create brought one of the same name', async () => {
    const brain = server.client();
    const one = await brain.sessions.create({ tools: [adding(() => 'of the first')] });
    const two = await brain.sessions.create({ tools: [adding(() => 'of the second')] });
    await ask(one, 'call sum {"a":1}');
    await ask(two, 'call sum {"a":1}');

    expect([await results(one), await results(two)]).toEqual([[['ok', 'of the first']], [['ok', 'of the second']]]);
  });

  it('says where it is, and what it has to say while it runs', async () => {
    const seen: ToolContext[] = [];
    const session = await server.client().sessions.create({
      tools: [
        adding(async (_, context) => {
          seen.push(context);
          context.progress({ message: 'half', fraction: 0.5 });
          await context.emit('calc.began', { with: 1 });
          return null;
        }),
      ],
    });
    await ask(session, 'call sum {"a":1}');
    const events = await allOf(session.events());
    const call = events.find(({ type }) => type === 'tool_call_started');

    expect(seen).toMatchObject([{ sessionId: session.id, sequence: call?.sequence, tool: 'sum', signal: { aborted: false } }]);
    expect(events.find(({ type }) => type === 'calc.began')).toMatchObject({ data: { with: 1 }, origin: { kind: 'tool', sequence: call?.sequence } });
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no luck')), /no luck \(tool_failed\)/],
    ['throws with a code', () => Promise.reject(new ToolError('no seats', { code: 'sold_out', retryable: true })), /no seats \(sold_out\).*again/],
    ['returns what is no JSON', () => 7n, /cannot be said as JSON/],
  ])('that %s has failed, in words, and without a stack', async (_, run, words) => {
    const session = await server.client().sessions.create({ tools: [adding(run)] });
    await ask(session, 'call sum {"a":1}');
    const [[outcome, output] = []] = (await results(session)) as [[string, unknown]];

    expect(outcome).toBe('error');
    expect(JSON.stringify(output)).toMatch(words);
    expect(JSON.stringify(await allOf(session.events()))).not.toMatch(/hosts\.test|\.ts:\d/);
  });

  it('goes on after a refused event of its own that it does not wait for', async () => {
    const refused: Promise<unknown>[] = [];
    const session = await server.client().sessions.create({
      tools: [
        adding((_, context) => {
          const emitted = context.emit('no type at all', {});
          refused.push(emitted.then(() => 'taken', (error: unknown) => error));
          void context.emit('no type at all', {});
          return 1;
        }),
      ],
    });

    expect(await ask(session, 'call sum {"a":1}')).toContain('1');
    expect(await refused[0]).toMatchObject({ code: 'reserved_type' });
  });

  it('does not run on an input that its type refuses where the JSON Schema does not', async () => {
    const inputs: unknown[] = [];
    const even = tool({
      name: 'halve',
      description: 'Halves.',
      input: z.object({ n: z.number().refine((n) => n % 2 === 0, { error: 'must be even' }) }),
      run: (input) => void inputs.push(input),
    });
    const session = await server.client().sessions.create({ tools: [even] });
    await ask(session, 'call halve {"n":3}');

    expect(inputs).toEqual([]);
    expect(await results(session)).toEqual([['error', expect.stringContaining('n: must be even')]]);
  });

  it('whose result is too long for Brain has an end that says so', async () => {
    const session = await server.client().sessions.create({ tools: [adding(() => 'x'.repeat(9 * 1024 * 1024))] });
    await ask(session, 'call sum {"a":1}');

    expect(await results(session)).toEqual([['error', expect.stringMatching(/does not take its result/)]]);
  });
});

describe('the life of a host', () => {
  it('runs the hooks of its environment: at the create, the end and the delete', async () => {
    const told: unknown[] = [];
    const hook = (name: string) => ({ environment, configuration }: { readonly environment: string; readonly configuration: unknown }) => void told.push([name, environment, configuration]);
    const session = await server.client().sessions.create({
      environments: [hostEnv({ name: 'box', tools: [], configuration: { size: 2 }, setup: hook('setup'), detach: hook('detach'), teardown: hook('teardown') })],
    });
    await session.end();
    await session.delete();

    expect(told).toEqual([['setup', 'box', { size: 2 }], ['detach', 'box', {}], ['teardown', 'box', {}]]);
  });

  it('S-210: keeps its connection after a create that failed: the first sessions and the next go on', async () => {
    const brain = server.client();
    let fails = false;
    const box = hostEnv({
      name: 'box',
      tools: [adding()],
      setup: () => {
        if (fails) throw new Error('no room');
      },
    });
    const first = await brain.sessions.create({ environments: [box] });
    fails = true;
    await expect(brain.sessions.create({ environments: [box] })).rejects.toMatchObject({ code: 'environment_failed', message: expect.stringContaining('no room') });
    await expect(brain.sessions.create({ environments: [box], tools: ['nobody-has-it'] })).rejects.toMatchObject({ code: 'unknown_tool' });

    expect(await ask(first, 'call sum {"a":1}')).toContain('6');
  });

  it('S-209, S-211: keeps one connection through creates, and after the end of the last session, until it is closed', async () => {
    const streams: string[] = [];
    const brain = server.client({
      fetch: (url, init) => {
        if (url.includes('/commands')) streams.push(url);
        return fetch(url, init);
      },
    });
    const box = hostEnv({ name: 'box', tools: [adding()] });
    for (let round = 0; round < 2; round += 1) {
      const session = await brain.sessions.create({ environments: [box] });
      await session.end();
      await session.delete();
    }
    const other = await server.client().sessions.create({ environments: ['box'] });

    expect(await ask(other, 'call sum {"a":1}')).toContain('6');
    expect(streams).toHaveLength(1);
  });

  it('has one connection for all environments of a client that has a name', async () => {
    const streams: string[] = [];
    const brain = server.client({
      host: 'laptop',
      fetch: (url, init) => {
        if (url.includes('/commands')) streams.push(new URL(url).pathname);
        return fetch(url, init);
      },
    });
    const session = await brain.sessions.create({ environments: [hostEnv({ name: 'one', tools: [adding()] }), hostEnv({ name: 'two', tools: [] })], tools: ['sum'] });

    expect(session.info.environments).toEqual(['one', 'two']);
    expect(streams).toEqual(['/v1/hosts/laptop/commands']);
  });

  it('S-158: sends the same create from another process of the program, under the same key', async () => {
    const bodies: unknown[] = [];
    const create = async (): Promise<string> => {
      const brain = server.client({
        fetch: (url, init) => {
          if (init.method === 'POST' && url.endsWith('/v1/sessions')) bodies.push(init.body);
          return fetch(url, init);
        },
      });
      const { id } = await brain.sessions.create({ tools: [adding()] }, { idempotencyKey: 'mine' });
      await brain.close();
      return id;
    };

    expect(await create()).toBe(await create());
    expect(bodies[0]).toBe(bodies[1]);
    expect(bodies[0]).toBe('{"tools":["sum"],"environments":["own-tools"]}');
  });

  it('S-202: lets a later process of the program tear down what an earlier one had set up', async () => {
    const earlier = server.client();
    const { id } = await earlier.sessions.create({ tools: [adding()] });
    await earlier.close();
    const later = server.client();
    await later.sessions.create({ tools: [adding()] });

    const session = await later.sessions.get(id);
    await session.end();
    await session.delete();
    await expect(later.sessions.get(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('goes on after a restart of the server, without a word to it', async () => {
    const brain = server.client();
    const session = await brain.sessions.create({ tools: [adding()] });
    await server.restart();

    expect(await ask(session, 'call sum {"a":2}')).toContain('7');
  });

  it('serves again under a new process what an earlier one left', async () => {
    const first = server.client();
    const { id } = await first.sessions.create({ environments: [hostEnv({ name: 'box', tools: [adding()] })] });
    await first.close();
    const second = server.client();
    await second.serve([hostEnv({ name: 'box', tools: [adding(() => 'from the second')] })]);

    expect(await ask(await second.sessions.get(id), 'call sum {"a":2}')).toContain('from the second');
  });

  it('stops, says so, and never takes the name back when another process took it', async () => {
    const lost: Error[] = [];
    const first = server.client({ onError: (error) => void lost.push(error) });
    const box = hostEnv({ name: 'box', tools: [adding(() => 'from the first')] });
    const session = await first.sessions.create({ environments: [box] });
    const second = server.client();
    await second.serve([hostEnv({ name: 'box', tools: [adding(() => 'from the second')] })]);
    await expect.poll(() => lost).toEqual([expect.any(BrainHostLostError)]);

    await expect(first.sessions.create({ environments: [box] })).rejects.toMatchObject({ name: 'BrainHostLostError', host: 'box' });
    expect(await ask(session, 'call sum {"a":1}')).toContain('from the second');
    expect(lost).toHaveLength(1);
  });

  it('S-213: aborts the signal of a call that is cancelled, and of one that runs out of time', async () => {
    await server.dispose();
    server = await OwnServer.start({ BRAIN_MAX_TOOL_SECS: '1' });
    const brain = server.client();
    for (const [how, outcome] of [['interrupt', 'cancelled'], ['wait', 'timeout']] as const) {
      const { tool: hang, called } = hanging(true);
      const session = await brain.sessions.create({ tools: [hang] });
      const turn = session.send('call hang {}');
      const { signal } = await called;
      if (how === 'interrupt') await session.interrupt();
      await turn;

      expect(signal.aborted).toBe(true);
      expect(await results(session)).toEqual([[outcome, expect.anything()]]);
    }
  });

  it('S-205, S-208, S-214: is closed without waiting for a tool that does not listen, which is told; the session stays', async () => {
    const brain = server.client();
    const { tool: hang, called, release } = hanging(false);
    const session = await brain.sessions.create({ environments: [hostEnv({ name: 'box', tools: [hang] })] });
    const turn = session.submit('call hang {}');
    const { signal } = await called;
    await turn;
    await brain.close();
    await brain.close();
    await expect(brain.serve([])).resolves.toBeUndefined();
    await expect(brain.sessions.create({ environments: [hostEnv({ name: 'box', tools: [hang] })] })).rejects.toMatchObject({ name: 'BrainClosedError' });
    release();

    expect(signal.aborted).toBe(true);
    expect((await server.client().sessions.get(session.id)).status).toBe('running');
  });

  it('S-215: is of one client: another one made of it by its token serves for itself, whichever of the two is closed', async () => {
    for (const closed of ['parent', 'child'] as const) {
      const parent = server.client();
      const clients = { parent, child: parent.withToken(undefined) };
      const serving = (name: 'parent' | 'child'): Promise<Session> =>
        clients[name].sessions.create({ environments: [hostEnv({ name: `${name}-of-${closed}`, tools: [adding()] })] });
      const sessions = { parent: await serving('parent'), child: await serving('child') };
      await clients[closed].close();

      const open = closed === 'parent' ? 'child' : 'parent';
      expect(await ask(sessions[open], 'call sum {"a":1}')).toContain('6');
      await expect(clients[closed].list()).rejects.toBeInstanceOf(BrainClosedError);
      await clients[open].close();
    }
  });

  it('S-224, S-227: passes its signal on to a child, whose turn is over when the call is', async () => {
    const brain = server.client();
    const child = await brain.sessions.create({ tools: ['wait'] });
    const began = gate();
    let error: unknown;
    const delegate = tool({
      name: 'delegate',
      description: 'Asks another agent.',
      input: { type: 'object' },
      run: async (_, { signal }) => {
        began.open();
        error = await child.send('wait 60 seconds', { signal }).catch((reason: unknown) => reason);
        throw error as Error;
      },
    });
    const session = await brain.sessions.create({ tools: [delegate] });
    const turn = session.send('call delegate {}');
    await began.opened;
    await expect.poll(async () => (await child.refresh()).status).toBe('running');
    await session.interrupt();

    expect((await turn).error?.code).toBe('cancelled');
    await expect.poll(() => error).toMatchObject({ name: 'AbortError', turn: { error: { code: 'cancelled' } } });
    expect((await child.refresh()).status).toBe('idle');
  });

  it('serves beside environments over HTTP, and refuses nothing of them', async () => {
    const shop = httpEnv({ name: 'shop', url: 'http://127.0.0.1:9', tools: [{ name: 'order', description: 'Orders.', inputSchema: { type: 'object' } }] });
    await expect(server.client().sessions.create({ environments: [shop, hostEnv({ name: 'box', tools: [adding()] })] })).rejects.toMatchObject({ code: 'environment_failed' });
  });
});
