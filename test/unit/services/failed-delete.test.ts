import { describe, expect, it } from 'vitest';
import { KeyedCall } from '../../../services/keyed-call.ts';
import { isRemovalDue } from '../../../machines/recover.ts';
import { gate } from '../../support/gate.ts';
import { LivingBrain, TENANT, type LivingBrainOptions } from '../../support/living-brain.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import { CREATED, environmentOf, Story } from '../../support/session-story.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const REQUEST = { surface: 'v1', agentloop: { name: 'test' } } as const;
const created = () => new KeyedCall('create', 'key', 'body');
const deleted = (key = 'key') => new KeyedCall('delete', key, 'body');

describe('a delete that cannot keep what its create was answered with', () => {
  // The session's journal stayed held, so that every later use of the session failed with `internal` until a restart.
  it('leaves the session to be read, and to be deleted when there is room again', async () => {
    const brain = await LivingBrain.start();
    const { session_id } = await brain.sessions.create(TENANT, REQUEST, created());
    await brain.sessions.end(TENANT, session_id);
    const before = brain.disk.plan;
    brain.disk.plan = (call) => (call.kind === 'write' && call.path.includes('/claims/') ? { fails: 'ENOSPC' } : before(call));
    await expect(brain.sessions.delete(TENANT, session_id)).rejects.toMatchObject({ code: 'disk_full' });
    brain.disk.plan = before;

    expect((await brain.sessions.get(TENANT, session_id)).status).toBe('ended');
    await expect(brain.sessions.delete(TENANT, session_id)).resolves.toBeUndefined();
    await expect(brain.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

/** A session whose delete was recorded, in a process that died before it took the session away. */
async function killedInDelete(session: 'ended' | 'failed', options: LivingBrainOptions = {}) {
  const model = new ScriptedModel(() => ({ outcome: 'failed', code: 'no', message: 'no' }));
  const brain = await LivingBrain.start({ model, ...options });
  const made = await brain.sessions.create(TENANT, { ...REQUEST, agentloop: { name: 'chat' }, after_stop: 'hold' }, created());
  const { session_id } = made;
  if (session === 'ended') await brain.sessions.end(TENANT, session_id);
  else await brain.sessions.send(TENANT, session_id, 'fail');
  brain.disk.plan = ({ kind }) => (kind === 'rename' ? { dies: 'before' } : undefined);
  void brain.sessions.delete(TENANT, session_id, deleted()).catch(() => undefined);
  await brain.hasDied;
  brain.disk.plan = () => undefined;
  return { brain, made, session_id };
}

describe('a delete that was killed between its record and the removal', () => {
  // Its record stood behind the end of the session, of which every reader had been told that nothing more would come; a
  // failed session could be neither resumed nor read as deleted.
  it.each(['ended', 'failed'] as const)('S-201: is carried out by the next process, for a session that was %s', async (session) => {
    const { brain, session_id } = await killedInDelete(session);
    const next = await brain.restart();

    await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await next.sessions.list(TENANT, { after: '', limit: 10 })).toEqual({ sessions: [], next_cursor: null });
    await quiescence();
    expect(next.log.map(({ event }) => event)).toContain('delete_finished');
    expect(next.log.map(({ event }) => event)).not.toContain('session_refused');
    expect(next.handles.openFiles).toEqual([]);
    next.disk.cutPower(() => 0);
    const last = await LivingBrain.start({ disk: next.disk });
    await expect(last.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('S-152, S-153: leaves its own key and its create’s with their answers', async () => {
    const { brain, made, session_id } = await killedInDelete('ended');
    const next = await brain.restart();

    expect(await next.sessions.repeated(TENANT, null, created())).toEqual({ answer: { ...made, resident: false } });
    expect(await next.sessions.repeated(TENANT, session_id, deleted())).toEqual({ answer: null });
    await expect(next.sessions.delete(TENANT, session_id, deleted('another'))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is tried again with each look at the session as long as the disk refuses, and shows nothing of it', async () => {
    const { brain, session_id } = await killedInDelete('ended');
    brain.disk.plan = ({ kind, path }) => (kind === 'rename' && path.includes('/sessions/') ? { fails: 'EIO' } : undefined);
    const next = await brain.restart();
    await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'journal_unavailable' });
    await expect(next.sessions.events(TENANT, session_id, { after: 0, limit: 10 })).rejects.toMatchObject({ code: 'journal_unavailable' });
    brain.disk.plan = () => undefined;

    await expect(next.sessions.get(TENANT, session_id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('S-150, S-151: waits for another delete where there is an environment to tear down', () => {
    const stories = [[], [environmentOf('laptop')]].map((environments) => {
      const story = new Story();
      story.command({ kind: 'create', created: { ...CREATED, environments }, transcript: [] });
      endOperations(story);
      story.command({ kind: 'end', mode: 'wait' });
      endOperations(story);
      expect(isRemovalDue(story.state)).toBe(false);
      story.command({ kind: 'delete' });
      story.recover();
      return story;
    });

    expect(stories.map(({ state }) => isRemovalDue(state))).toEqual([true, false]);
  });
});

/** Each environment's operation that is under way is done. */
function endOperations(story: Story): void {
  for (const { sequence } of story.state.context.open) {
    story.command({ kind: 'end_environment_operation', started_sequence: sequence, result: { kind: 'done', receipt: { type: 'accepted' } } });
  }
}

describe('a create that is sent again while its session is being deleted', () => {
  it.each([
    { moment: 'before that answer is kept', kind: 'write', folder: '/claims/' },
    { moment: 'when it is kept', kind: 'rename', folder: '/sessions/' },
  ])('S-153: gets its first answer, $moment', async ({ kind, folder }) => {
    const brain = await LivingBrain.start();
    const made = await brain.sessions.create(TENANT, REQUEST, created());
    await brain.sessions.end(TENANT, made.session_id);
    const held = gate();
    brain.disk.plan = (call) => (call.kind === kind && call.path.includes(folder) ? { start: held.opened } : undefined);
    const removed = brain.sessions.delete(TENANT, made.session_id);
    await quiescence();
    const again = brain.sessions.repeated(TENANT, null, created());
    await quiescence();
    held.open();

    await removed;
    expect(await again).toEqual({ answer: { ...made, resident: false } });
  });
});
