/** Sessions as they lie on a disk: what a look without a server shows of them, and what it leaves as it is. */
import { describe, expect, it } from 'vitest';
import { findSessions } from '../../../cli/inspect.ts';
import { LocateError } from '../../../cli/journal/locate.ts';
import { SessionLook } from '../../../services/session-look.ts';
import { readFrameHeader, SEGMENT_HEADER_BYTES } from '../../../storage/frame.ts';
import { segmentName } from '../../../storage/segment.ts';
import { DATA, type LivingBrain, TENANT } from '../../support/living-brain.ts';
import { ScriptedTools, WAITS } from '../../support/scripted-tools.ts';
import { quiescence } from '../../support/simulated-clock.ts';
import type { DiskCallKind, SimulatedDisk } from '../../support/simulated-disk.ts';
import type { Turn } from '../../support/test-loops.ts';
import { call, RETURNED, TurnStage } from '../../support/turn-stage.ts';

const ALL = { after: 0, limit: 1_000_000 };

function lookAt(disk: SimulatedDisk, directory = DATA): SessionLook {
  const process = disk.boot();
  return new SessionLook(process, () => findSessions(process, directory));
}

const fileOf = (sessionId: string): string => `${DATA}/sessions/${sessionId}/journal/${segmentName(1)}`;

/** A session with a turn behind it. */
async function recorded(): Promise<TurnStage> {
  const stage = await TurnStage.set(() => Promise.resolve(RETURNED), { session: { metadata: { team: 'red' } } });
  await stage.send();
  return stage;
}

