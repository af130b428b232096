/** Environments are torn down where their session is deleted, and it stays where they are not. */
import { describe, expect, it } from 'vitest';
import { brainWith, createKey, createOn, deleteKey, endedOn, recordsOf } from '../../support/declared-environments.ts';
import { TENANT, type LivingBrain } from '../../support/living-brain.ts';
import { ACCEPTED, failure, unknown, willing, type EnvironmentScript } from '../../support/scripted-environments.ts';
import { quiescence } from '../../support/simulated-clock.ts';

/** Everything else is done at once; how a teardown is answered is the test's. */
function tearingDown(answer: EnvironmentScript): EnvironmentScript {
  return (sent) => (sent.call.operation.request.type === 'teardown' ? answer(sent) : ACCEPTED);
}

const waits = tearingDown(() => 'waits');

function teardowns(brain: LivingBrain): readonly string[] {
  return brain.environments.asked.filter((asked) => asked.startsWith('teardown'));
}

const GONE = { code: 'not_found' };

describe('the delete of a session', () => {
  it('S-202: tears each environment down and takes the session away when they are', async () => {
    const brain = await brainWith(['home', 'laptop'], waits);
    const session_id = await endedOn(brain, ['home', 'laptop']);
    const deleted = brain.sessions.delete(TENANT, session_id);
    const home = await brain.environments.first('teardown', 'home');
    (await brain.environments.first('teardown', 'laptop')).answer(ACCEPTED);
    await quiescence();
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended', resident: true });
    home.answer(ACCEPTED);

    await deleted;
    await expect(brain.sessions.get(TENANT, session_id)).rejects.toMatchObject(GONE);
    // What was taken away is removed when there is time.
    await quiescence();
    expect(brain.handles.openFiles).toEqual([]);
  });

  it('S-032: is on the device, with the teardown, when that is sent', async () => {
    const brain = await brainWith(['home'], waits);
    const session_id = await endedOn(brain, ['home']);
    void brain.sessions.delete(TENANT, session_id).catch(() => undefined);
    const { call } = await brain.environments.first('teardown');

    const last = (await brain.afterPowerCut(session_id)).slice(-2);
    expect(last.map(({ type }) => type)).toEqual(['session_delete_requested', 'environment_teardown_started']);
    expect(call.operation).toEqual({ session_id, environment: 'home', sequence: last[1]?.sequence, request: { type: 'teardown' } });
  });

  it.each([
    { what: 'fails', answer: failure('busy', 'a guest is there'), reason: 'home: a guest is there (busy)' },
    { what: 'is unknown', answer: unknown(), reason: 'home: the connection was lost (no_answer)' },
  ])('S-149, S-150: leaves the session with its records where a teardown $what, and only another delete tears down again', async ({ answer, reason }) => {
    const brain = await brainWith(['home', 'laptop'], tearingDown(({ driver }) => (driver === 'http' ? answer : ACCEPTED)));
    const session_id = await endedOn(brain, ['home', 'laptop']);

    const refused = { code: 'teardown_failed', message: expect.stringContaining(reason) as unknown, details: { session_id } };
    await expect(brain.sessions.delete(TENANT, session_id)).rejects.toMatchObject(refused);
    await quiescence();
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended', resident: false });
    const next = await brain.restart();
    expect(await next.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
    expect(await recordsOf(next, session_id, 'environment_teardown_failed')).toHaveLength(1);
    await quiescence();
    expect(teardowns(next)).toEqual(['teardown home', 'teardown laptop']);

    next.environments.script = willing;
    await next.sessions.delete(TENANT, session_id);
    expect(teardowns(next)).toEqual(['teardown home', 'teardown laptop', 'teardown home']);
    await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject(GONE);
  });

  it('says only what its own teardowns came to', async () => {
    const brain = await brainWith(['home'], tearingDown(() => failure('first')));
    const session_id = await endedOn(brain, ['home']);
    await brain.sessions.delete(TENANT, session_id).catch(() => undefined);
    brain.environments.script = () => failure('second');

    await expect(brain.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ message: expect.not.stringContaining('first') as unknown });
  });

  it('S-152: gives a repeat under its key the same answer, and another key another attempt', async () => {
    const brain = await brainWith(['home'], tearingDown(() => failure('busy')));
    const session_id = await endedOn(brain, ['home']);
    const first = (await brain.sessions.delete(TENANT, session_id, deleteKey()).catch((error: unknown) => error)) as Error;
    expect(first).toMatchObject({ code: 'teardown_failed' });
    const answer = { code: 'teardown_failed', message: first.message, details: { session_id } };
    brain.environments.script = willing;

    const again = deleteKey();
    await expect(brain.sessions.delete(TENANT, session_id, again)).rejects.toMatchObject(answer);
    expect(again.isReplayed).toBe(true);
    const next = await brain.restart();
    await expect(next.sessions.repeated(TENANT, session_id, deleteKey())).rejects.toMatchObject(answer);
    expect(teardowns(next)).toHaveLength(1);

    await next.sessions.delete(TENANT, session_id, deleteKey('another'));
    expect(teardowns(next)).toHaveLength(2);
    expect(await next.sessions.repeated(TENANT, session_id, deleteKey('another'))).toEqual({ answer: null });
    await expect(next.sessions.repeated(TENANT, session_id, deleteKey())).rejects.toMatchObject(answer);
  });

  it.each([
    { what: 'is done', answer: ACCEPTED, status: 'fulfilled', then: 'not_found' },
    { what: 'fails', answer: failure('busy'), status: 'rejected', then: 'teardown_failed' },
  ])('is busy while another tears down, sends nothing of its own, and has its key back: that $what', async ({ answer, status, then }) => {
    const brain = await brainWith(['home'], waits);
    const session_id = await endedOn(brain, ['home']);
    const first = brain.sessions.delete(TENANT, session_id, deleteKey('one'));
    const early = brain.sessions.delete(TENANT, session_id, deleteKey('two'));
    await expect(early).rejects.toMatchObject({ code: 'session_busy' });
    const sent = await brain.environments.first('teardown');
    await expect(brain.sessions.delete(TENANT, session_id, deleteKey('two'))).rejects.toMatchObject({ code: 'session_busy' });
    await expect(brain.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'session_busy' });
    await expect(brain.sessions.delete(TENANT, session_id, deleteKey('one'))).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    sent.answer(answer);

    expect((await Promise.allSettled([first])).map((settled) => settled.status)).toEqual([status]);
    expect(teardowns(brain)).toEqual(['teardown home']);
    brain.environments.script = tearingDown(() => answer);
    expect(await brain.sessions.repeated(TENANT, session_id, deleteKey('two'))).toBeNull();
    await expect(brain.sessions.delete(TENANT, session_id, deleteKey('two'))).rejects.toMatchObject({ code: then });
  });

  it('keeps the sealed credential of a session that stays', async () => {
    const brain = await brainWith(['home'], tearingDown(() => failure('busy')), { credential: 'a secret of the environment' });
    const session_id = await endedOn(brain, ['home']);
    await brain.sessions.delete(TENANT, session_id).catch(() => undefined);
    const next = await brain.restart();
    next.environments.script = willing;
    await next.sessions.delete(TENANT, session_id);

    expect(next.environments.sent.all.at(-1)?.call.credential).toBe('a secret of the environment');
  });
});

