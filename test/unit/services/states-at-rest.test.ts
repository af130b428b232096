/** States that are kept for the next use of their sessions: never another answer, and never more than so many. */
import { describe, expect, it } from 'vitest';
import { SessionState } from '../../../machines/replay.ts';
import type { SessionRecord } from '../../../machines/records.ts';
import { Checkpoints, type LoadedState } from '../../../services/session-loader.ts';
import { StatesAtRest } from '../../../services/states-at-rest.ts';
import type { Journal } from '../../../storage/journal.ts';
import { MemorySessionStore } from '../../../storage/memory-journal.ts';
import { plan } from '../../support/disk-faults.ts';
import { DATA, LivingBrain, TENANT } from '../../support/living-brain.ts';
import { saying, ScriptedModel } from '../../support/scripted-model.ts';
import { CREATED } from '../../support/session-story.ts';
import { quiescence } from '../../support/simulated-clock.ts';

const idOf = (index: number): string => index.toString(16).padStart(32, '0');
const KIB = 1024;

const created: SessionRecord = { sequence: 1, recorded_at: 0, type: 'session_created', state: 'creating', data: CREATED };
const ready: SessionRecord = { sequence: 2, recorded_at: 0, type: 'session_ready', state: 'suspended', data: {} };

/** Journals of one frame each, and the states that belong to them. */
class Shelf {
  readonly store = new MemorySessionStore();
  readonly states = new StatesAtRest();

  /** `bytes`: of the frame, whatever is in it. */
  async session(index: number, bytes = 100): Promise<{ readonly journal: Journal; readonly loaded: LoadedState }> {
    const journal = await this.store.create(idOf(index));
    await journal.append({ firstSequence: 1, recordCount: 2, payload: new Uint8Array(bytes).fill(32) });
    const state = SessionState.empty();
    state.apply(created);
    state.apply(ready);
    return { journal, loaded: { state, checkpoints: new Checkpoints(this.store, null) } };
  }

  async keepSome(count: number, bytes?: number): Promise<readonly Journal[]> {
    const journals: Journal[] = [];
    for (let index = 0; index < count; index += 1) {
      const { journal, loaded } = await this.session(index, bytes);
      this.states.keep(journal, loaded);
      journals.push(journal);
    }
    return journals;
  }
}

describe('a state at rest', () => {
  it('is taken once', async () => {
    const shelf = new Shelf();
    const { journal, loaded } = await shelf.session(1);
    shelf.states.keep(journal, loaded);

    expect(shelf.states.take(journal)).toBe(loaded);
    expect(shelf.states.take(journal)).toBe(null);
  });

  it('is not taken where the journal has grown since, by a frame that says the same, not even later', async () => {
    const shelf = new Shelf();
    const { journal, loaded } = await shelf.session(1);
    shelf.states.keep(journal, loaded);
    const before = journal.lastFrame?.checksum;
    await journal.append({ firstSequence: 3, recordCount: 1, payload: new Uint8Array(100).fill(32) });
    expect(journal.lastFrame?.checksum).toBe(before);

    expect(shelf.states.take(journal)).toBe(null);
    expect(shelf.states.take(journal)).toBe(null);
  });

  it('is not taken for another journal of the same name and length', async () => {
    const shelf = new Shelf();
    const { journal, loaded } = await shelf.session(1);
    shelf.states.keep(journal, loaded);
    const other = await new MemorySessionStore().create(idOf(1));
    await other.append({ firstSequence: 1, recordCount: 2, payload: new Uint8Array(100).fill(33) });
    expect(other.bytes).toBe(journal.bytes);

    expect(shelf.states.take(other)).toBe(null);
  });

  it('is not kept where the journal tells more than the state', async () => {
    const shelf = new Shelf();
    const { journal, loaded } = await shelf.session(1);
    await journal.append({ firstSequence: 3, recordCount: 1, payload: new Uint8Array(10).fill(32) });
    shelf.states.keep(journal, loaded);

    expect(shelf.states.take(journal)).toBe(null);
  });

  it('is forgotten on demand', async () => {
    const shelf = new Shelf();
    const { journal, loaded } = await shelf.session(1);
    shelf.states.keep(journal, loaded);
    shelf.states.forget(journal.sessionId);

    expect(shelf.states.take(journal)).toBe(null);
  });

  it('makes room for the ones used later, beyond 512', async () => {
    const shelf = new Shelf();
    const journals = await shelf.keepSome(600);

    const kept = journals.map((journal) => shelf.states.take(journal) !== null);

    expect(kept.indexOf(true)).toBe(600 - 512);
    expect(kept.filter(Boolean)).toHaveLength(512);
  });

  it('makes room for the ones used later, beyond 16 MiB of them all', async () => {
    const shelf = new Shelf();
    const journals = await shelf.keepSome(40, 256 * KIB);

    const kept = journals.map((journal) => shelf.states.take(journal) !== null);

    // Each counts as three times its text, and its actor.
    expect(kept.filter(Boolean)).toHaveLength(21);
    expect(kept.indexOf(true)).toBe(40 - 21);
  });

  it('that alone is too much is not kept, and drives no other out', async () => {
    const shelf = new Shelf();
    const [small] = await shelf.keepSome(1);
    const { journal, loaded } = await shelf.session(2, 8 * KIB * KIB);
    shelf.states.keep(journal, loaded);

    expect(shelf.states.take(journal)).toBe(null);
    expect(small !== undefined && shelf.states.take(small)).not.toBe(null);
  });
});