async function collected<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a look', () => {
  it('shows of a session what its server shows of it: the same view, records, events and transcript', async () => {
    const { brain, sessionId } = await recorded();
    const look = lookAt(brain.disk);
    const ofBoth = async <T>(ask: (service: SessionLook | LivingBrain['sessions']) => Promise<T>): Promise<readonly [T, T]> =>
      [await ask(look), await ask(brain.sessions)];

    const [seen, served] = await ofBoth((service) => service.get(TENANT, sessionId));
    expect(seen).toEqual({ ...served, resident: false });
    for (const [mine, theirs] of [
      await ofBoth((service) => service.journal(TENANT, sessionId, ALL)),
      await ofBoth((service) => service.journal(TENANT, sessionId, { after: 3, limit: 2 })),
      await ofBoth((service) => service.events(TENANT, sessionId, { ...ALL, types: ['turn_ended'] })),
      await ofBoth((service) => service.transcript(TENANT, sessionId)),
    ]) {
      expect(mine).toEqual(theirs);
    }
  });

  it('asks the disk for names and bytes, and for nothing that locks, writes or flushes', async () => {
    const { brain, sessionId } = await recorded();
    await brain.create();
    await quiescence();
    brain.disk.cutPower(() => 0);
    brain.disk.damage(fileOf(sessionId), (bytes) => bytes.subarray(0, bytes.length - 3));
    const kinds = new Set<DiskCallKind>();
    const look = lookAt(brain.disk);
    const before = brain.disk.files(DATA).map((path) => [path, brain.disk.contents(path)]);
    brain.disk.plan = ({ kind }) => void kinds.add(kind);
    const { sessions } = await look.list(TENANT, { after: '', limit: 10 });
    for (const { session_id } of sessions) {
      await look.get(TENANT, session_id);
      await look.journal(TENANT, session_id, ALL);
      await look.transcript(TENANT, session_id);
    }

    expect(sessions).toHaveLength(2);
    expect([...kinds].toSorted()).toEqual(['close', 'list', 'open', 'read', 'size']);
    expect(brain.disk.files(DATA).map((path) => [path, brain.disk.contents(path)])).toEqual(before);
  });

  it('lists every tenant\'s sessions, by status and metadata, in pages', async () => {
    const { brain, sessionId } = await recorded();
    const other = (await brain.sessions.create('acme', { surface: 'v1', metadata: { team: 'blue' } })).session_id;
    const look = lookAt(brain.disk);
    const ids = async (query: Partial<Parameters<SessionLook['list']>[1]>): Promise<unknown> => {
      const page = await look.list(TENANT, { after: '', limit: 10, ...query });
      return [page.sessions.map(({ session_id }) => session_id), page.next_cursor];
    };

    expect(await ids({})).toEqual([[sessionId, other], null]);
    expect(await ids({ limit: 1 })).toEqual([[sessionId], sessionId]);
    expect(await ids({ limit: 1, after: sessionId })).toEqual([[other], null]);
    expect(await ids({ metadata: { team: 'blue' } })).toEqual([[other], null]);
    expect(await ids({ status: 'running' })).toEqual([[], null]);
    expect((await look.list(TENANT, { after: '', limit: 10 })).sessions).toMatchObject([{ tenant: TENANT }, { tenant: 'acme' }]);
  });

  it('shows a turn that a death broke off as it lies there, with what it waited for, and recovers nothing', async () => {
    const turn: Turn = async (_input, host) => {
      await host.dispatch([call('act')]);
      return RETURNED;
    };
    const { brain, sessionId } = await TurnStage.set(turn, { tools: new ScriptedTools(['look', 'act'], () => WAITS) });
    await brain.sessions.submit(TENANT, sessionId, 'go');
    await brain.tools.calls.at(0);
    await quiescence();
    const written = await brain.journal(sessionId);
    const turnStarted = written.find(({ type }) => type === 'turn_started')?.sequence;
    brain.disk.cutPower(() => 0);
    const look = lookAt(brain.disk);

    expect(await look.get(TENANT, sessionId)).toMatchObject({ status: 'running', running_turn: turnStarted });
    expect((await look.get(TENANT, sessionId)).explanation).toMatch(/^The session waits for the tool act since /);
    expect((await look.journal(TENANT, sessionId, ALL)).items).toEqual(written);
  });

  it('tells of an incomplete final write where it begins, and shows what is whole before it', async () => {
    const { brain, sessionId } = await recorded();
    const written = await brain.journal(sessionId);
    brain.disk.damage(fileOf(sessionId), (bytes) => bytes.subarray(0, bytes.length - 3));
    const look = lookAt(brain.disk);

    const { explanation, last_sequence } = await look.get(TENANT, sessionId);
    const place = `sessions/${sessionId}/journal/${segmentName(1)}`;
    expect(explanation).toMatch(new RegExp(`The last \\d+ bytes of ${place}, from byte \\d+ on, are an incomplete write, which a server would cut off\\.$`));
    const { items } = await look.journal(TENANT, sessionId, ALL);
    expect(items.length).toBeLessThan(written.length);
    expect(items).toEqual(written.slice(0, last_sequence));
  });

  it('tells of damage in which file and at which byte it is, in lists too, and shows the records before it', async () => {
    const { brain, sessionId } = await recorded();
    const written = await brain.journal(sessionId);
    let second = 0;
    brain.disk.damage(fileOf(sessionId), (bytes) => {
      second = SEGMENT_HEADER_BYTES + 28 + (readFrameHeader(bytes, SEGMENT_HEADER_BYTES)?.payloadBytes ?? 0);
      return bytes.with(second + 40, (bytes[second + 40] ?? 0) ^ 1);
    });
    const look = lookAt(brain.disk);
    const file = `sessions/${sessionId}/journal/${segmentName(1)}`;

    await expect(look.get(TENANT, sessionId)).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringMatching(/^the session's journal is damaged: a payload differs from its checksum; the records up to \d+ can be read$/),
      details: { file, offset: second },
    });
    const { sessions } = await look.list(TENANT, { after: '', limit: 10, status: 'running' });
    expect(sessions).toEqual([
      { session_id: sessionId, damaged: true, message: expect.stringContaining(`${file} is damaged at byte ${second}: a payload differs from its checksum`) },
    ]);
    const { items } = await look.journal(TENANT, sessionId, ALL);
    expect(items.length).toBeGreaterThan(0);
    expect(items).toEqual(written.slice(0, items.length));
    await expect(look.journal(TENANT, sessionId, { ...ALL, after: items.length + 1 })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  it('knows what was never a whole session, and does not hide it', async () => {
    const { brain, sessionId } = await recorded();
    brain.disk.damage(fileOf(sessionId), (bytes) => bytes.subarray(0, SEGMENT_HEADER_BYTES + 9));
    const { sessions } = await lookAt(brain.disk).list(TENANT, { after: '', limit: 10 });
    expect(sessions).toEqual([{ session_id: sessionId, damaged: true, message: expect.stringMatching(/is damaged at byte 0: it holds no whole record/) }]);
  });

  it('says so where a session\'s files cannot be read, and lists the others all the same', async () => {
    const { brain, sessionId } = await recorded();
    const other = (await brain.create()).session_id;
    await quiescence();
    const look = lookAt(brain.disk);
    brain.disk.plan = ({ kind, path }) => (kind === 'open' && path === fileOf(sessionId) ? { fails: 'EIO' } : undefined);

    await expect(look.get(TENANT, sessionId)).rejects.toMatchObject({ code: 'journal_unavailable' });
    const { sessions } = await look.list(TENANT, { after: '', limit: 10 });
    expect(sessions).toMatchObject([{ session_id: sessionId, damaged: true, message: 'the files of this session cannot be read now' }, { session_id: other, status: 'idle' }]);
    brain.disk.plan = () => undefined;
    expect(await look.get(TENANT, sessionId)).toMatchObject({ status: 'idle' });
  });

  it('opens one session\'s directory and its journal alone, under the id that the journal names', async () => {
    const { brain, sessionId } = await recorded();
    const process = brain.disk.boot();
    await process.makeDirectory('/copy');
    await process.rename(`${DATA}/sessions/${sessionId}/journal`, '/copy/journal');
    for (const directory of ['/copy', '/copy/journal']) {
      expect((await lookAt(brain.disk, directory).get(TENANT, sessionId)).last_sequence).toBeGreaterThan(2);
    }
    brain.disk.damage(`/copy/journal/${segmentName(1)}`, (bytes) => bytes.with(0, 0x20));
    await expect(findSessions(process, '/copy')).rejects.toThrow(LocateError);
  });

  it('follows to the end of what is there, and knows nothing after it', async () => {
    const { brain, sessionId } = await recorded();
    const look = lookAt(brain.disk);
    const { items } = await look.journal(TENANT, sessionId, ALL);
    const following = await look.followJournal(TENANT, sessionId, 2);

    expect(following.ended).toBe(false);
    expect(await collected(following.items)).toEqual(items.slice(2).map((item) => ({ kind: 'recorded', item })));
    expect((await look.followJournal(TENANT, sessionId, items.length)).ended).toBe(true);
    expect((await look.followEvents(TENANT, sessionId, items.length)).ended).toBe(true);
  });

  it('folds a journal once, and again when its server has written more', async () => {
    const stage = await recorded();
    const { brain, sessionId } = stage;
    const look = lookAt(brain.disk);
    const before = await look.get(TENANT, sessionId);
    const read = brain.disk.bytesRead;
    expect(await look.get(TENANT, sessionId)).toEqual(before);
    expect(brain.disk.bytesRead).toBe(read);

    await stage.send('again');
    expect((await look.get(TENANT, sessionId)).last_sequence).toBe((await brain.journal(sessionId)).length);
  });

  it('knows no session that is not there, nor one that is not there any more', async () => {
    const { brain, sessionId } = await recorded();
    const look = lookAt(brain.disk);
    await look.get(TENANT, sessionId);
    await brain.disk.boot().remove(`${DATA}/sessions/${sessionId}`);
    await expect(look.get(TENANT, sessionId)).rejects.toMatchObject({ code: 'not_found' });
    expect((await look.list(TENANT, { after: '', limit: 10 })).sessions).toEqual([]);
    for (const ask of [look.get(TENANT, '0'.repeat(32)), look.assertThere(TENANT, 'f'.repeat(32)), look.journal(TENANT, '0'.repeat(32), ALL)]) {
      await expect(ask).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
