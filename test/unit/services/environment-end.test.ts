/** Environments are detached where their session ends. */
import { describe, expect, it } from 'vitest';
import { KeyedCall } from '../../../services/keyed-call.ts';
import { brainWith, createOn, recordsOf } from '../../support/declared-environments.ts';
import { TENANT } from '../../support/living-brain.ts';
import { ACCEPTED, failure, unknown, type EnvironmentScript } from '../../support/scripted-environments.ts';
import { quiescence } from '../../support/simulated-clock.ts';

/** Set up at once; how a detach is answered is the test's. */
function detaching(answer: EnvironmentScript): EnvironmentScript {
  return (sent) => (sent.call.operation.request.type === 'detach' ? answer(sent) : ACCEPTED);
}

const waits = detaching(() => 'waits');

describe('the end of a session', () => {
  it('S-199, S-145: detaches each environment after its record, and is answered when they are', async () => {
    const brain = await brainWith(['home', 'laptop'], waits);
    const { session_id } = await createOn(brain, ['home', 'laptop']);
    const ended = brain.sessions.end(TENANT, session_id);
    const home = await brain.environments.first('detach', 'home');
    const laptop = await brain.environments.first('detach', 'laptop');
    home.answer(ACCEPTED);
    await quiescence();

    expect(await brain.types(session_id)).toEqual(expect.arrayContaining(['session_ending', 'environment_detach_ended']));
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ending', resident: true });
    await expect(brain.sessions.send(TENANT, session_id, 'hello')).rejects.toMatchObject({ code: 'session_ending' });
    await expect(brain.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'must_end', message: expect.stringContaining('still ending') as unknown });
    laptop.answer(ACCEPTED);
    expect(await ended).toMatchObject({ status: 'ended' });
    expect(brain.environments.asked).toEqual(['setup home', 'setup laptop', 'detach home', 'detach laptop']);
  });

  it('S-032, S-145: is on the device, with the detach, when that is sent', async () => {
    const brain = await brainWith(['home'], waits);
    const { session_id } = await createOn(brain, ['home']);
    void brain.sessions.end(TENANT, session_id).catch(() => undefined);
    const { call } = await brain.environments.first('detach');

    const last = (await brain.afterPowerCut(session_id)).slice(-2);
    expect(last.map(({ type }) => type)).toEqual(['session_ending', 'environment_detach_started']);
    expect(call.operation).toEqual({ session_id, environment: 'home', sequence: last[1]?.sequence, request: { type: 'detach' } });
  });

  it.each([
    { what: 'fails', answer: failure('gone'), outcome: 'failed' },
    { what: 'is unknown', answer: unknown(), outcome: 'unknown' },
  ])('S-147: is not kept from ending by a detach that $what', async ({ answer, outcome }) => {
    const brain = await brainWith(['home'], detaching(() => answer));
    const { session_id } = await createOn(brain, ['home']);
    const keyed = (): KeyedCall<'end'> => new KeyedCall('end', 'key', 'body');
    const ended = await brain.sessions.end(TENANT, session_id, keyed());

    expect(ended).toMatchObject({ status: 'ended' });
    expect(await brain.sessions.end(TENANT, session_id, keyed())).toEqual({ ...ended, resident: false });
    expect(await recordsOf(brain, session_id, 'environment_detach_failed')).toMatchObject([{ data: { outcome } }]);
  });

  it('S-147: is not kept from ending by an environment that never answers', async () => {
    const brain = await brainWith(['home'], waits, { limits: { toolMs: 1_000 } });
    const { session_id } = await createOn(brain, ['home']);
    const ended = brain.sessions.end(TENANT, session_id);
    await brain.clock.advance(1_000);

    expect(await ended).toMatchObject({ status: 'ended' });
  });

  it('by a close is answered at its record, before the detach', async () => {
    const brain = await brainWith(['home'], waits);
    const { session_id } = await createOn(brain, ['home']);
    await brain.sessions.close(TENANT, session_id);
    const sent = await brain.environments.first('detach');
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ending' });
    sent.answer(ACCEPTED);
    await quiescence();

    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
  });

  it.each([undefined, 'key'])('is over at once by a close that comes while it detaches, and what was under way was cancelled (key: %s)', async (key) => {
    const brain = await brainWith(['home', 'laptop'], waits);
    const { session_id } = await createOn(brain, ['home', 'laptop']);
    const ended = brain.sessions.end(TENANT, session_id);
    const home = await brain.environments.first('detach', 'home');
    const laptop = await brain.environments.first('detach', 'laptop');
    home.answer(ACCEPTED);
    await quiescence();
    await brain.sessions.close(TENANT, session_id, key === undefined ? undefined : new KeyedCall('close', key, 'body', 'sessions'));

    expect(await ended).toMatchObject({ status: 'ended' });
    const [failed] = await recordsOf(brain, session_id, 'environment_detach_failed');
    expect(failed?.data).toMatchObject({ outcome: 'cancelled', code: 'closed' });
    expect([home.closes, laptop.closes]).toEqual([[null], [failed?.sequence]]);
  });

  it('by one close detaches, and another end that waits stops nothing', async () => {
    const brain = await brainWith(['home'], waits);
    const { session_id } = await createOn(brain, ['home']);
    await brain.sessions.close(TENANT, session_id);
    const sent = await brain.environments.first('detach');
    const ended = brain.sessions.end(TENANT, session_id);
    await quiescence();
    expect([sent.closes, await brain.sessions.get(TENANT, session_id)]).toMatchObject([[], { status: 'ending' }]);
    sent.answer(ACCEPTED);
    expect(await ended).toMatchObject({ status: 'ended' });
  });

  it('S-146: that was killed in a detach is over in the next process, which sends nothing, and its key is ambiguous', async () => {
    const brain = await brainWith(['home', 'laptop'], waits);
    const { session_id } = await createOn(brain, ['home', 'laptop']);
    const keyed = (): KeyedCall => new KeyedCall('end', 'key', 'body');
    void brain.sessions.end(TENANT, session_id, keyed()).catch(() => undefined);
    (await brain.environments.first('detach', 'home')).answer(ACCEPTED);
    await quiescence();
    const next = await brain.restart();

    expect(await next.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
    await expect(next.sessions.send(TENANT, session_id, 'hello')).rejects.toMatchObject({ code: 'session_ended' });
    expect(await recordsOf(next, session_id, 'environment_detach_failed')).toMatchObject([{ data: { outcome: 'unknown' } }]);
    await expect(next.sessions.repeated(TENANT, session_id, keyed())).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
    expect(next.environments.asked).toHaveLength(4);
  });
});