/** A session of one turn, released. */
async function released() {
  const stage = await LivingBrain.start({ model: new ScriptedModel((_call, index) => saying(`answer ${index}`)) });
  const { session_id } = await stage.createChat();
  await stage.sessions.send(TENANT, session_id, 'hello');
  await quiescence();
  return { stage, session_id };
}

/** What an action reads from the disk. */
async function bytesRead(stage: LivingBrain, action: () => Promise<unknown>): Promise<number> {
  const before = stage.disk.bytesRead;
  await action();
  return stage.disk.bytesRead - before;
}

/** The conversation as the journal's bytes tell it. */
async function told(stage: LivingBrain, sessionId: string): Promise<unknown> {
  const state = SessionState.empty();
  for (const record of await stage.journal(sessionId)) state.apply(record);
  return state.transcript.messages();
}

describe('the next use of a released session', () => {
  it('reads nothing of its journal, and leaves what a replay makes of it', async () => {
    const { stage, session_id } = await released();

    expect(await bytesRead(stage, () => stage.sessions.transcript(TENANT, session_id))).toBe(0);
    expect(await bytesRead(stage, () => stage.sessions.submit(TENANT, session_id, 'again'))).toBe(0);
    expect(await stage.atRest(session_id)).toMatchObject({ status: 'idle', resident: false });

    const { messages } = await stage.sessions.transcript(TENANT, session_id);
    expect(messages).toHaveLength(4);
    expect(await told(stage, session_id)).toEqual(messages);
  });

  it('reads it after a commit that failed, and goes on from what that left', async () => {
    const { stage, session_id } = await released();
    plan(stage.disk, { kinds: ['sync'], sessionId: session_id, times: 1 }, { fails: 'EIO' });
    await expect(stage.sessions.send(TENANT, session_id, 'lost')).rejects.toMatchObject({ code: 'journal_unavailable' });

    expect(await bytesRead(stage, () => stage.sessions.transcript(TENANT, session_id))).toBeGreaterThan(0);

    await stage.sessions.send(TENANT, session_id, 'again');
    const { messages } = await stage.sessions.transcript(TENANT, session_id);
    expect(JSON.stringify(messages)).not.toContain('lost');
    expect(await told(stage, session_id)).toEqual(messages);
  });

  it('reads it after a kill', async () => {
    const { stage, session_id } = await released();
    const next = await stage.restart();

    expect(await bytesRead(next, () => next.sessions.transcript(TENANT, session_id))).toBeGreaterThan(0);
  });

  it('shows whoever reads its journal that its file was cut meanwhile', async () => {
    const { stage, session_id } = await released();
    stage.disk.damage(stage.disk.files(`${DATA}/sessions/${session_id}/journal`)[0] ?? '', (bytes) => bytes.subarray(0, bytes.length - 1));

    await expect(stage.journal(session_id)).rejects.toMatchObject({ code: 'journal_corrupt' });
  });

  it('takes no notice of what was put behind the end of its file meanwhile, and writes over it', async () => {
    const { stage, session_id } = await released();
    stage.disk.damage(stage.disk.files(`${DATA}/sessions/${session_id}/journal`)[0] ?? '', (bytes) => Buffer.concat([bytes, Buffer.from('more')]));

    await stage.sessions.send(TENANT, session_id, 'again');

    const { messages } = await stage.sessions.transcript(TENANT, session_id);
    expect(messages).toHaveLength(4);
    expect(await told(stage, session_id)).toEqual(messages);
  });
});
