/** Checkpoints: disposable, cheap, and never another answer. */
import { describe, expect, it } from 'vitest';
import { SessionState, STATE_VERSION } from '../../../machines/replay.ts';
import { loadState } from '../../../services/session-loader.ts';
import { decodeRecords } from '../../../services/record-codec.ts';
import { FileSessionStore } from '../../../storage/file-session-store.ts';
import { DATA, LivingBrain, TENANT } from '../../support/living-brain.ts';
import { ScriptedModel, saying } from '../../support/scripted-model.ts';
import type { SimulatedDisk } from '../../support/simulated-disk.ts';

const NO_LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A session of several turns whose journal has outgrown its first checkpoint, closed. */
async function grown(turns = 4) {
  const stage = await LivingBrain.start({ model: new ScriptedModel((_call, index) => saying(`${index} ${'x'.repeat(20_000)}`)) });
  const { session_id } = await stage.createChat();
  for (let turn = 0; turn < turns; turn += 1) await stage.sessions.send(TENANT, session_id, `message ${turn}`);
  await stage.brain.close();
  return { disk: stage.disk, session_id, checkpoint: `${DATA}/sessions/${session_id}/checkpoint` };
}

/** The state as it is opened, the state as all records make it, and how much was read for the first. */
async function loaded(disk: SimulatedDisk, sessionId: string) {
  const store = await FileSessionStore.open({ disk: disk.boot(), path: DATA, log: NO_LOG });
  const journal = await store.open(sessionId);
  const before = disk.bytesRead;
  const { state } = await loadState(store, journal, NO_LOG);
  const bytesRead = disk.bytesRead - before;
  const whole = SessionState.empty();
  for await (const { payload } of journal.read(0)) for (const record of decodeRecords(payload)) whole.apply(record);
  await journal.release();
  await store.close();
  return { state: state.toSnapshot(), whole: whole.toSnapshot(), bytesRead };
}

describe('a checkpoint', () => {
  it('S-016: with the records after it makes the state that all records make, for less', async () => {
    const { disk, session_id, checkpoint } = await grown(5);
    const fast = await loaded(disk, session_id);
    disk.damage(checkpoint, () => new Uint8Array(0));
    const slow = await loaded(disk, session_id);

    expect(fast.state).toEqual(fast.whole);
    expect(slow.state).toEqual(fast.state);
    expect(fast.whole.transcript.messages).toHaveLength(10);
    expect(disk.contents(checkpoint)?.length).toBe(0);
    expect(slow.bytesRead).toBeGreaterThan(100_000);
  });

  it.each([
    { what: 'flipped in one bit', change: (bytes: Uint8Array) => bytes.map((byte, at) => (at === 500 ? byte ^ 4 : byte)) },
    { what: 'cut', change: (bytes: Uint8Array) => bytes.subarray(0, 300) },
    { what: 'empty', change: () => new Uint8Array(0) },
    { what: 'something else', change: () => Buffer.from('not a checkpoint at all, but long enough for a header') },
  ])('S-019: is rebuilt where it is $what', async ({ change }) => {
    const { disk, session_id, checkpoint } = await grown();
    disk.damage(checkpoint, change);

    const { state, whole } = await loaded(disk, session_id);

    expect(state).toEqual(whole);
  });

  it.each([
    { what: 'is no JSON', payload: 'no JSON' },
    { what: 'is null', payload: 'null' },
    { what: 'is of another version', payload: '{"version":0,"sequence":2}' },
    { what: 'says nothing but its version', payload: `{"version":${STATE_VERSION}}` },
    { what: 'has a state that is none', payload: `{"version":${STATE_VERSION},"sequence":2,"checksum":0,"state":{}}` },
  ])('S-019: is rebuilt where what it holds under a good checksum $what', async ({ payload }) => {
    const { disk, session_id } = await grown();
    const store = await FileSessionStore.open({ disk: disk.boot(), path: DATA, log: NO_LOG });
    await store.writeCheckpoint(session_id, Buffer.from(payload));
    await store.close();

    const { state, whole } = await loaded(disk, session_id);

    expect(state).toEqual(whole);
  });

  it('S-018: is not believed where it is ahead of a journal that lost its end, nor where that grew again to its length', async () => {
    const { disk, session_id } = await grown();
    const journal = disk.files(`${DATA}/sessions/${session_id}/journal`)[0] ?? '';
    disk.damage(journal, (bytes) => bytes.subarray(0, bytes.length - 25_000));
    const cut = await loaded(disk, session_id);
    expect(cut.state).toEqual(cut.whole);

    const stage = await LivingBrain.start({ disk, model: new ScriptedModel(() => saying('another history')) });
    await stage.sessions.send(TENANT, session_id, 'again');
    await stage.sessions.send(TENANT, session_id, 'and again');
    await stage.brain.close();
    const { state, whole } = await loaded(disk, session_id);

    expect(state).toEqual(whole);
    expect(JSON.stringify(state.transcript)).toContain('another history');
  });

  it('costs all in all no more than the journal, over 300 turns', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => saying('x'.repeat(400))) });
    let checkpointBytes = 0;
    let checkpoints = 0;
    stage.disk.plan = (call) => {
      if (call.kind === 'write' && !call.path.includes('/journal/')) checkpointBytes += call.bytes;
      if (call.kind === 'rename' && call.path.includes('checkpoint')) checkpoints += 1;
      return undefined;
    };
    const { session_id } = await stage.createChat();
    for (let turn = 0; turn < 300; turn += 1) await stage.sessions.send(TENANT, session_id, `message ${turn}`);
    await stage.brain.close();

    const journalBytes = stage.disk
      .files(`${DATA}/sessions/${session_id}/journal`)
      .reduce((sum, file) => sum + (stage.disk.contents(file)?.length ?? 0), 0);
    expect(checkpoints).toBeGreaterThan(2);
    expect(checkpointBytes).toBeLessThan(journalBytes);
    const { state, whole } = await loaded(stage.disk, session_id);
    expect(state).toEqual(whole);
  });

  it('is written for a session that is never released, too', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => saying('x'.repeat(20_000))) });
    const { session_id } = await stage.createChat({ idle_ttl_ms: 0 });
    for (let turn = 0; turn < 5; turn += 1) await stage.sessions.send(TENANT, session_id, `message ${turn}`);

    expect(stage.disk.contents(`${DATA}/sessions/${session_id}/checkpoint`)).not.toBe(null);
  });

  it('that cannot be written costs nothing but time', async () => {
    const stage = await LivingBrain.start({ model: new ScriptedModel(() => saying('x'.repeat(20_000))) });
    const { session_id } = await stage.createChat();
    stage.disk.plan = (call) => (call.path.includes('checkpoint') ? { fails: 'EIO' } : undefined);
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await stage.sessions.send(TENANT, session_id, `message ${turn}`)).toMatchObject({ outcome: 'ended' });
    }

    expect(await stage.atRest(session_id)).toMatchObject({ resident: false });
  });
});
