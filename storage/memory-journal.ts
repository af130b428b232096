/**
 * Sessions in memory: the reference of what the journal port means. Nothing survives the store, and nothing fails.
 */
import assert from 'node:assert';
import { assertFrame, checksumOf, FRAME_HEADER_BYTES } from './frame.ts';
import { StorageError, type Frame, type FrameMark, type Journal, type SessionStore, type StoredFrame } from './journal.ts';
import { assertSessionId } from './session-id.ts';

export class MemorySessionStore implements SessionStore {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #checkpoints = new Map<string, Uint8Array>();
  readonly #sealed = new Map<string, Uint8Array>();
  readonly #held = new Map<string, MemoryJournal>();
  #highestRemovedId = '';

  async list(): Promise<readonly string[]> {
    return [...this.#sessions.keys()].toSorted();
  }

  async highestRemovedId(): Promise<string> {
    return this.#highestRemovedId;
  }

  async create(sessionId: string): Promise<Journal> {
    assertSessionId(sessionId);
    assert(!this.#sessions.has(sessionId), `session ${sessionId} exists`);
    return this.#hold(sessionId, { frames: [], bytes: 0 });
  }

  async open(sessionId: string): Promise<Journal> {
    assertSessionId(sessionId);
    assert(!this.#held.has(sessionId), `session ${sessionId} is held already`);
    const session = this.#sessions.get(sessionId);
    if (session === undefined) {
      this.#sealed.delete(sessionId);
      throw new StorageError('session_not_found', `there is no session ${sessionId}`);
    }
    return this.#hold(sessionId, session);
  }

  async firstPayload(sessionId: string): Promise<Uint8Array | null> {
    assertSessionId(sessionId);
    const first = this.#sessions.get(sessionId)?.frames[0];
    return first === undefined ? null : Uint8Array.from(first.payload);
  }

  async remove(sessionId: string): Promise<void> {
    assertSessionId(sessionId);
    assert(!this.#held.has(sessionId), `session ${sessionId} is held already`);
    if (sessionId > this.#highestRemovedId) this.#highestRemovedId = sessionId;
    this.#sessions.delete(sessionId);
    this.#checkpoints.delete(sessionId);
    this.#sealed.delete(sessionId);
  }

  async readCheckpoint(sessionId: string): Promise<Uint8Array | null> {
    assertSessionId(sessionId);
    const payload = this.#checkpoints.get(sessionId);
    return payload === undefined ? null : Uint8Array.from(payload);
  }

  async writeCheckpoint(sessionId: string, payload: Uint8Array): Promise<boolean> {
    assertSessionId(sessionId);
    if (!this.#sessions.has(sessionId)) return false;
    this.#checkpoints.set(sessionId, Uint8Array.from(payload));
    return true;
  }

  async writeSealed(sessionId: string, sealed: Uint8Array): Promise<void> {
    assertSessionId(sessionId);
    this.#sealed.set(sessionId, Uint8Array.from(sealed));
  }

  async readSealed(sessionId: string): Promise<Uint8Array | null> {
    assertSessionId(sessionId);
    const sealed = this.#sealed.get(sessionId);
    return sealed === undefined ? null : Uint8Array.from(sealed);
  }

  async close(): Promise<void> {
    for (const journal of [...this.#held.values()]) await journal.release();
  }

  #hold(sessionId: string, session: StoredSession): Journal {
    assert(!this.#held.has(sessionId), `session ${sessionId} is held already`);
    const journal = new MemoryJournal(sessionId, session, {
      firstFrame: () => this.#sessions.set(sessionId, session),
      released: () => this.#held.delete(sessionId),
    });
    this.#held.set(sessionId, journal);
    return journal;
  }
}

interface StoredSession {
  readonly frames: StoredFrame[];
  bytes: number;
}

class MemoryJournal implements Journal {
  readonly sessionId: string;
  readonly #session: StoredSession;
  readonly #notify: { firstFrame(): void; released(): void };
  #isReleased = false;

  constructor(sessionId: string, session: StoredSession, notify: { firstFrame(): void; released(): void }) {
    this.sessionId = sessionId;
    this.#session = session;
    this.#notify = notify;
  }

  get lastSequence(): number {
    return this.lastFrame?.sequence ?? 0;
  }

  get lastFrame(): FrameMark | null {
    const last = this.#session.frames.at(-1);
    return last === undefined ? null : markOf(last);
  }

  get bytes(): number {
    return this.#session.bytes;
  }

  async append(frame: Frame): Promise<FrameMark> {
    this.#assertUsable();
    assertFrame(frame, this.lastSequence);
    // Not `slice`: that of a Buffer is a view of the same bytes.
    const payload = Uint8Array.from(frame.payload);
    const stored: StoredFrame = {
      firstSequence: frame.firstSequence,
      recordCount: frame.recordCount,
      payload,
      checksum: checksumOf(payload),
      bytes: FRAME_HEADER_BYTES + payload.length,
    };
    this.#session.frames.push(stored);
    this.#session.bytes += stored.bytes;
    if (this.#session.frames.length === 1) this.#notify.firstFrame();
    return markOf(stored);
  }

  async *read(after: number): AsyncGenerator<StoredFrame, void, void> {
    assert(Number.isSafeInteger(after) && after >= 0, `reading after ${after}`);
    this.#assertUsable();
    let at = this.#session.frames.findIndex((frame) => markOf(frame).sequence > after);
    if (at === -1) return;
    for (; ; at += 1) {
      this.#assertUsable();
      const frame = this.#session.frames[at];
      if (frame === undefined) return;
      yield frame;
    }
  }

  async checksumAt(sequence: number): Promise<number | null> {
    this.#assertUsable();
    return this.#session.frames.find((frame) => markOf(frame).sequence === sequence)?.checksum ?? null;
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#notify.released();
  }

  #assertUsable(): void {
    if (this.#isReleased) {
      throw new StorageError('journal_unavailable', `session ${this.sessionId}: the journal was released`);
    }
  }
}

function markOf(frame: StoredFrame): FrameMark {
  return { sequence: frame.firstSequence + frame.recordCount - 1, checksum: frame.checksum };
}
