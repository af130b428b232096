/** Requests over a network that fails: what is sent again, under which key, and what the caller hears. */
import { describe, expect, it } from 'vitest';
import { Brain, BrainAbortError, BrainConnectionError, BrainError, BrainTimeoutError, httpEnv } from '../../client/index.ts';
import type { Session } from '../../client/session.ts';
import { json, lost, never, refusal, ScriptedFetch, SESSION, type FetchScript } from '../support/scripted-fetch.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

interface Scene {
  readonly session: Session;
  readonly network: ScriptedFetch;
  readonly clock: SimulatedClock;
}

/** A handle, after whose creation the script begins. */
async function scene(script: FetchScript): Promise<Scene> {
  const network = new ScriptedFetch((request, index) => (request.path === '/v1/sessions' ? json(SESSION, 201) : script(request, index - 1)));
  const clock = new SimulatedClock();
  const session = await new Brain({ token: 'sk-secret-of-this-test', fetch: network.fetch, clock }).sessions.create();
  return { session, network, clock };
}

const MUTATIONS: Readonly<Record<string, (session: Session, key?: { readonly idempotencyKey: string }) => Promise<unknown>>> = {
  send: (session, key) => session.send('hello', key),
  submit: (session, key) => session.submit('hello', key),
  interrupt: (session, key) => session.interrupt(key),
  resume: (session, key) => session.resume(key),
  end: (session, key) => session.end(key),
  changeMetadata: (session, key) => session.changeMetadata({ a: 'b' }, key),
  delete: (session, key) => session.delete(key),
};

describe('an option that cannot be meant', () => {
  const type = { schema: {}, parse: (value: unknown) => value };

  it.each<readonly [string, object]>([
    ...[Number.NaN, -1, '5', null].map((timeoutMs) => ['timeoutMs', { timeoutMs }] as const),
    ...['', 'a\nb', 'k'.repeat(257), 'é'.repeat(129), 7].map((idempotencyKey) => ['idempotencyKey', { idempotencyKey }] as const),
    ...[{}, 'now', null].map((signal) => ['signal', { signal }] as const),
    ...[Number.NaN, 'a', -1, 1.5].map((maxRetries) => ['maxRetries', { output: { type, maxRetries } }] as const),
    ['idempotencyKey', { idempotencyKey: 'k'.repeat(256), output: { type } }],
  ])('%s is refused by its name, and nothing is sent: %j', async (name, options) => {
    const { session, network } = await scene(() => json({}));

    await expect(session.send('hello', options)).rejects.toThrow(TypeError);
    await expect(session.send('hello', options)).rejects.toThrow(name);
    expect(network.sent).toHaveLength(1);
  });

  it('keeps a create from declaring anything', async () => {
    const network = new ScriptedFetch(() => json(SESSION, 201));
    const shop = httpEnv({ name: 'shop', url: 'https://tools.example', tools: [] });

    await expect(new Brain({ fetch: network.fetch }).sessions.create({ environments: [shop] }, { idempotencyKey: '' })).rejects.toThrow(/idempotencyKey/);
    expect(network.sent).toEqual([]);
  });
});

describe('a server that is not reached', () => {
  it('is told by its origin and by the innermost cause, without the token and the path', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (const [cause, reason] of [[refused, 'ECONNREFUSED'], [new AggregateError([refused]), 'ECONNREFUSED'], [new Error('sent sk-secret-of-this-test'), 'what it said holds the key'], [undefined, 'fetch failed']] as const) {
      const brain = new Brain({ baseUrl: 'http://brain.example:81/under', token: 'sk-secret-of-this-test', fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) });

      await expect(brain.sessions.create()).rejects.toMatchObject({ message: `Brain was not reached at http://brain.example:81, or was lost before its answer (${reason})` });
    }
  });
});

