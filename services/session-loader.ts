/**
 * From a journal to a session's state: the checkpoint where it fits, and the records after it. Also where checkpoints
 * are made: disposable, and never a second source of truth.
 *
 *   L1. A checkpoint counts only where its versions are ours and the journal has its very frame: missing, stale (behind or
 *       ahead) and damaged ones lead to a fold of the journal, not to an error.
 *   L2. All checkpoints together cost no more than the journal: one is written when the journal after the last has
 *       outgrown it.
 */
import { Buffer } from 'node:buffer';
import { ReplayError, SessionState, STATE_VERSION, type StateSnapshot } from '../machines/replay.ts';
import { StorageError, type Journal, type SessionStore } from '../storage/journal.ts';
import type { Log } from './ports.ts';
import { recordsAfter } from './record-codec.ts';

// Below this a fold of the journal costs less than a checkpoint's file does.
const CHECKPOINT_JOURNAL_BYTES_MIN = 64 * 1024;

interface Checkpoint {
  readonly version: number;
  readonly sequence: number;
  /** Of the journal's frame that ends at `sequence`. */
  readonly checksum: number;
  /** The journal's length then. */
  readonly journal_bytes: number;
  readonly state: StateSnapshot;
}

/** A session's state with what its next checkpoint needs to know. */
export interface LoadedState {
  readonly state: SessionState;
  readonly checkpoints: Checkpoints;
}

export async function loadState(store: SessionStore, journal: Journal, log: Log): Promise<LoadedState> {
  const saved = await readCheckpoint(store, journal, log);
  const state = saved?.state ?? SessionState.empty();
  for await (const frame of journal.read(state.lastSequence)) {
    for (const record of recordsAfter(frame, state.lastSequence)) applyFromJournal(state, record, journal.sessionId);
  }
  const last = saved === null ? null : { bytes: saved.bytes, journalBytes: saved.journalBytes };
  return { state, checkpoints: new Checkpoints(store, last) };
}

function applyFromJournal(state: SessionState, record: Parameters<SessionState['apply']>[0], sessionId: string): void {
  try {
    state.apply(record);
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    throw new StorageError('journal_corrupt', `session ${sessionId}: ${error.message}`, {
      file: `sessions/${sessionId}/journal`,
      cause: error,
    });
  }
}

async function readCheckpoint(
  store: SessionStore,
  journal: Journal,
  log: Log,
): Promise<{ readonly state: SessionState; readonly bytes: number; readonly journalBytes: number } | null> {
  const payload = await store.readCheckpoint(journal.sessionId);
  if (payload === null) return null;
  const checkpoint = parseCheckpoint(payload);
  if (checkpoint === null || checkpoint.sequence > journal.lastSequence) return null;
  if ((await journal.checksumAt(checkpoint.sequence)) !== checkpoint.checksum) {
    log.warn('checkpoint_stale', { session_id: journal.sessionId, sequence: checkpoint.sequence });
    return null;
  }
  try {
    return { state: SessionState.from(checkpoint.state), bytes: payload.length, journalBytes: checkpoint.journal_bytes };
  } catch (error) {
    log.warn('checkpoint_unusable', { session_id: journal.sessionId, sequence: checkpoint.sequence, error: String(error) });
    return null;
  }
}

/** Null where it was written by another version, or is none. */
function parseCheckpoint(payload: Uint8Array): Checkpoint | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    if (typeof value !== 'object' || value === null || !('version' in value) || value.version !== STATE_VERSION) return null;
    return 'sequence' in value && Number.isSafeInteger(value.sequence) ? (value as unknown as Checkpoint) : null;
  } catch {
    return null;
  }
}

export class Checkpoints {
  readonly #store: SessionStore;
  /** What the last one took, or would have taken; 0 before the first. */
  #lastBytes: number;
  #journalBytesThen: number;

  constructor(store: SessionStore, last: { readonly bytes: number; readonly journalBytes: number } | null) {
    this.#store = store;
    this.#lastBytes = last?.bytes ?? 0;
    this.#journalBytesThen = last?.journalBytes ?? 0;
  }

  /** What the state takes at most, as text: what the last checkpoint says of it, and all that was recorded since. */
  stateBytesMax(journalBytes: number): number {
    return this.#lastBytes + journalBytes - this.#journalBytesThen;
  }

  /** Writes a checkpoint of a state that covers all of the journal. Null where the journal has not outgrown the last one. */
  writeIfDue(journal: Journal, state: SessionState): Promise<unknown> | null {
    const { lastFrame } = journal;
    const growth = journal.bytes - this.#journalBytesThen;
    const worthBytes = Math.max(CHECKPOINT_JOURNAL_BYTES_MIN, this.#lastBytes);
    if (growth < worthBytes || lastFrame === null || lastFrame.sequence !== state.lastSequence) return null;
    const checkpoint: Checkpoint = {
      version: STATE_VERSION,
      sequence: lastFrame.sequence,
      checksum: lastFrame.checksum,
      journal_bytes: journal.bytes,
      state: state.toSnapshot(),
    };
    const payload = Buffer.from(JSON.stringify(checkpoint), 'utf8');
    this.#lastBytes = payload.length;
    if (growth < payload.length) return null;
    this.#journalBytesThen = checkpoint.journal_bytes;
    return this.#store.writeCheckpoint(journal.sessionId, payload);
  }
}
