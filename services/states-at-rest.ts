/**
 * The states of the sessions that were in use last, so that the next use does not make them anew from their journals. They
 * are at rest: no actor, no open file and no timer is kept. Disposable like a checkpoint, and bounded for the whole process.
 *
 *   R1. A state is with one holder: it is taken out by whoever opens the session, and kept again when nobody uses it.
 *   R2. It counts only where the journal ends with the very frame that the state ends with. Else it is dropped.
 *   R3. They are bounded in number and in bytes. The one that was not used for the longest time goes first.
 */
import type { FrameMark, Journal } from '../storage/journal.ts';
import type { LoadedState } from './session-loader.ts';

// The conversations that may well go on at a time. A state of a short one takes some ten KiB.
const STATES_MAX = 512;
// Room for as many short sessions, or for a few of 50,000 records.
const BYTES_MAX = 16 * 1024 * 1024;
// What a state takes in memory: its chart's actor, and its text as objects. Measured, and rounded up.
const ACTOR_BYTES = 8 * 1024;
const BYTES_PER_TEXT_BYTE = 3;

interface AtRest {
  readonly loaded: LoadedState;
  readonly end: FrameMark;
  readonly bytes: number;
}

export class StatesAtRest {
  /** The one that was used last is the last. */
  readonly #states = new Map<string, AtRest>();
  #bytes = 0;

  /** Keeps a state that nobody will change, of a journal that nobody appends to. */
  keep({ sessionId, lastFrame, bytes: journalBytes }: Journal, loaded: LoadedState): void {
    this.forget(sessionId);
    if (lastFrame === null || lastFrame.sequence !== loaded.state.lastSequence) return;
    const bytes = ACTOR_BYTES + BYTES_PER_TEXT_BYTE * loaded.checkpoints.stateBytesMax(journalBytes);
    if (bytes > BYTES_MAX) return;
    this.#states.set(sessionId, { loaded, end: lastFrame, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= STATES_MAX && this.#bytes <= BYTES_MAX) break;
      this.forget(oldest);
    }
  }

  /** The state of a journal as it is now; null where none is kept. */
  take({ sessionId, lastFrame }: Journal): LoadedState | null {
    const kept = this.#states.get(sessionId);
    this.forget(sessionId);
    if (kept === undefined || lastFrame === null) return null;
    return kept.end.sequence === lastFrame.sequence && kept.end.checksum === lastFrame.checksum ? kept.loaded : null;
  }

  forget(sessionId: string): void {
    this.#bytes -= this.#states.get(sessionId)?.bytes ?? 0;
    this.#states.delete(sessionId);
  }
}
