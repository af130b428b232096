/** Environments are set up while their session is created. */
import { describe, expect, it } from 'vitest';
import { FRAME_PAYLOAD_BYTES_MAX } from '../../../storage/frame.ts';
import { brainWith, createKey, createOn, recordsOf } from '../../support/declared-environments.ts';
import { TENANT } from '../../support/living-brain.ts';
import { ACCEPTED, failure, unknown, willing, type SentToEnvironment } from '../../support/scripted-environments.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const waits = (): 'waits' => 'waits';

describe('a setup', () => {
  it('S-032: is on the device when it is sent, and is sent as it was recorded', async () => {
    const brain = await brainWith(['home'], waits);
    void createOn(brain, ['home']).catch(() => undefined);
    const { call } = await brain.environments.first('setup');

    const started = (await brain.afterPowerCut(call.operation.session_id)).at(-1);
    expect(started).toMatchObject({ type: 'environment_setup_started', state: 'creating', data: { environment: 'home' } });
    expect(call).toMatchObject({
      tenant: TENANT,
      environment: { name: 'home', driver: 'http', url: 'http://home.test' },
      operation: { environment: 'home', sequence: started?.sequence, request: { type: 'setup', configuration: { room: 7 } } },
      credential: null,
      listener: null,
    });
  });

  it('tells its driver that its answer is on record, or that nobody knows where the record fails', async () => {
    const brain = await brainWith(['home'], waits);
    const told: string[] = [];
    for (const fails of [false, true]) {
      const created = createOn(brain, ['home']).catch(() => undefined);
      await quiescence();
      const sent = brain.environments.sent.all.at(-1);
      if (fails) brain.disk.plan = ({ kind, path }) => (kind === 'sync' && path.includes('journal') ? { fails: 'EIO' } : undefined);
      sent?.answer(ACCEPTED);
      await created;
      await quiescence();
      told.push(...(sent?.records ?? []));
    }
    expect(told).toEqual(['recorded', 'journal_unavailable']);
  });

  it('is asked of all environments at once, and the create is answered when the last is over', async () => {
    const brain = await brainWith(['home', 'laptop'], waits);
    const created = createOn(brain, ['home', 'laptop']);
    const home = await brain.environments.first('setup', 'home');
    const laptop = await brain.environments.first('setup', 'laptop');
    expect([home.driver, laptop.driver]).toEqual(['http', 'host']);
    const { session_id } = home.call.operation;
    laptop.answer(ACCEPTED);
    await quiescence();

    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'creating', resident: true });
    await expect(brain.sessions.send(TENANT, session_id, 'hello')).rejects.toMatchObject({ code: 'session_busy' });
    home.answer({ type: 'result', output: { door: 'open' } });

    expect(await created).toMatchObject({ session_id, status: 'idle', environments: ['home', 'laptop'] });
    expect((await recordsOf(brain, session_id, 'environment_setup_ended')).map(({ data }) => data.receipt)).toEqual([
      ACCEPTED,
      { type: 'result', output: { door: 'open' } },
    ]);
    expect([home.closes, laptop.closes]).toEqual([[null], [null]]);
  });

  it('S-132: stays as it is while the session rests', async () => {
    const brain = await brainWith(['home']);
    const { session_id } = await createOn(brain, ['home']);
    await brain.sessions.send(TENANT, session_id, 'hello');
    await quiescence();
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ resident: false });
    const next = await brain.restart();
    await next.sessions.send(TENANT, session_id, 'hello again');

    expect(next.environments.asked).toEqual(['setup home']);
  });

  it('counts its first answer alone', async () => {
    const brain = await brainWith(['home'], waits);
    const created = createOn(brain, ['home']);
    const sent = await brain.environments.first('setup');
    sent.answer(ACCEPTED);
    sent.answer(failure('no'));
    const { session_id } = await created;

    expect(await brain.types(session_id)).toEqual(['session_created', 'environment_setup_started', 'environment_setup_ended', 'session_ready']);
  });
});

interface Outcome {
  readonly what: string;
  readonly answer: (sent: SentToEnvironment) => ReturnType<typeof willing>;
  readonly outcome: 'failed' | 'unknown';
  readonly code: string;
}

