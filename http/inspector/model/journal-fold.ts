/**
 * A journal folded so that any moment of it is near: the records as they came, and the session's state at every few
 * hundredth of them. The fold is `SessionState`, the server's own.
 *
 *   F1. A step costs at most `SNAPSHOT_EVERY` records, wherever it goes; the next record costs one.
 *   F2. A record that the fold refuses ends it: what came before stays to be looked at, and the refusal is told.
 */
import type { Sequence, SessionRecord } from '../../../machines/records.ts';
import { ReplayError, SessionState, type StateSnapshot } from '../../../machines/replay.ts';
import { beforeOf, changesSince, type Changes } from './changes.ts';
import { momentOf, type Moment } from './moment.ts';

const SNAPSHOT_EVERY = 200;

export interface MomentWithChanges {
  readonly moment: Moment;
  readonly changes: Changes;
}

export class JournalFold {
  readonly #records: SessionRecord[] = [];
  readonly #snapshots: StateSnapshot[] = [];
  /** At the last record. */
  readonly #head = SessionState.empty();
  /** Where a reader stands; it moves forward only, and is made anew to go back. */
  #cursor = SessionState.empty();
  #refusal: ReplayError | null = null;

  get length(): number {
    return this.#records.length;
  }

  /** Why the fold went no further; null while it did. */
  get refusal(): ReplayError | null {
    return this.#refusal;
  }

  /** Takes the next records. Those that are here already are passed over; a gap is refused. */
  add(records: readonly SessionRecord[]): void {
    for (const record of records) {
      if (this.#refusal !== null) return;
      if (record.sequence <= this.length) continue;
      try {
        this.#head.apply(record);
      } catch (error) {
        if (!(error instanceof ReplayError)) throw error;
        this.#refusal = error;
        return;
      }
      this.#records.push(record);
      if (this.length % SNAPSHOT_EVERY === 0) this.#snapshots.push(this.#head.toSnapshot());
    }
  }

  recordAt(sequence: Sequence): SessionRecord | undefined {
    return this.#records[sequence - 1];
  }

  records(): readonly SessionRecord[] {
    return this.#records;
  }

  /** The session right after a record; null where that is not folded. `shownMessages`: how many of the transcript's last. */
  at(sequence: Sequence, shownMessages: number): MomentWithChanges | null {
    const record = this.recordAt(sequence);
    if (record === undefined) return null;
    this.#moveTo(sequence - 1);
    const before = beforeOf(this.#cursor);
    this.#cursor.apply(record);
    const recordAt = (at: Sequence): SessionRecord | undefined => this.recordAt(at);
    const changes = changesSince(before, this.#cursor, recordAt);
    return { moment: momentOf(this.#cursor, recordAt, shownMessages), changes };
  }

  #moveTo(sequence: Sequence): void {
    const nearest = Math.floor(sequence / SNAPSHOT_EVERY);
    const isAhead = this.#cursor.lastSequence > sequence;
    if (isAhead || this.#cursor.lastSequence < nearest * SNAPSHOT_EVERY) {
      const snapshot = this.#snapshots[nearest - 1];
      this.#cursor = snapshot === undefined ? SessionState.empty() : SessionState.from(snapshot);
    }
    for (const record of this.#records.slice(this.#cursor.lastSequence, sequence)) this.#cursor.apply(record);
  }
}
