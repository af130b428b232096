import { describe, expect, it } from 'vitest';
import { KeyedCall } from '../../../services/keyed-call.ts';
import { LivingBrain, TENANT } from '../../support/living-brain.ts';

describe('a delete that cannot keep what its create was answered with', () => {
  // The session's journal stayed held, so that every later use of the session failed with `internal` until a restart.
  it('leaves the session to be read, and to be deleted when there is room again', async () => {
    const brain = await LivingBrain.start();
    const request = { surface: 'v1', agentloop: { name: 'test' } } as const;
    const { session_id } = await brain.sessions.create(TENANT, request, new KeyedCall('create', 'key', 'body'));
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