type Refusal = Error & { readonly details: { readonly session_id: string } };

async function refusalOf(created: Promise<unknown>): Promise<Refusal> {
  return created.then(
    () => {
      throw new Error('it was created');
    },
    (error: unknown) => error as Refusal,
  );
}

function fault(): never {
  throw new Error('a fault');
}

const OUTCOMES: readonly Outcome[] = [
  { what: 'an environment that says no', answer: () => failure('no_room', 'all rooms\nare taken'), outcome: 'failed', code: 'no_room' },
  { what: 'a lost connection', answer: () => unknown(), outcome: 'unknown', code: 'no_answer' },
  { what: 'a result that is too large', answer: () => ({ type: 'result', output: 'x'.repeat(FRAME_PAYLOAD_BYTES_MAX) }), outcome: 'unknown', code: 'not_recordable' },
  { what: 'a driver that throws', answer: fault, outcome: 'unknown', code: 'internal' },
];

describe('a create whose environment is not set up', () => {
  it.each(OUTCOMES)('says which and why, and leaves the session failed: $what', async ({ answer, outcome, code }) => {
    const brain = await brainWith(['home', 'laptop'], (sent) => (sent.driver === 'http' ? answer(sent) : ACCEPTED));
    const refused = await refusalOf(createOn(brain, ['home', 'laptop']));
    const { session_id } = refused.details;

    expect(refused).toMatchObject({ code: 'environment_failed', message: expect.stringMatching(new RegExp(`home: .+ \\(${code}\\)`)) as unknown });
    expect(refused.message).not.toMatch(/\n|laptop/);
    expect(await recordsOf(brain, session_id, 'environment_setup_failed')).toMatchObject([{ data: { outcome, code } }]);
    expect((await brain.types(session_id)).at(-1)).toBe('session_failed');
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'failed', resident: false });
    brain.environments.script = willing;
    await brain.sessions.end(TENANT, session_id);
    await brain.sessions.delete(TENANT, session_id);
    const tornDown = outcome === 'failed' ? ['teardown laptop'] : ['teardown home', 'teardown laptop'];
    expect(brain.environments.asked.slice(2)).toEqual(['detach laptop', ...tornDown]);
  });
});

describe('a setup that is not answered', () => {
  it.each([
    { what: 'may have been carried out', deadline: 'timeout', mayHaveArrived: true, outcome: 'unknown', code: 'timeout' },
    { what: 'may have been carried out by a host that is gone', deadline: 'unknown', mayHaveArrived: true, outcome: 'unknown', code: 'no_answer' },
    { what: 'has failed where nobody took it on', deadline: 'timeout', mayHaveArrived: false, outcome: 'failed', code: 'timeout' },
  ] as const)('$what when its time is up, and a late answer changes nothing', async ({ deadline, mayHaveArrived, outcome, code }) => {
    const brain = await brainWith(['laptop'], waits, { limits: { toolMs: 1_000 } });
    const created = createOn(brain, ['laptop']);
    const refused = expect(created).rejects.toMatchObject({ code: 'environment_failed' });
    const sent = await brain.environments.first('setup');
    Object.assign(sent, { atDeadline: deadline, mayHaveArrived });
    await brain.clock.advance(999);
    expect(sent.closes).toEqual([]);
    await brain.clock.advance(1);
    await refused;
    sent.answer(ACCEPTED);
    await quiescence();

    const { session_id } = sent.call.operation;
    const [failed] = await recordsOf(brain, session_id, 'environment_setup_failed');
    expect(failed?.data).toMatchObject({ outcome, code });
    expect(await recordsOf(brain, session_id, 'environment_setup_ended')).toEqual([]);
    // What nobody took on is withdrawn before anything is recorded of it, and there is nobody to tell.
    expect(sent.closes).toEqual([mayHaveArrived ? failed?.sequence : null]);
    expect(brain.clock.timerCount).toBe(0);
  });

  it('is waited for without a bound where the server has none', async () => {
    const brain = await brainWith(['home'], waits, { limits: { toolMs: null } });
    const created = createOn(brain, ['home']);
    const sent = await brain.environments.first('setup');
    await brain.clock.advance(86_400_000);
    sent.answer(ACCEPTED);

    expect(await created).toMatchObject({ status: 'idle' });
  });
});

