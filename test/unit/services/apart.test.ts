/** What one session suffers and the others do not notice. */
import { describe, expect, it } from 'vitest';
import { gate } from '../../support/gate.ts';
import { LiveReader } from '../../support/live-reader.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';
import { calling, saying, ScriptedModel } from '../../support/scripted-model.ts';
import { quiescence } from '../../support/simulated-clock.ts';

describe('six sessions whose flushes hang', () => {
  it('hold up neither a seventh\'s turn nor its readers, and go on when the disk does', async () => {
    const model = new ScriptedModel(({ request }) => (request.messages.length === 1 ? calling({ tool: 'look' }) : saying('seen')));
    const brain = await LivingBrain.start({ model });
    const stalled = await Promise.all(Array.from({ length: 6 }, async () => (await brain.createChat()).session_id));
    const { session_id: seventh } = await brain.createChat();
    const reader = await LiveReader.of(brain.sessions, seventh);
    const disk = gate();
    brain.disk.plan = ({ kind, path }) => {
      const isStalled = kind === 'sync' && stalled.some((id) => path.includes(`${id}/journal`));
      return isStalled ? { start: disk.opened } : undefined;
    };
    const waiting = stalled.map(async (id) => brain.sessions.send(TENANT, id, 'hello'));
    await quiescence();
    expect(model.calls.all).toHaveLength(0);

    await expect(brain.sessions.send(TENANT, seventh, 'hello')).resolves.toMatchObject({ outcome: 'ended', result: { text: 'seen' } });
    await expect(brain.sessions.end(TENANT, seventh)).resolves.toMatchObject({ status: 'ended' });
    await expect(brain.createChat()).resolves.toMatchObject({ status: 'idle' });
    await reader.ended;
    expect(reader.types.at(-1)).toBe('session_ended');
    // Nothing of the six is sent, or seen, before it is on the device.
    expect(model.calls.all).toHaveLength(2);
    for (const id of stalled) {
      await expect(brain.sessions.get(TENANT, id)).resolves.toMatchObject({ status: 'idle' });
      await expect(brain.types(id)).resolves.not.toContain('message_queued');
    }

    disk.open();
    for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ outcome: 'ended', result: { text: 'seen' } });
    expect(model.calls.all).toHaveLength(2 * 7);
  });
});