describe('a delete that was killed', () => {
  it('S-150: in a teardown leaves the session with that unknown, and its key ambiguous', async () => {
    const brain = await brainWith(['home', 'laptop'], waits);
    const session_id = await endedOn(brain, ['home', 'laptop']);
    void brain.sessions.delete(TENANT, session_id, deleteKey()).catch(() => undefined);
    (await brain.environments.first('teardown', 'laptop')).answer(ACCEPTED);
    await quiescence();
    const next = await brain.restart();

    expect(await next.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
    expect(await recordsOf(next, session_id, 'environment_teardown_failed')).toMatchObject([{ data: { outcome: 'unknown' } }]);
    await expect(next.sessions.repeated(TENANT, session_id, deleteKey())).rejects.toMatchObject({ code: 'idempotency_ambiguous', details: { session_id } });
    await quiescence();
    expect(teardowns(next)).toHaveLength(2);
    next.environments.script = willing;
    await next.sessions.delete(TENANT, session_id);
    expect(teardowns(next).slice(2)).toEqual(['teardown home']);
  });

  it('S-201: between its last teardown and the removal is finished by the next process', async () => {
    const brain = await brainWith(['home'], willing);
    const made = await createOn(brain, ['home'], createKey());
    const { session_id } = made;
    await brain.sessions.end(TENANT, session_id);
    brain.disk.plan = ({ kind }) => (kind === 'rename' ? { dies: 'before' } : undefined);
    void brain.sessions.delete(TENANT, session_id, deleteKey()).catch(() => undefined);
    await brain.hasDied;
    brain.disk.plan = () => undefined;
    const next = await brain.restart();

    await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject(GONE);
    expect(await next.sessions.repeated(TENANT, session_id, deleteKey())).toEqual({ answer: null });
    expect(await next.sessions.repeated(TENANT, null, createKey())).toEqual({ answer: { ...made, resident: false } });
    expect(teardowns(next)).toHaveLength(1);
  });

  it('S-150: whose disk failed under a teardown says so, and tears nothing down again', async () => {
    const brain = await brainWith(['home'], waits);
    const session_id = await endedOn(brain, ['home']);
    const deleted = expect(brain.sessions.delete(TENANT, session_id, deleteKey())).rejects.toMatchObject({ code: 'journal_unavailable' });
    const sent = await brain.environments.first('teardown');
    let failures = 0;
    // Once: whoever opens the session again finds a disk that works.
    brain.disk.plan = ({ kind, path }) => (kind === 'sync' && path.includes(session_id) && failures++ === 0 ? { fails: 'EIO' } : undefined);
    sent.answer(ACCEPTED);
    await deleted;
    await quiescence();

    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
    await expect(brain.sessions.delete(TENANT, session_id, deleteKey())).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
    expect(teardowns(brain)).toHaveLength(1);
  });
});