describe('the credential of an environment', () => {
  const SECRET = 'a secret of the environment';

  it('is the session’s own, and is in nothing that is recorded of its answers', async () => {
    const brain = await brainWith(['home', 'shed'], ({ call }) => (call.operation.environment === 'home' ? { type: 'result', output: { said: SECRET } } : failure(SECRET, `not ${SECRET}`)), { credential: SECRET });
    const error: unknown = await createOn(brain, ['home', 'shed']).catch((thrown: unknown) => thrown);
    const [first] = brain.environments.sent.all;

    expect(first?.call.credential).toBe(SECRET);
    expect(error).toMatchObject({ code: 'environment_failed' });
    const told = JSON.stringify([await brain.journal(first?.call.operation.session_id ?? ''), String(error), brain.log]);
    expect(told).toContain('[secret removed]');
    expect(told).not.toContain(SECRET);
  });

  it('that cannot be read fails the setup, and nothing is sent', async () => {
    const brain = await brainWith(['home'], willing, { credential: SECRET });
    brain.disk.plan = ({ kind, path }) => (kind === 'read' && path.includes('/sessions/') && !path.includes('journal') ? { fails: 'EIO' } : undefined);

    await expect(createOn(brain, ['home'])).rejects.toMatchObject({ code: 'environment_failed', message: expect.stringContaining('credential key cannot be read') as unknown });
    expect(brain.environments.asked).toEqual([]);
  });
});

describe('a keyed create', () => {
  it('S-152: whose environment is not set up gets the same answer again, also when its session is deleted', async () => {
    const brain = await brainWith(['home'], ({ call }) => (call.operation.request.type === 'setup' ? failure('no_room') : ACCEPTED));
    const first = await refusalOf(createOn(brain, ['home'], createKey()));
    const { session_id } = first.details;
    const answer = { code: 'environment_failed', message: first.message, details: { session_id } };
    const again = createKey();
    await expect(brain.sessions.repeated(TENANT, null, again)).rejects.toMatchObject(answer);
    expect(again.isReplayed).toBe(true);

    const next = await brain.restart();
    await expect(createOn(next, ['home'], createKey())).rejects.toMatchObject(answer);
    await next.sessions.delete(TENANT, session_id);
    await expect(createOn(next, ['home'], createKey())).rejects.toMatchObject(answer);
    const last = await next.restart();
    await expect(last.sessions.repeated(TENANT, null, createKey())).rejects.toMatchObject(answer);
    expect(last.environments.asked).toEqual(['setup home']);
  });

  it('is in progress while its environments are set up, and shows the session as it was then ever after', async () => {
    const brain = await brainWith(['home'], waits);
    const created = createOn(brain, ['home'], createKey());
    const sent = await brain.environments.first('setup');
    await expect(createOn(brain, ['home'], createKey())).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    sent.answer(ACCEPTED);
    const first = await created;

    expect(await createOn(brain, ['home'], createKey())).toEqual({ ...first, resident: false });
  });

  it('S-154: that was killed in a setup is ambiguous, and names the session, which is failed', async () => {
    const brain = await brainWith(['home'], waits);
    void createOn(brain, ['home'], createKey()).catch(() => undefined);
    const { session_id } = (await brain.environments.first('setup')).call.operation;
    const next = await brain.restart();

    await expect(createOn(next, ['home'], createKey())).rejects.toMatchObject({ code: 'idempotency_ambiguous', details: { session_id } });
    expect(await next.sessions.get(TENANT, session_id)).toMatchObject({ status: 'failed' });
    expect(await recordsOf(next, session_id, 'environment_setup_failed')).toMatchObject([{ data: { outcome: 'unknown' } }]);
    next.environments.script = willing;
    await next.sessions.delete(TENANT, session_id);
    await expect(createOn(next, ['home'], createKey())).rejects.toMatchObject({ code: 'idempotency_ambiguous', details: { session_id } });
    expect(next.environments.asked).toEqual(['setup home', 'teardown home']);
  });
});