describe('an end that is asked while environments are set up', () => {
  const setups: EnvironmentScript = ({ call }) => (call.operation.request.type === 'setup' ? 'waits' : ACCEPTED);

  it('waits for them, and then detaches what is there', async () => {
    const brain = await brainWith(['home'], setups);
    const created = createOn(brain, ['home']);
    const sent = await brain.environments.first('setup');
    const { session_id } = sent.call.operation;
    const ended = brain.sessions.end(TENANT, session_id);
    await quiescence();
    expect(sent.closes).toEqual([]);
    sent.answer(ACCEPTED);

    expect(await created).toMatchObject({ session_id, status: 'idle' });
    expect(await ended).toMatchObject({ status: 'ended' });
    expect(brain.environments.asked).toEqual(['setup home', 'detach home']);
  });

  it('with `interrupt` stops them: each is told under the record of its end, and what was set up is detached', async () => {
    const brain = await brainWith(['home', 'laptop'], setups);
    const refused = expect(createOn(brain, ['home', 'laptop'])).rejects.toMatchObject({ code: 'environment_failed' });
    (await brain.environments.first('setup', 'laptop')).answer(ACCEPTED);
    const home = await brain.environments.first('setup', 'home');
    const { session_id } = home.call.operation;
    await quiescence();
    await brain.sessions.close(TENANT, session_id);
    await refused;
    home.answer(ACCEPTED);
    await quiescence();

    const [failed] = await recordsOf(brain, session_id, 'environment_setup_failed');
    expect(failed?.data).toMatchObject({ outcome: 'cancelled', code: 'closed' });
    expect(home.closes).toEqual([failed?.sequence]);
    expect(brain.environments.asked.slice(2)).toEqual(['detach laptop']);
    expect(await brain.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
    // Whether it was set up is not known.
    await brain.sessions.delete(TENANT, session_id);
    expect(brain.environments.asked.slice(3)).toEqual(['teardown home', 'teardown laptop']);
  });

  it('that was killed meanwhile leaves what is there attached, for the delete', async () => {
    const brain = await brainWith(['home', 'laptop'], setups);
    void createOn(brain, ['home', 'laptop']).catch(() => undefined);
    (await brain.environments.first('setup', 'laptop')).answer(ACCEPTED);
    const { session_id } = (await brain.environments.first('setup', 'home')).call.operation;
    const keyed = (): KeyedCall => new KeyedCall('end', 'key', 'body');
    void brain.sessions.end(TENANT, session_id, keyed()).catch(() => undefined);
    await quiescence();
    const next = await brain.restart();

    expect(await next.sessions.get(TENANT, session_id)).toMatchObject({ status: 'ended' });
    await expect(next.sessions.repeated(TENANT, session_id, keyed())).rejects.toMatchObject({ code: 'idempotency_ambiguous' });
    expect(next.environments.asked).toHaveLength(2);
    await next.sessions.delete(TENANT, session_id);
    expect(next.environments.asked.slice(2)).toEqual(['teardown home', 'teardown laptop']);
  });
});