describe('what changes something', () => {
  it.each(Object.entries(MUTATIONS))('%s is sent once, and an error of the connection tells the key to send it with again', async (_name, call) => {
    const { session, network } = await scene(lost);

    const failure = await call(session).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(BrainConnectionError);
    expect(network.sent).toHaveLength(2);
    expect((failure as BrainConnectionError).idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    expect(network.keys[1]).toBe((failure as BrainConnectionError).idempotencyKey);
  });

  it.each(Object.entries(MUTATIONS))('%s takes a key, and no two have the same one by themselves', async (_name, call) => {
    const { session, network } = await scene(() => json(SESSION));

    await call(session, { idempotencyKey: 'mine-é' });
    await call(session);
    await call(session);

    expect(Buffer.from(network.keys[1] ?? '', 'latin1').toString()).toBe('mine-é');
    expect(new Set(network.keys).size).toBe(4);
  });

  it('is not sent again after an answer that is not of Brain: nobody knows what became of it', async () => {
    const { session, network } = await scene(() => new Response('<h1>Bad gateway</h1>', { status: 502 }));

    await expect(session.send('hello')).rejects.toMatchObject({ name: 'BrainConnectionError', status: 502 });
    expect(network.sent).toHaveLength(2);
  });

  it('S-093: never becomes a send where it was a submission, whatever the answer', async () => {
    for (const answer of [lost, () => refusal('session_busy', 409, { retryable: true }), () => refusal('draining', 503, { retryable: true }), () => refusal('idempotency_ambiguous', 409)]) {
      const { session, network } = await scene(answer);

      await expect(session.submit('hello')).rejects.toThrow();

      expect(network.sent.slice(1).map(({ headers }) => headers.get('Prefer'))).toEqual(['respond-async']);
    }
  });

  it('S-100: refuses a type for the answer of a submission, and sends nothing', async () => {
    const { session, network } = await scene(() => json({ session_id: SESSION.session_id, sequence: 4 }, 202));

    // @ts-expect-error a submission has no output
    await expect(session.submit('hello', { output: { type: { schema: {}, parse: (value: unknown) => value } } })).rejects.toThrow(TypeError);
    expect(network.sent).toHaveLength(1);
  });
});

describe('a read', () => {
  it('is sent again a few times', async () => {
    const { session, network, clock } = await scene((_, index) => (index < 2 ? lost() : json({ ...SESSION, status: 'running' })));
    const reading = session.refresh();
    await clock.advance(1_200);

    expect((await reading).status).toBe('running');
    expect(network.sent).toHaveLength(4);
  });

  it('fails in the end', async () => {
    const { session, network, clock } = await scene(() => refusal('draining', 503, { retryable: true }));
    const reading = session.refresh().catch((error: unknown) => error);
    await clock.advance(60_000);

    expect(await reading).toMatchObject({ code: 'draining', retryable: true });
    expect(network.sent).toHaveLength(4);
  });

  it('is not sent again after a refusal', async () => {
    const { session, network } = await scene(() => refusal('not_found', 404));

    await expect(session.refresh()).rejects.toMatchObject({ code: 'not_found', status: 404 });
    expect(network.sent).toHaveLength(2);
  });
});

describe('time', () => {
  it('bounds a request where the caller says so, and the error tells the key', async () => {
    const { session, network, clock } = await scene(never);
    const sending = session.send('hello', { timeoutMs: 90_000 }).catch((error: unknown) => error);
    await clock.advance(89_999);
    expect(network.sent[1]?.signal.aborted).toBe(false);

    await clock.advance(1);

    expect(await sending).toBeInstanceOf(BrainTimeoutError);
    expect(await sending).toMatchObject({ idempotencyKey: network.keys[1] });
    expect(clock.timerCount).toBe(0);
  });

  it('passes while the machine sleeps', async () => {
    const { session, clock } = await scene(never);
    const sending = session.send('hello', { timeoutMs: 3_600_000 }).catch((error: unknown) => error);
    await clock.advance(1_000);

    clock.setWall(clock.now() + 8 * 3_600_000);
    await clock.advance(5_000);

    expect(await sending).toBeInstanceOf(BrainTimeoutError);
  });

  it('is not lengthened by a clock that is set back', async () => {
    const { session, clock } = await scene(never);
    const sending = session.send('hello', { timeoutMs: 60_000 }).catch((error: unknown) => error);

    clock.setWall(0);
    await clock.advance(60_000);

    expect(await sending).toBeInstanceOf(BrainTimeoutError);
  });

  it('has no bound of its own', async () => {
    const { session, network, clock } = await scene(never);
    void session.send('hello').catch(() => undefined);
    await clock.advance(24 * 3_600_000);

    expect(network.sent[1]?.signal.aborted).toBe(false);
  });
});

describe('a signal', () => {
  it('ends a wait with an AbortError that has its reason', async () => {
    const { session, network } = await scene(never);
    const controller = new AbortController();
    const ending = session.end({ signal: controller.signal });
    controller.abort('enough');

    await expect(ending).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    await expect(ending).rejects.toBeInstanceOf(BrainAbortError);
    expect(network.sent[1]?.signal.aborted).toBe(true);
  });
});

describe('an error', () => {
  it('says the code, the status, whether to try again, and the details', async () => {
    const { session } = await scene(() => refusal('invalid_request', 400, { details: { field: '/input' } }));
    const failure = await session.send('').catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(BrainError);
    expect(failure).toMatchObject({ code: 'invalid_request', status: 400, retryable: false, details: { field: '/input' }, message: 'invalid_request: it is invalid_request' });
  });
});
