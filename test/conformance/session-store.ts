/** What every session store must do, whatever it keeps its journals in. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX } from '../../storage/frame.ts';
import type { Frame, Journal, SessionStore, StoredFrame } from '../../storage/journal.ts';
import { codeOf, collect, frameOf, ID, OTHER_ID, textOf } from '../support/frames.ts';

export interface StoreUnderTest {
  readonly store: SessionStore;
  /** Closes the store where a test has not, and takes away what it left. */
  dispose(): Promise<void>;
}

export function describeSessionStore(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`a session store (${name})`, () => {
    let tested: StoreUnderTest;
    let store: SessionStore;

    beforeEach(async () => {
      tested = await make();
      store = tested.store;
    });
    afterEach(() => tested.dispose());

    async function sessionOf(frames: readonly Frame[], id = ID): Promise<Journal> {
      const journal = await store.create(id);
      for (const frame of frames) await journal.append(frame);
      return journal;
    }

    it('reads back what was appended, frame by frame, in order', async () => {
      const frames = [frameOf(1, 2, 'two records'), frameOf(3, 1, 'one'), frameOf(4, 3, 'three more: 你好🦀')];
      const journal = await sessionOf(frames);

      const read = await collect(journal.read(0));

      expect(read.map(({ firstSequence, recordCount, payload }) => [firstSequence, recordCount, textOf(payload)])).toEqual(
        frames.map(({ firstSequence, recordCount, payload }) => [firstSequence, recordCount, textOf(payload)]),
      );
    });

    it('answers an append with the last sequence and a checksum by which the frame is known for good', async () => {
      const journal = await store.create(ID);

      const first = await journal.append(frameOf(1, 2, 'a'));
      const second = await journal.append(frameOf(3, 1, 'b'));

      expect([first.sequence, second.sequence]).toEqual([2, 3]);
      expect(first.checksum).not.toBe(second.checksum);
      expect(journal.lastFrame).toEqual(second);
      expect((await collect(journal.read(0))).map(({ checksum }) => checksum)).toEqual([first.checksum, second.checksum]);
      expect(await journal.checksumAt(2)).toBe(first.checksum);
      expect(await journal.checksumAt(3)).toBe(second.checksum);
    });

    it('has no checksum where no frame ends', async () => {
      const journal = await sessionOf([frameOf(1, 2, 'a'), frameOf(3, 3, 'b')]);

      expect([await journal.checksumAt(0), await journal.checksumAt(1), await journal.checksumAt(4)]).toEqual([null, null, null]);
      expect(await journal.checksumAt(6)).toBeNull();
    });

    it('begins to read with the frame that holds the next sequence, also in the middle of it', async () => {
      const journal = await sessionOf([frameOf(1, 2, 'a'), frameOf(3, 3, 'b'), frameOf(6, 1, 'c')]);

      const texts = async (after: number) => (await collect(journal.read(after))).map(({ payload }) => textOf(payload));

      expect(await texts(1)).toEqual(['a', 'b', 'c']);
      expect(await texts(2)).toEqual(['b', 'c']);
      expect(await texts(4)).toEqual(['b', 'c']);
      expect(await texts(5)).toEqual(['c']);
      expect(await texts(6)).toEqual([]);
      expect(await texts(60)).toEqual([]);
    });

    it('reads up to the end as it is when a frame is asked for', async () => {
      const journal = await sessionOf([frameOf(1, 1, 'a')]);
      const reader = journal.read(0)[Symbol.asyncIterator]();
      await reader.next();

      await journal.append(frameOf(2, 1, 'b'));

      expect((await reader.next()).value).toMatchObject({ firstSequence: 2 });
      expect(await reader.next()).toMatchObject({ done: true });
    });

    it('counts the bytes of its frames with their headers, before and after it is opened again', async () => {
      const journal = await sessionOf([frameOf(1, 1, 'abc'), frameOf(2, 1, 'de')]);
      const bytes = 2 * FRAME_HEADER_BYTES + 5;
      expect(journal.bytes).toBe(bytes);
      expect((await collect(journal.read(0))).reduce((total, frame) => total + frame.bytes, 0)).toBe(bytes);

      await journal.release();

      expect((await store.open(ID)).bytes).toBe(bytes);
    });

    it('goes on after a release where it was', async () => {
      const journal = await sessionOf([frameOf(1, 2, 'a')]);
      const mark = journal.lastFrame;
      await journal.release();

      const again = await store.open(ID);

      expect([again.sessionId, again.lastSequence, again.lastFrame]).toEqual([ID, 2, mark]);
      await again.append(frameOf(3, 1, 'b'));
      expect((await collect(again.read(0))).map(({ payload }) => textOf(payload))).toEqual(['a', 'b']);
    });

    it('keeps what was appended, whatever its caller does to the bytes afterwards', async () => {
      const payload = Buffer.from('before');
      const journal = await sessionOf([{ firstSequence: 1, recordCount: 1, payload }]);

      payload.fill('x');

      expect((await collect(journal.read(0))).map((frame) => textOf(frame.payload))).toEqual(['before']);
    });

    it('calls it a bug to append a frame that does not follow, is empty, too large, or no text; and goes on', async () => {
      const journal = await sessionOf([frameOf(1, 1, 'a')]);
      const wrong: readonly Frame[] = [
        frameOf(1, 1, 'repeat'),
        frameOf(3, 1, 'gap'),
        frameOf(2, 0, 'no record'),
        frameOf(2, 1.5, 'half a record'),
        frameOf(2, 1, ''),
        { firstSequence: 2, recordCount: 1, payload: Buffer.from('a\0b') },
        { firstSequence: 2, recordCount: 1, payload: Buffer.alloc(FRAME_PAYLOAD_BYTES_MAX + 1, 'x') },
      ];

      for (const frame of wrong) expect(await codeOf(journal.append(frame))).toBe('ERR_ASSERTION');

      await journal.append(frameOf(2, 1, 'b'));
      expect((await collect(journal.read(0))).map(({ payload }) => textOf(payload))).toEqual(['a', 'b']);
    });

    it('takes the largest payload there may be', async () => {
      const journal = await sessionOf([frameOf(1, 1, 'a')]);

      await journal.append({ firstSequence: 2, recordCount: 1, payload: Buffer.alloc(FRAME_PAYLOAD_BYTES_MAX, 'x') });
      await journal.append(frameOf(3, 1, 'c'));

      const lengths = (await collect(journal.read(0))).map(({ payload }) => payload.length);
      expect(lengths).toEqual([1, FRAME_PAYLOAD_BYTES_MAX, 1]);
    });

    it('gives a journal to one holder at a time', async () => {
      const journal = await sessionOf([frameOf(1, 1, 'a')]);

      expect(await codeOf(store.open(ID))).toBe('ERR_ASSERTION');
      expect(await codeOf(store.create(ID))).toBe('ERR_ASSERTION');
      expect(await codeOf(store.remove(ID))).toBe('ERR_ASSERTION');

      await journal.release();
      const opening = store.open(ID);
      expect(await codeOf(store.open(ID))).toBe('ERR_ASSERTION');
      expect((await opening).lastSequence).toBe(1);
    });

    it('refuses everything on a journal that was released, which harms nobody who holds it now', async () => {
      const journal = await sessionOf([frameOf(1, 1, 'a')]);
      const reader = journal.read(0)[Symbol.asyncIterator]();
      await reader.next();
      await journal.release();
      await journal.release();
      const again = await store.open(ID);

      expect(await codeOf(journal.append(frameOf(2, 1, 'late')))).toBe('journal_unavailable');
      expect(await codeOf(collect(journal.read(0)))).toBe('journal_unavailable');
      expect(await codeOf(journal.checksumAt(1))).toBe('journal_unavailable');
      expect(await codeOf(reader.next())).toBe('journal_unavailable');
      await journal.release();

      await again.append(frameOf(2, 1, 'b'));
      expect((await collect(again.read(0))).map(({ payload }) => textOf(payload))).toEqual(['a', 'b']);
    });

    it('has a session from its first frame on', async () => {
      const journal = await store.create(ID);
      expect(await store.list()).toEqual([]);
      expect([journal.lastSequence, journal.lastFrame, journal.bytes]).toEqual([0, null, 0]);
      expect(await collect(journal.read(0))).toEqual([]);
      expect(await journal.checksumAt(0)).toBeNull();

      await journal.release();
      expect(await codeOf(store.open(ID))).toBe('session_not_found');

      await (await sessionOf([frameOf(1, 1, 'a')])).release();
      expect(await store.list()).toEqual([ID]);
      expect(await codeOf(store.create(ID))).toBe('ERR_ASSERTION');
      expect((await store.open(ID)).lastSequence).toBe(1);
    });

    it('lists its sessions in order, and keeps them apart', async () => {
      const other = await sessionOf([frameOf(1, 1, 'other')], OTHER_ID);
      const journal = await sessionOf([frameOf(1, 1, 'one')]);

      expect(await store.list()).toEqual([ID, OTHER_ID].toSorted());
      const texts = (frames: readonly StoredFrame[]) => frames.map(({ payload }) => textOf(payload));
      expect([texts(await collect(other.read(0))), texts(await collect(journal.read(0)))]).toEqual([['other'], ['one']]);
    });

    it('knows the highest id among the sessions that were removed', async () => {
      const [lower, higher] = [ID, OTHER_ID].toSorted();
      for (const id of [lower, higher]) await (await sessionOf([frameOf(1, 1, 'a')], id)).release();

      expect(await store.highestRemovedId()).toBe('');
      await store.remove(higher ?? '');
      expect(await store.highestRemovedId()).toBe(higher);
      await store.remove(lower ?? '');
      expect(await store.highestRemovedId()).toBe(higher);
    });

    it('tells the first frame of a session, open or not, and none of one that is not there', async () => {
      const journal = await sessionOf([frameOf(1, 2, 'first'), frameOf(3, 1, 'second')]);
      expect(textOf((await store.firstPayload(ID)) ?? Buffer.alloc(0))).toBe('first');
      await journal.release();
      expect(textOf((await store.firstPayload(ID)) ?? Buffer.alloc(0))).toBe('first');
      await store.remove(ID);
      expect([await store.firstPayload(ID), await store.firstPayload(OTHER_ID)]).toEqual([null, null]);
    });

    it('removes a session whole, and may be asked to do so twice', async () => {
      await (await sessionOf([frameOf(1, 1, 'a')])).release();
      await store.writeCheckpoint(ID, Buffer.from('checkpoint'));

      await store.remove(ID);

      expect(await store.list()).toEqual([]);
      expect(await codeOf(store.open(ID))).toBe('session_not_found');
      expect(await store.readCheckpoint(ID)).toBeNull();
      await store.remove(ID);
      const again = await sessionOf([frameOf(1, 1, 'anew')]);
      expect((await collect(again.read(0))).map(({ payload }) => textOf(payload))).toEqual(['anew']);
    });

    it('keeps the last checkpoint of a session, whatever its bytes', async () => {
      await sessionOf([frameOf(1, 1, 'a')]);
      expect(await store.readCheckpoint(ID)).toBeNull();

      expect(await store.writeCheckpoint(ID, Buffer.from('first'))).toBe(true);
      const payload = Buffer.from([0, 255, 0]);
      expect(await store.writeCheckpoint(ID, payload)).toBe(true);
      payload.fill(1);

      expect([...((await store.readCheckpoint(ID)) ?? [])]).toEqual([0, 255, 0]);
    });

    it('writes no checkpoint of a session that is not there', async () => {
      expect(await store.writeCheckpoint(ID, Buffer.from('x'))).toBe(false);
      expect(await store.list()).toEqual([]);
    });

    it('has the sealed file that was written before the first frame, whatever its bytes', async () => {
      const journal = await store.create(ID);
      expect(await store.readSealed(ID)).toBeNull();
      const sealed = Buffer.from([0, 255, 0]);
      await store.writeSealed(ID, sealed);
      sealed.fill(1);
      expect(await store.list()).toEqual([]);

      await journal.append(frameOf(1, 1, 'a'));
      await journal.release();
      await (await store.open(ID)).release();

      expect([...((await store.readSealed(ID)) ?? [])]).toEqual([0, 255, 0]);
      await store.writeSealed(ID, Buffer.from('another'));
      expect(textOf((await store.readSealed(ID)) ?? Buffer.alloc(0))).toBe('another');
      expect(await store.readSealed(OTHER_ID)).toBeNull();
    });

    it('S-203: takes a session\'s sealed file away with it, and that of a session that never was', async () => {
      await (await sessionOf([frameOf(1, 1, 'a')])).release();
      await store.writeSealed(ID, Buffer.from('sealed'));
      await (await store.create(OTHER_ID)).release();
      await store.writeSealed(OTHER_ID, Buffer.from('sealed'));

      await store.remove(ID);
      expect(await codeOf(store.open(OTHER_ID))).toBe('session_not_found');

      expect([await store.readSealed(ID), await store.readSealed(OTHER_ID)]).toEqual([null, null]);
    });

    it('takes no id that is not 32 hex digits, wherever it might lead', async () => {
      for (const id of ['', 'A'.repeat(32), 'a'.repeat(31), '../' + 'a'.repeat(29), `${'a'.repeat(32)}\n`, '__proto__']) {
        expect(await codeOf(store.create(id))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.open(id))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.remove(id))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.firstPayload(id))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.readCheckpoint(id))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.writeCheckpoint(id, Buffer.from('x')))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.readSealed(id))).toBe('ERR_ASSERTION');
        expect(await codeOf(store.writeSealed(id, Buffer.from('x')))).toBe('ERR_ASSERTION');
      }
    });

    it('finds every sequence of a journal of many segments', async () => {
      const journal = await store.create(ID);
      const text = 'x'.repeat(700 * 1024);
      for (let sequence = 1; sequence <= 15; sequence += 1) await journal.append(frameOf(sequence, 1, `${sequence}:${text}`));

      await expectToFindAll(journal);
      await journal.release();
      await expectToFindAll(await store.open(ID));

      async function expectToFindAll(holder: Journal): Promise<void> {
        for (let after = 0; after < 15; after += 1) {
          const [first] = await collect(holder.read(after), 1);
          expect(first?.firstSequence).toBe(after + 1);
          expect(textOf(first?.payload ?? Buffer.alloc(0))).toBe(`${after + 1}:${text}`);
        }
        expect((await collect(holder.read(0))).length).toBe(15);
        expect(await holder.checksumAt(7)).toBe((await collect(holder.read(6), 1))[0]?.checksum);
      }
    });
  });
}
